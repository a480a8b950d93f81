package conformance

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/elector"
)

// benchmarkTTL is the elector's default.
const benchmarkTTL = 5 * time.Second

// Benchmark measures what the elector costs on a store, beside the store's own calls in the same run. Times are reported, nothing is asserted but that a hand-over gives
// a greater token.
//
//	renewal     one Renew
//	hand-over   Resign to the next candidate's term, and beside it a bare Release, wake-up and Acquire; run with -benchtime 50x or more
//	crash       the end of a dead leader's lease, by the start of its last renewal, to the next candidate's term; each takes 5 to 10 s: run with -benchtime 10x
func Benchmark(b *testing.B, s Suite) {
	b.Run("renewal", s.benchmarkRenewal)
	b.Run("hand-over", s.benchmarkHandOver)
	b.Run("crash", s.benchmarkCrash)
}

func (s Suite) openFor(b *testing.B) backend.LeaseStore {
	b.Helper()
	store := backend.Wrap(s.Open(b))
	b.Cleanup(func() {
		if err := store.Close(); err != nil {
			b.Error(err)
		}
	})
	return store
}

func benchmarkClaim(name string) backend.Claim {
	c := backend.Claim{Election: "conformance-" + rand.Text(), Candidate: backend.Candidate{ID: name}, TTL: benchmarkTTL}
	_, _ = rand.Read(c.Attempt[:]) // it never fails
	return c
}

func (s Suite) benchmarkRenewal(b *testing.B) {
	store := s.openFor(b)
	l, err := store.Acquire(b.Context(), benchmarkClaim("P"))
	if err != nil {
		b.Fatal(err)
	}
	var times []time.Duration
	for b.Loop() {
		began := time.Now()
		if _, err := store.Renew(b.Context(), l); err != nil {
			b.Fatal(err)
		}
		times = append(times, time.Since(began))
	}
	report(b, "renewal", times)
	b.ReportMetric(0, "ns/op")
}

// pair is two electors of one election, one of which leads.
func (s Suite) pair(b *testing.B) (electors [2]*elector.Elector, wires [2]*severed) {
	b.Helper()
	election := benchmarkClaim("").Election
	for i := range electors {
		wires[i] = &severed{wire: newWire(s.openFor(b))}
		e, err := elector.New(elector.Config{
			Store: wires[i], Election: election, TTL: benchmarkTTL, Logger: slog.New(slog.DiscardHandler),
			Candidate: backend.Candidate{ID: fmt.Sprint("P", i)},
		})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = e.Close() }) // always nil
		electors[i] = e
	}
	return electors, wires
}

// follow campaigns in the background, until it has settled down to wait.
func follow(b *testing.B, e *elector.Elector) <-chan *elector.Term {
	b.Helper()
	next := make(chan *elector.Term, 1)
	go func() {
		t, err := e.Campaign(b.Context())
		if err != nil {
			b.Error(err)
		}
		next <- t
	}()
	pause(b.Context(), 200*time.Millisecond)
	return next
}

func (s Suite) benchmarkHandOver(b *testing.B) {
	electors, _ := s.pair(b)
	term, err := electors[0].Campaign(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	bare := s.newBare(b)
	var ours, theirs []time.Duration
	for i := 1; b.Loop(); i++ {
		next := follow(b, electors[i%2])
		token := term.Token().Value
		began := time.Now()
		if err := term.Resign(b.Context()); err != nil {
			b.Fatal(err)
		}
		if term = <-next; term == nil || term.Token().Value <= token {
			b.Fatalf("no greater token after %d", token)
		}
		ours = append(ours, time.Since(began))
		theirs = append(theirs, bare.handOver(b))
	}
	_ = term.Resign(b.Context())
	middle, high := report(b, "hand-over", ours)
	bareMiddle, bareHigh := report(b, "bare", theirs)
	b.ReportMetric(float64(middle)/float64(bareMiddle), "times-bare-p50")
	b.ReportMetric(float64(high)/float64(bareHigh), "times-bare-p95")
	b.ReportMetric(0, "ns/op")
}

// bare hands an election over with the store's own calls.
type bare struct {
	stores [2]backend.LeaseStore
	claim  backend.Claim
	lease  backend.Lease
	turn   int
}

func (s Suite) newBare(b *testing.B) *bare {
	b.Helper()
	r := &bare{stores: [2]backend.LeaseStore{s.openFor(b), s.openFor(b)}, claim: benchmarkClaim("P0")}
	var err error
	if r.lease, err = r.stores[0].Acquire(b.Context(), r.claim); err != nil {
		b.Fatal(err)
	}
	return r
}

func (r *bare) handOver(b *testing.B) time.Duration {
	b.Helper()
	from, to := r.stores[r.turn], r.stores[1-r.turn]
	r.turn = 1 - r.turn
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	wake, err := to.Watch(ctx, r.claim.Election)
	if err != nil {
		b.Fatal(err)
	}
	pause(ctx, 200*time.Millisecond)
	drained := false
	for !drained {
		select {
		case <-wake:
		default:
			drained = true
		}
	}
	next := benchmarkClaim(fmt.Sprint("P", r.turn))
	next.Election, next.Seen = r.claim.Election, backend.SeenAt(r.lease.Token)
	began := time.Now()
	if err := from.Release(ctx, r.lease, backend.Handover{}); err != nil {
		b.Fatal(err)
	}
	if to.Limits().WakeUp != backend.Timed {
		<-wake
	}
	if r.lease, err = to.Acquire(ctx, next); err != nil {
		b.Fatal(err)
	}
	return time.Since(began)
}

func (s Suite) benchmarkCrash(b *testing.B) {
	electors, wires := s.pair(b)
	term, err := electors[0].Campaign(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	var lags []time.Duration
	for i := 1; b.Loop(); i++ {
		dead := wires[1-i%2]
		next := follow(b, electors[i%2])
		last := dead.sever()
		over := term
		if term = <-next; term == nil {
			b.Fatal("no successor")
		}
		lags = append(lags, time.Since(last.Add(benchmarkTTL)))
		<-over.Context().Done()
		dead.mend()
		_ = over.Resign(b.Context()) // there is nothing to release any more
	}
	_ = term.Resign(b.Context())
	report(b, "lag", lags)
	b.ReportMetric(0, "ns/op")
}

// severed is a client's way to its store, which notes when the last request was sent that extended the lease.
type severed struct {
	*wire
	last atomic.Int64 // in UnixNano
}

// sever lets all calls hang until their contexts end, and returns the time of the last extension.
func (s *severed) sever() time.Time {
	s.set(blackHole)
	return time.Unix(0, s.last.Load())
}

func (s *severed) mend() { s.set(fair) }

func (s *severed) Acquire(ctx context.Context, c backend.Claim) (backend.Lease, error) {
	return s.extend(func() (backend.Lease, error) { return s.wire.Acquire(ctx, c) })
}

func (s *severed) Renew(ctx context.Context, l backend.Lease) (backend.Lease, error) {
	return s.extend(func() (backend.Lease, error) { return s.wire.Renew(ctx, l) })
}

func (s *severed) extend(call func() (backend.Lease, error)) (backend.Lease, error) {
	sent := time.Now()
	l, err := call()
	if err == nil {
		s.last.Store(sent.UnixNano())
	}
	return l, err
}

// report reports the median and the 95th percentile.
func report(b *testing.B, what string, times []time.Duration) (middle, high time.Duration) {
	b.Helper()
	slices.Sort(times)
	middle, high = times[len(times)/2], times[len(times)*95/100]
	b.ReportMetric(float64(middle)/float64(time.Millisecond), what+"-p50-ms")
	b.ReportMetric(float64(high)/float64(time.Millisecond), what+"-p95-ms")
	return middle, high
}
