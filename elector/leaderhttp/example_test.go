package leaderhttp_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/tenure-go/tenure/backend"
	_ "github.com/tenure-go/tenure/backend/memory"
	"github.com/tenure-go/tenure/elector"
	"github.com/tenure-go/tenure/elector/leaderhttp"
)

// A process that follows is healthy, and sends the client on to the leader.
func Example() {
	ctx := context.Background()
	store, err := backend.Open(ctx, "memory:leaderhttp")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer store.Close()
	var duty elector.Duty
	var pulse leaderhttp.Pulse
	candidate := backend.Candidate{Description: backend.Description{Address: "http://10.0.0.1:8080"}}
	e, err := elector.New(elector.Config{Store: store, Election: "orders", Candidate: candidate, Events: pulse.Event})
	if err != nil {
		fmt.Println(err)
		return
	}
	site, err := leaderhttp.New(leaderhttp.Config{Elector: e, Duty: &duty, Pulse: &pulse})
	if err != nil {
		fmt.Println(err)
		return
	}
	mux := http.NewServeMux()
	mux.Handle("/orders", site.Forward(http.NotFoundHandler()))
	mux.Handle("/leader", site.Leader())
	mux.Handle("/healthz", site.Alive())
	mux.Handle("/readyz", site.Ready())
	// In production: go e.Run(ctx, duty.Lead) and go site.Run(ctx). Here nobody leads.
	for _, path := range []string{"/orders", "/leader", "/healthz", "/readyz"} {
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, path, nil))
		fmt.Printf("%s %d %q\n", path, w.Code, w.Header().Get("Retry-After"))
	}
	// Output:
	// /orders 503 "5"
	// /leader 503 "5"
	// /healthz 200 ""
	// /readyz 200 ""
}
