package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/elector"
	"github.com/tenure-go/tenure/elector/leaderhttp"
	"github.com/tenure-go/tenure/fence"
)

// server numbers orders while it leads, and forwards requests to the leader otherwise.
type server struct {
	name, address string
	orders        atomic.Int64
	stop          func() // gives the lead back, then stops listening; a second call does no harm
}

// newServer starts a server.
func newServer(ctx context.Context, store backend.LeaseStore, name string) (*server, error) {
	listener, err := listen(ctx)
	if err != nil {
		return nil, err
	}
	s := &server{name: name, address: "http://" + listener.Addr().String()}
	var duty elector.Duty
	var pulse leaderhttp.Pulse
	e, err := elector.New(elector.Config{
		Store: store, Election: "orders", TTL: 2 * time.Second, Events: pulse.Event, Logger: slog.New(slog.DiscardHandler),
		Candidate: backend.Candidate{Description: backend.Description{App: name, Address: s.address}},
	})
	if err != nil {
		return nil, err
	}
	site, err := leaderhttp.New(leaderhttp.Config{Elector: e, Duty: &duty, Pulse: &pulse})
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("/order", site.Forward(http.HandlerFunc(s.order)))
	mux.Handle("/leader", site.Leader())
	mux.Handle("/healthz", site.Alive())
	mux.Handle("/readyz", site.Ready())
	web := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}

	running, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	all.Go(func() { _ = e.Run(running, duty.Lead) })
	all.Go(func() { _ = site.Run(running) })
	served := make(chan struct{})
	go func() { defer close(served); _ = web.Serve(listener) }()
	s.stop = sync.OnceFunc(func() { //nolint:contextcheck // the release outlives the context
		cancel() // requests under way are awaited, and the lease released
		all.Wait()
		_ = e.Close()
		_ = web.Close()
		<-served
	})
	return s, nil
}

// order answers with the next number. Its work is under the lead: the context ends with that, and carries the token to show to what it would write to.
func (s *server) order(w http.ResponseWriter, r *http.Request) {
	token, _ := fence.FromContext(r.Context())
	_, _ = fmt.Fprintf(w, "%s leads under token %d and makes order %d", s.name, token.Value, s.orders.Add(1))
}
