package elector

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/backend/memory"
	"github.com/tenure-go/tenure/internal/core"
)

// PE20: a release that fails or hangs keeps nobody. The end of the term is told at once, and what waits for the release returns when the lease has ended by itself; another leads then.
func TestAReleaseThatFailsKeepsNobody(t *testing.T) {
	hang := func(ctx context.Context) error { <-ctx.Done(); return context.Cause(ctx) }
	for name, answer := range map[string]func(context.Context) error{
		"fails":       func(context.Context) error { return errInjected },
		"is denied":   func(context.Context) error { return backend.ErrDenied },
		"is not held": func(context.Context) error { return backend.ErrNotHeld },
		"is closed":   func(context.Context) error { return backend.ErrClosed },
		"hangs":       hang,
	} {
		for way, leave := range map[string]func(*testing.T, Config) func(){"Run": leaveRun, "Campaign": leaveCampaign, "Group": leaveGroup} {
			t.Run(name+", "+way, func(t *testing.T) {
				bubble(t, func(t *testing.T, server *memory.Server) {
					f := newFaulty(server.Client())
					var ev events
					cfg := config(f, "a")
					cfg.Events = ev.add
					end := leave(t, cfg)
					f.set(func(ctx context.Context, op string) error {
						if op == "release" {
							return answer(ctx)
						}
						return nil
					}, nil)
					b := start(t, config(server.Client(), "b"))
					began, ended := time.Now(), make(chan struct{})
					go func() { defer close(ended); end() }()
					pass(time.Millisecond)
					if n := len(ev.kinds(Stopped)); n != 1 {
						t.Errorf("the end was told %d times", n)
					}
					b.within(t, ttl+core.Lag(ttl))
					select {
					case <-ended:
					case <-time.After(2*ttl - time.Since(began)):
						t.Error("it is kept for two TTLs")
						f.set(nil, nil)
						<-ended
					}
					_ = b.end()
				})
			})
		}
	}
}

func leaveRun(t *testing.T, cfg Config) func() {
	r := start(t, cfg)
	<-r.terms
	return func() {
		if err := r.end(); !errors.Is(err, context.Canceled) {
			t.Errorf("Run returned %v", err)
		}
	}
}

func leaveCampaign(t *testing.T, cfg Config) func() {
	e := newTest(t, cfg)
	term, err := e.Campaign(t.Context())
	must(t, err)
	return func() {
		must(t, term.Resign(t.Context()))
		must(t, e.Close())
	}
}

func leaveGroup(t *testing.T, cfg Config) func() {
	g := GroupConfig{Config: cfg, Elections: []string{cfg.Election}}
	g.Election = ""
	r := startGroup(t, g, nil)
	pass(time.Second)
	return func() { r.end(t) }
}

// PE62: after a loss there is nothing to release, and to say so is no error. While the lead changes, who leads is "nobody", and no error either.
func TestResigningAfterALoss(t *testing.T) {
	bubble(t, func(t *testing.T, server *memory.Server) {
		f := newFaulty(server.Client())
		e := newTest(t, config(f, "a"))
		nobody := func(when string) {
			t.Helper()
			if l, err := e.Leader(t.Context()); err != nil || !l.Nobody() {
				t.Errorf("%s: %+v, %v", when, l, err)
			}
		}
		nobody("before the first term")
		term, err := e.Campaign(t.Context())
		must(t, err)
		server.Remove("e")
		<-term.Context().Done()
		nobody("after the loss")
		other, err := server.Client().Acquire(t.Context(), backend.Claim{Election: "e", Candidate: backend.Candidate{ID: "b"}, TTL: ttl, Attempt: backend.Attempt{1}})
		must(t, err)
		for range 2 {
			must(t, term.Resign(t.Context()))
		}
		if n := f.count("release"); n != 0 {
			t.Errorf("%d releases of what was lost", n)
		}
		if l, err := e.Leader(t.Context()); err != nil || l.Token != other.Token {
			t.Errorf("%+v, %v", l, err)
		}
		must(t, server.Client().Release(t.Context(), other, backend.Handover{}))
		nobody("after the release")
		must(t, e.Close())
	})
}
