package elector

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenure-go/tenure/backend/memory"
)

// DX2: in a group, work that outlives its grace loses its election, and that one alone: nothing keeps the lease alive, although the group goes on to renew others.
func TestAnOverrunInAGroup(t *testing.T) {
	bubble(t, func(t *testing.T, server *memory.Server) {
		finish := make(chan struct{})
		cfg := groupConfig(server.Client(), "a", "stuck", "well")
		cfg.DrainTimeout = ttl
		a := startGroup(t, cfg, func(ctx context.Context, term *Term) error {
			if term.Election() == "stuck" {
				<-finish
				return nil
			}
			<-ctx.Done()
			return ctx.Err()
		})
		pass(time.Second)
		b := startGroup(t, groupConfig(server.Client(), "b", "stuck"), nil)
		stuck, well := a.at("stuck"), a.at("well")
		must(t, stuck.Resign(t.Context()))
		pass(cfg.DrainTimeout - time.Millisecond)
		if !stuck.Valid() || b.count() > 0 {
			t.Error("the lease was not kept for the time of grace")
		}
		pass(ttl + time.Second)
		synctest.Wait()
		next := b.at("stuck")
		if next == nil || stuck.Valid() {
			t.Fatalf("the lease of the work that goes on is kept alive: valid %v", stuck.Valid())
		}
		pass(4 * ttl)
		close(finish)
		pass(4 * ttl)
		if b.at("stuck") != next || !next.Valid() {
			t.Error("the late return ended the successor's term")
		}
		if a.at("well") != well || !well.Valid() {
			t.Error("the other election was lost, too")
		}
		a.end(t)
		b.end(t)
	})
}
