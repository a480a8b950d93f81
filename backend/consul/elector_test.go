package consul

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/elector"
	"github.com/tenure-go/tenure/internal/testenv"
	"github.com/tenure-go/tenure/internal/testenv/proxy"
)

// party is an elector that leads until it is told to end.
type party struct {
	*elector.Elector
	name  string
	log   *roll
	stop  context.CancelFunc
	ended chan struct{}
}

// roll is who led when, by the events of several electors in this process.
type roll struct {
	mu    sync.Mutex
	terms []span
	news  chan struct{} // closed and replaced with each entry
}

type span struct {
	name       string
	token      int64
	from, upto time.Time
}

func newRoll() *roll { return &roll{news: make(chan struct{})} }

func (r *roll) begin(name string, token int64) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.terms = append(r.terms, span{name: name, token: token, from: time.Now()})
	close(r.news)
	r.news = make(chan struct{})
	return len(r.terms) - 1
}

func (r *roll) end(i int, at time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.terms[i].upto = at
}

// term waits for the i-th term.
func (r *roll) term(t testing.TB, i int) span {
	t.Helper()
	limit := time.After(3 * ample)
	for {
		r.mu.Lock()
		news := r.news
		if len(r.terms) > i {
			defer r.mu.Unlock()
			return r.terms[i]
		}
		r.mu.Unlock()
		select {
		case <-news:
		case <-limit:
			t.Fatalf("there is no term number %d", i+1)
		}
	}
}

// check fails the test when two led at once, or a token didn't grow.
func (r *roll) check(t testing.TB) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := 1; i < len(r.terms); i++ {
		a, b := r.terms[i-1], r.terms[i]
		if b.token <= a.token {
			t.Errorf("token %d of %s after %d of %s", b.token, b.name, a.token, a.name)
		}
		if a.upto.IsZero() || a.upto.After(b.from) {
			t.Errorf("%s led from %v on, beside %s to %v", b.name, b.from, a.name, a.upto)
		}
	}
}

// join starts a candidate of the election "e" on a store.
func (r *roll) join(t testing.TB, name string, s backend.LeaseStore, ttl time.Duration) *party {
	t.Helper()
	e, err := elector.New(elector.Config{
		Store: s, Election: "e", Candidate: backend.Candidate{ID: name}, TTL: ttl, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	p := &party{Elector: e, name: name, log: r, stop: cancel, ended: make(chan struct{})}
	go func() {
		defer close(p.ended)
		_ = e.Run(ctx, func(ctx context.Context, term *elector.Term) error {
			i := r.begin(name, term.Token().Value)
			<-ctx.Done()
			r.end(i, time.Now())
			return ctx.Err()
		})
	}()
	t.Cleanup(func() { p.leave(); _ = e.Close() })
	return p
}

// leave resigns and waits until the work is over.
func (p *party) leave() {
	p.stop()
	<-p.ended
}

// EC57: the next leader follows a resignation by a wake-up.
func TestHandover(t *testing.T) {
	t.Parallel()
	srv := start(t)
	r := newRoll()
	parties := map[string]*party{}
	for _, name := range []string{"a", "b", "c"} {
		parties[name] = r.join(t, name, client(t, srv.URL(), "prefix=handover"), 20*time.Second)
	}
	first := r.term(t, 0)
	<-time.After(200 * time.Millisecond) // the others watch
	for i := range 2 {
		began := time.Now()
		parties[first.name].leave()
		next := r.term(t, i+1)
		took := next.from.Sub(began)
		t.Logf("from the resignation of %s to the work of %s: %v", first.name, next.name, took)
		if took > 10*time.Second {
			t.Errorf("%s followed %s after %v: by the lease's end, not by the wake-up", next.name, first.name, took)
		}
		first = next
	}
	r.check(t)
}

// EC43, EC45, EC63: the leader is cut off: it ends its term by itself in time, and a follower leads about one TTL after the last beat that arrived.
func TestALeaderThatIsCutOff(t *testing.T) {
	t.Parallel()
	srv := start(t)
	const ttl = 3 * time.Second
	r := newRoll()
	way, url := through(t, srv)
	g := newGate(t)
	r.join(t, "a", client(t, url, "prefix=cut"), ttl)
	first := r.term(t, 0)
	r.join(t, "b", over(t, rawVia(t, srv, g), "cut"), ttl)
	eventually(t, "b has looked", func() bool { n, _ := g.requests(); return n > 0 })
	<-time.After(ttl)
	way.BlackHole(proxy.Both)
	cut := time.Now()
	next := r.term(t, 1)
	took := next.from.Sub(cut)
	t.Logf("from the cut to the work of %s: %v at a TTL of %v", next.name, took, ttl)
	if first.name == next.name || took > 2*ttl+10*time.Second {
		t.Errorf("%s after %s, %v after the cut", next.name, first.name, took)
	}
	r.check(t)
	way.Heal()
}

// EC51: the servers are away for less than a lease's time: the leader stays.
func TestAShortAbsenceCostsNothing(t *testing.T) {
	t.Parallel()
	srv := start(t, testenv.Options{Own: true})
	const ttl = 6 * time.Second
	r := newRoll()
	a := r.join(t, "a", client(t, srv.URL(), ""), ttl)
	r.term(t, 0)
	r.join(t, "b", client(t, srv.URL(), ""), ttl)
	<-time.After(ttl / 3)
	srv.Freeze()
	<-time.After(1500 * time.Millisecond)
	srv.Thaw()
	for range 3 {
		<-time.After(ttl / 3)
		if !a.Leading() {
			t.Fatal("the leader has lost the lead")
		}
	}
	r.check(t)
}

// EC65: the store answers with errors for many times a lease's time. Everybody stays, nobody leads, and when it is back somebody does.
func TestErrorsForLong(t *testing.T) {
	t.Parallel()
	srv := start(t)
	const ttl = 2 * time.Second
	r := newRoll()
	gates := []*gate{newGate(t), newGate(t)}
	for i, name := range []string{"a", "b"} {
		r.join(t, name, over(t, rawVia(t, srv, gates[i]), "errors"), ttl)
	}
	r.term(t, 0)
	for _, g := range gates {
		g.requests()
		g.fail(500)
	}
	<-time.After(5 * ttl)
	for _, g := range gates {
		n, paths := g.requests()
		t.Logf("%d requests in five TTLs without an answer: %v", n, paths)
		if n > 150 {
			t.Errorf("%d requests in five TTLs without an answer: %v", n, paths)
		}
		g.fail(0)
	}
	r.term(t, 1)
	r.check(t)
}
