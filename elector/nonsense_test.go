package elector

import (
	"context"
	"testing"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/backend/memory"
)

// odd is a store whose watch, records and errors a test makes up.
type odd struct {
	*faulty
	watch   func(context.Context) <-chan struct{}
	get     func() backend.Record
	acquire error
}

func (o *odd) Watch(ctx context.Context, e string) (<-chan struct{}, error) {
	if o.watch == nil {
		return o.faulty.Watch(ctx, e)
	}
	err := o.do(ctx, "watch", func() error { return nil })
	return o.watch(ctx), err
}

func (o *odd) Get(ctx context.Context, e string) (backend.Record, error) {
	r, err := o.faulty.Get(ctx, e)
	if o.get != nil {
		r = o.get()
	}
	return r, err
}

func (o *odd) Acquire(ctx context.Context, c backend.Claim) (backend.Lease, error) {
	l, err := o.faulty.Acquire(ctx, c)
	if o.acquire != nil {
		return backend.Lease{}, o.acquire
	}
	return l, err
}

// noisy is a watch that reports a change every d, whether there is one or not.
func noisy(d time.Duration) func(context.Context) <-chan struct{} {
	return func(ctx context.Context) <-chan struct{} {
		ch := make(chan struct{}, 1)
		go func() {
			defer close(ch)
			for ctx.Err() == nil {
				pass(d)
				select {
				case ch <- struct{}{}:
				default:
				}
			}
		}()
		return ch
	}
}

// short is a watch that reports a change and ends.
func short(context.Context) <-chan struct{} {
	ch := make(chan struct{}, 1)
	ch <- struct{}{}
	close(ch)
	return ch
}

func deaf(context.Context) <-chan struct{} { return nil }

// E9, PE6: whatever a store answers, a follower doesn't flood it.
func TestNothingThatAStoreSaysMakesAStorm(t *testing.T) {
	held := backend.Record{Election: "e", Holder: backend.Candidate{ID: "x"}, Token: 7, Counter: 7, TTL: ttl, Attempt: backend.Attempt{1}}
	free := backend.Record{Election: "e", Token: 7, Counter: 7}
	late := held
	late.Remaining = -time.Hour
	endless := held
	endless.TTL, endless.Remaining = 1<<63-1, 1<<63-1
	is := func(r backend.Record) func() backend.Record { return func() backend.Record { return r } }
	cases := map[string]struct {
		odd  odd
		most float64 // requests per TTL
	}{
		"10000 wake-ups a second":         {odd{watch: noisy(100 * time.Microsecond)}, 12},
		"one wake-up a second":            {odd{watch: noisy(time.Second)}, 12},
		"a watch that wakes and ends":     {odd{watch: short}, 12},
		"a watch that is nil":             {odd{watch: deaf}, 2},
		"held, for no time":               {odd{get: is(held)}, 12},
		"held, for less than no time":     {odd{get: is(late)}, 12},
		"held, for ever":                  {odd{get: is(endless)}, 2},
		"held by an error without record": {odd{get: is(free), acquire: &backend.HeldError{}}, 12},
		"held by a bare error":            {odd{get: is(free), acquire: backend.ErrHeld}, 12},
		"always outdated":                 {odd{get: is(free), acquire: backend.ErrOutdated}, 20},
		"always not held":                 {odd{get: is(free), acquire: backend.ErrNotHeld}, 20},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, server *memory.Server) {
				a := start(t, config(server.Client(), "a"))
				<-a.terms
				c.odd.faulty = newFaulty(server.Client())
				step := func(context.Context, string) error { pass(time.Millisecond); return nil }
				c.odd.set(step, nil)
				b := start(t, config(&c.odd, "b"))
				const n = 30
				pass(n * ttl)
				requests := float64(c.odd.count("get")+c.odd.count("acquire")+c.odd.count("watch")) / n
				t.Logf("%.1f requests per TTL", requests)
				if requests > c.most {
					t.Error("too many")
				}
				ended := make(chan struct{})
				go func() { _ = b.end(); close(ended) }()
				select {
				case <-ended:
				case <-time.After(ttl):
					t.Fatal("it doesn't end")
				}
				_ = a.end()
				pass(2 * time.Second) // for the watch to see its end
			})
		})
	}
}

// PE32: the age of a lease comes from clocks of others on some stores, and is for display. Whatever it is said to be, a holder that renews is left alone, and a dead one succeeded in time.
func TestAnAgeThatMakesNoSense(t *testing.T) {
	for _, age := range []time.Duration{-1 << 63, -time.Hour, 0, 100 * time.Hour, 1<<63 - 1} {
		bubble(t, func(t *testing.T, server *memory.Server) {
			dying, plain := newFaulty(server.Client()), server.Client()
			a := start(t, config(dying, "a"))
			first := <-a.terms
			b := start(t, config(&odd{faulty: newFaulty(server.Client()), get: func() backend.Record {
				r, err := plain.Get(t.Context(), "e")
				must(t, err)
				r.Age = age
				return r
			}}, "b"))
			pass(10 * ttl)
			if !first.Valid() {
				t.Errorf("age %v: a holder that renews was succeeded", age)
			}
			dying.set(func(context.Context, string) error { return errInjected }, nil)
			b.within(t, b.Config().Timing().FailOver)
			_, _ = b.end(), a.end()
		})
	}
}
