package leaderhttp

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/backend/memory"
	"github.com/tenure-go/tenure/elector"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	quiet       = slog.New(slog.DiscardHandler)
	errInjected = errors.New("injected")
)

// away is a store that can be put out of reach.
type away struct {
	backend.LeaseStore
	gone atomic.Bool
	gets atomic.Int64
}

func (a *away) fail() error {
	if a.gone.Load() {
		return errInjected
	}
	return nil
}

func (a *away) Acquire(ctx context.Context, c backend.Claim) (backend.Lease, error) {
	if err := a.fail(); err != nil {
		return backend.Lease{}, err
	}
	return a.LeaseStore.Acquire(ctx, c)
}

func (a *away) Renew(ctx context.Context, l backend.Lease) (backend.Lease, error) {
	if err := a.fail(); err != nil {
		return backend.Lease{}, err
	}
	return a.LeaseStore.Renew(ctx, l)
}

func (a *away) Get(ctx context.Context, e string) (backend.Record, error) {
	a.gets.Add(1)
	if err := a.fail(); err != nil {
		return backend.Record{}, err
	}
	return a.LeaseStore.Get(ctx, e)
}

// node is one server with all that a program would have.
type node struct {
	*Site
	elector *elector.Elector
	store   *away
	duty    elector.Duty
	pulse   Pulse
	stop    func()
}

func newNode(t *testing.T, server *memory.Server, id, address string, lead func(context.Context, *elector.Term) error) *node {
	t.Helper()
	n := &node{store: &away{LeaseStore: server.Client()}}
	var err error
	n.elector, err = elector.New(elector.Config{
		Store: n.store, Election: "e", TTL: 5 * time.Second, Logger: quiet, Events: n.pulse.Event,
		Candidate: backend.Candidate{ID: id, Description: backend.Description{App: "app", Host: "h", Address: address}},
	})
	if err != nil {
		t.Fatal(err)
	}
	n.Site, err = New(Config{Elector: n.elector, Duty: &n.duty, Pulse: &n.pulse, Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	if lead == nil {
		lead = n.duty.Lead
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{}, 2)
	go func() { _ = n.elector.Run(ctx, lead); ended <- struct{}{} }()
	go func() { _ = n.Run(ctx); ended <- struct{}{} }()
	n.stop = func() {
		cancel()
		<-ended
		<-ended
		_ = n.elector.Close()
		ended <- struct{}{} // a second stop does no harm
		ended <- struct{}{}
	}
	return n
}

// ask returns what a handler answers to a plain GET.
func ask(h http.Handler) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
	return w
}

func pass(d time.Duration) { <-time.After(d) }

// until waits for ok.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("not within a minute: %s", what)
		}
		pass(time.Millisecond)
	}
}
