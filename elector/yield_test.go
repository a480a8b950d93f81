package elector

import (
	"context"
	"testing"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/backend/memory"
)

// A term whose work has returned, or that its user has resigned, makes no room any more: its run ends, however long its release takes.
func TestATermThatEndsMakesNoRoom(t *testing.T) {
	for name, resigns := range map[string]bool{"returned": false, "resigned": true} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, server *memory.Server) {
				s := newFaulty(server.Client())
				s.set(func(_ context.Context, op string) error {
					if op == "release" {
						pass(time.Second)
					}
					return nil
				}, nil)
				returns := make(chan struct{})
				a := startWith(t, config(s, "a"), func(context.Context, *Term) error { <-returns; return nil })
				term := <-a.terms
				if resigns {
					must(t, term.Resign(t.Context()))
				} else {
					close(returns)
				}
				pass(100 * time.Millisecond)
				if term.yield("another is preferred", backend.Handover{To: "b", For: time.Second}) {
					t.Error("it made room")
				}
				if resigns {
					close(returns)
				}
				if err := <-a.result; err != nil || len(a.terms) > 0 {
					t.Errorf("Run returned %v, with %d more terms", err, len(a.terms))
				}
				must(t, a.Close())
			})
		})
	}
}
