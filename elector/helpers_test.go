package elector

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/backend/memory"
)

var errInjected = errors.New("injected")

// faulty lets a test stand between an elector and its store. A hook that returns an error answers in the store's place; before runs ahead of the call, after behind it.
type faulty struct {
	backend.LeaseStore
	mu            sync.Mutex
	before, after func(ctx context.Context, op string) error
	calls         map[string]int
}

func newFaulty(s backend.LeaseStore) *faulty { return &faulty{LeaseStore: s, calls: map[string]int{}} }

func (f *faulty) set(before, after func(ctx context.Context, op string) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.before, f.after = before, after
}

func (f *faulty) count(op string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls[op]
}

func (f *faulty) do(ctx context.Context, op string, call func() error) error {
	f.mu.Lock()
	before, after := f.before, f.after
	f.calls[op]++
	f.mu.Unlock()
	if before != nil {
		if err := before(ctx, op); err != nil {
			return err
		}
	}
	err := call()
	if after != nil {
		if lost := after(ctx, op); lost != nil {
			return lost
		}
	}
	return err
}

func (f *faulty) Acquire(ctx context.Context, c backend.Claim) (l backend.Lease, err error) {
	err = f.do(ctx, "acquire", func() error { l, err = f.LeaseStore.Acquire(ctx, c); return err })
	return l, err
}

func (f *faulty) Renew(ctx context.Context, old backend.Lease) (l backend.Lease, err error) {
	err = f.do(ctx, "renew", func() error { l, err = f.LeaseStore.Renew(ctx, old); return err })
	return l, err
}

func (f *faulty) Release(ctx context.Context, l backend.Lease, h backend.Handover) error {
	return f.do(ctx, "release", func() error { return f.LeaseStore.Release(ctx, l, h) })
}

func (f *faulty) Get(ctx context.Context, e string) (r backend.Record, err error) {
	err = f.do(ctx, "get", func() error { r, err = f.LeaseStore.Get(ctx, e); return err })
	return r, err
}

func (f *faulty) Watch(ctx context.Context, e string) (ch <-chan struct{}, err error) {
	err = f.do(ctx, "watch", func() error { ch, err = f.LeaseStore.Watch(ctx, e); return err })
	return ch, err
}

// events collects what an elector tells.
type events struct {
	mu   sync.Mutex
	list []Event
}

func (r *events) add(e Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = append(r.list, e)
}

func (r *events) kinds(only ...EventKind) []EventKind {
	r.mu.Lock()
	defer r.mu.Unlock()
	var kinds []EventKind
	for _, e := range r.list {
		for _, k := range only {
			if e.Kind == k {
				kinds = append(kinds, e.Kind)
			}
		}
	}
	return kinds
}

var quiet = slog.New(slog.DiscardHandler)

const ttl = 5 * time.Second

func config(s backend.LeaseStore, id string) Config {
	return Config{Store: s, Election: "e", Candidate: backend.Candidate{ID: id}, TTL: ttl, Logger: quiet}
}

func newTest(t *testing.T, cfg Config) *Elector {
	t.Helper()
	e, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// running is an elector that runs in the background of a bubble and leads until told otherwise.
type running struct {
	*Elector
	stop   context.CancelFunc
	terms  chan *Term
	result chan error
}

// start runs an elector whose function waits for its context's end.
func start(t *testing.T, cfg Config) *running {
	t.Helper()
	return startWith(t, cfg, func(ctx context.Context, _ *Term) error { <-ctx.Done(); return ctx.Err() })
}

func startWith(t *testing.T, cfg Config, lead func(context.Context, *Term) error) *running {
	t.Helper()
	return startAs(t, newTest(t, cfg), lead)
}

func startAs(t *testing.T, e *Elector, lead func(context.Context, *Term) error) *running {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r := &running{Elector: e, stop: cancel, terms: make(chan *Term, 1000), result: make(chan error, 1)}
	go func() {
		r.result <- r.Run(ctx, func(ctx context.Context, term *Term) error {
			r.terms <- term
			return lead(ctx, term)
		})
	}()
	return r
}

// within returns the next term, which must begin within d.
func (r *running) within(t *testing.T, d time.Duration) *Term {
	t.Helper()
	select {
	case term := <-r.terms:
		return term
	case <-time.After(d):
		t.Fatalf("no term begins within %v", d)
		return nil
	}
}

// end stops a running elector and returns Run's result.
func (r *running) end() error {
	r.stop()
	err := <-r.result
	_ = r.Close()
	return err
}

func bubble(t *testing.T, f func(t *testing.T, server *memory.Server)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { f(t, memory.NewServer()) })
}

// pass lets the time of a bubble pass.
func pass(d time.Duration) { <-time.After(d) }
