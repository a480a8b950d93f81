package elector

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/backend/memory"
)

// lookedAt is a context that does something when it is asked for its Err for the n-th time after it was armed.
type lookedAt struct {
	context.Context //nolint:containedctx // it is one
	armed           atomic.Bool
	looks           atomic.Int64
	at              int64
	do              func()
}

func (c *lookedAt) Err() error {
	if c.armed.Load() && c.looks.Add(1) == c.at {
		c.do()
	}
	return c.Context.Err()
}

// PE53: at whatever moment the context of Run ends after a lost term, Run returns and nobody leads for it.
func TestRunReturnsWheneverItsContextEndsAfterALoss(t *testing.T) {
	for at := range int64(3) {
		for _, rival := range []bool{true, false} { // without one, the next term begins before the end is looked at
			bubble(t, func(t *testing.T, server *memory.Server) {
				inner, cancel := context.WithCancel(t.Context())
				defer cancel()
				ctx := &lookedAt{Context: inner, at: at + 1}
				ctx.do = func() {
					if !rival {
						pass(ttl)
					}
					cancel()
				}
				e := newTest(t, config(server.Client(), "a"))
				result := make(chan error, 1)
				began := make(chan struct{}, 10)
				go func() {
					result <- e.Run(ctx, func(term context.Context, _ *Term) error {
						began <- struct{}{}
						<-term.Done()
						ctx.armed.Store(true)
						return term.Err()
					})
				}()
				<-began
				var b *running
				if rival {
					b = start(t, config(server.Client(), "b"))
					pass(time.Second)
				}
				server.Remove("e")
				pass(3 * ttl)
				cancel()
				select {
				case err := <-result:
					if !errors.Is(err, context.Canceled) {
						t.Errorf("Run returned %v", err)
					}
				case <-time.After(2 * ttl):
					t.Fatalf("look %d, rival %v: Run goes on", at+1, rival)
				}
				if e.Leading() {
					t.Error("it leads without work")
				}
				if rival {
					_ = b.end()
				}
			})
		}
	}
}

// A store that says once that it is closed, and is not: the next term has its work, too.
func TestAStoreThatIsClosedForAMoment(t *testing.T) {
	bubble(t, func(t *testing.T, server *memory.Server) {
		f := newFaulty(server.Client())
		a := start(t, config(f, "a"))
		first := <-a.terms
		f.set(func(_ context.Context, op string) error {
			if op == "renew" {
				return backend.ErrClosed
			}
			return nil
		}, nil)
		<-first.Context().Done()
		f.set(nil, nil)
		select {
		case <-a.terms:
		case <-time.After(2 * ttl):
			t.Errorf("no work in the second term, Leading is %v", a.Leading())
		}
		_ = a.end()
	})
}

// ErrBusy is said at once, not after a wait for the other campaign's requests.
func TestBusyIsSaidAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T, server *memory.Server) {
		a := start(t, config(server.Client(), "a"))
		<-a.terms
		began := time.Now()
		if err := a.Run(t.Context(), func(context.Context, *Term) error { return nil }); !errors.Is(err, ErrBusy) {
			t.Errorf("Run returned %v", err)
		}
		if took := time.Since(began); took > 0 {
			t.Errorf("it took %v", took)
		}
		_ = a.end()
	})
}
