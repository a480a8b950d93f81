package conformance

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/backend/memory"
)

// randomRuns is how many seeds are played.
const randomRuns = 1000

// walk is one random run: several clients, each with a candidate and a faulty link, do what comes to their mind. All that is random comes from the seed.
type walk struct {
	*testing.T
	seed    uint64
	history *history
	limits  backend.Limits
}

// walker is one client of a walk.
type walker struct {
	*walk
	rand    *rand.Rand
	link    *link
	store   *recorder
	id      string
	ttl     time.Duration
	claim   backend.Claim // the present campaign
	leases  []backend.Lease
	copies  []func() error
	records map[string]backend.Record
}

// take plays a walk in a bubble and returns what the history's check says, and a fingerprint of the history.
func take(t *testing.T, seed uint64, open func() backend.LeaseStore) (failures []Failure, fingerprint uint64) {
	synctest.Test(t, func(t *testing.T) {
		w := &walk{T: t, seed: seed, history: new(history)}
		var all sync.WaitGroup
		for i := range 3 {
			store := w.history.recorder(backend.Wrap(open()))
			w.limits = store.Limits()
			one := &walker{
				walk: w, rand: rand.New(rand.NewPCG(seed, uint64(i))), store: store, link: newLink(store), id: string(rune('A' + i)), records: map[string]backend.Record{},
			}
			one.ttl = time.Duration(5+one.rand.IntN(60)) * time.Millisecond
			one.link.delay = time.Duration(one.rand.Int64N(int64(2 * one.ttl)))
			all.Go(one.walk25)
		}
		all.Wait()
		failures, fingerprint = w.history.check(w.limits), w.fingerprint()
	})
	return failures, fingerprint
}

// fingerprint tells histories apart by their calls and replies, in their order.
func (w *walk) fingerprint() uint64 {
	sum := fnv.New64a()
	for _, c := range w.history.calls {
		fmt.Fprintln(sum, c.client, c.op, c.election, c.granted.Token, c.granted.TTL, c.raised, backend.ClassOf(c.err), c.sent.seq)
	}
	return sum.Sum64()
}

func (w *walker) walk25() {
	for range 25 {
		pause(w.Context(), time.Duration(w.rand.Int64N(int64(w.ttl))))
		if w.rand.IntN(4) == 0 {
			w.link.fail(fault(1 + w.rand.IntN(4)))
		}
		w.step(w.rand.IntN(20))
		if last := w.link.lateCopy(); last != nil && w.rand.IntN(8) == 0 {
			ctx := w.Context()
			w.copies = append(w.copies, func() error { return last(ctx) })
		}
	}
	_ = w.store.Close()
}

func (w *walker) election() string { return []string{"e", "e", "e", "f"}[w.rand.IntN(4)] }

func (w *walker) step(what int) {
	ctx, e := w.Context(), w.election()
	switch {
	case what < 3: // look
		if r, err := w.link.Get(ctx, e); err == nil {
			w.records[e] = r
		}
	case what < 10: // claim, again if the last one's fate is unknown
		w.campaign(e)
	case what < 14 && len(w.leases) > 0: // renew, now and then one of long ago
		l := w.leases[len(w.leases)-1-w.rand.IntN(min(2, len(w.leases)))]
		l.TTL = w.ttl
		_, _ = w.link.Renew(ctx, l)
	case what < 17 && len(w.leases) > 0: // release
		l := w.leases[len(w.leases)-1]
		var h backend.Handover
		if w.rand.IntN(4) == 0 {
			h = backend.Handover{To: "A", For: w.ttl}
		}
		_ = w.link.Release(ctx, l, h)
	case what < 18:
		_ = w.store.Raise(ctx, e, w.records[e].Counter+w.rand.Int64N(3))
	case len(w.copies) > 0: // a copy from long ago arrives
		_ = w.copies[w.rand.IntN(len(w.copies))]()
	}
}

func (w *walker) campaign(e string) {
	c := w.claim
	if c.Election == "" || w.rand.IntN(3) == 0 {
		c = backend.Claim{Election: e, Candidate: backend.Candidate{ID: w.id}, TTL: w.ttl, Attempt: w.attempt()}
		if r, looked := w.records[e]; looked && w.rand.IntN(2) == 0 {
			c.Floor = r.Counter + w.rand.Int64N(3)
			c.Abandoned = []backend.Attempt{r.Attempt} // which may be somebody else's
		}
		if w.claim.Election == e && w.rand.IntN(2) == 0 {
			c.Abandoned = []backend.Attempt{w.claim.Attempt}
		}
	}
	// A claim without what was seen may be granted twice, as the contract says: only the last attempt is remembered.
	r, err := w.store.Get(w.Context(), c.Election)
	if err != nil || c.Seen.Known && c.Seen.Counter != r.Counter && c.Attempt != r.Attempt {
		w.claim = backend.Claim{} // spent
		return
	}
	c.Seen = backend.SeenAt(r.Counter)
	w.claim = c
	l, err := w.link.Acquire(w.Context(), c)
	switch backend.ClassOf(err) {
	case backend.OK:
		w.leases = append(w.leases, l)
	case backend.Unknown:
	default:
		w.claim = backend.Claim{}
	}
}

func (w *walker) attempt() (a backend.Attempt) {
	for i := range a {
		a[i] = byte(w.rand.Uint32())
	}
	return a
}

func TestRandomRunsOfTheReferenceStoreHold(t *testing.T) {
	distinct := make(map[uint64]bool)
	for seed := range uint64(randomRuns) {
		server := memory.NewServer()
		failures, fingerprint := take(t, seed, func() backend.LeaseStore { return server.Client() })
		distinct[fingerprint] = true
		for _, f := range failures {
			t.Errorf("seed %d: %v", seed, f)
		}
	}
	t.Logf("%d seeded runs, %d distinct histories", randomRuns, len(distinct))
	for seed := range uint64(randomRuns / 20) {
		server := memory.NewServer()
		if _, again := take(t, seed, func() backend.LeaseStore { return server.Client() }); !distinct[again] {
			t.Errorf("seed %d gives another history the second time", seed)
		}
	}
	if len(distinct) < randomRuns*9/10 {
		t.Error("too few distinct histories")
	}
}

// The same runs find bugs, so that their silence about the reference store says something.
func TestRandomRunsFindBugs(t *testing.T) {
	for _, m := range []struct {
		bug  string
		rule Rule
	}{
		{"leases end at 80 % of their TTL", s1},
		{"renew does not extend the lease", s1},
		{"a renewal of a fresh lease is skipped", s1},
		{"anybody's attempt can be abandoned", s1},
		{"the counter is reset by release", s2},
		{"the counter dies with the lease", s2},
		{"the floor is ignored", s2},
		{"raise can lower the counter", s2},
		{"raise of a held election is forgotten", s2},
		{"a repeat draws a new token", s3},
		{"a released attempt is granted again", s3},
		{"a repeat does not extend the lease", s1},
		{"none", Rule{}},
	} {
		t.Run(m.bug, func(t *testing.T) {
			found := 0
			for seed := range uint64(randomRuns) {
				server := newBreakable(m.bug)
				failures, _ := take(t, seed, server.client)
				found++
				if slices.ContainsFunc(failures, func(f Failure) bool { return f.Rule == m.rule }) {
					t.Logf("found by seed %d", seed)
					return
				}
				if m.rule == (Rule{}) && len(failures) > 0 {
					t.Fatalf("seed %d: %v", seed, failures)
				}
			}
			if m.rule != (Rule{}) {
				t.Errorf("not found within %d runs", found)
			}
		})
	}
}

// The product's elector in weather that changes by a seed. Its own jitter is not seeded, so the number tells the weather only.
func TestRandomWeatherMakesNoTwoLeaders(t *testing.T) {
	const runs = 200
	distinct := make(map[uint64]bool)
	for seed := range uint64(runs) {
		server := memory.NewServer()
		s := Suite{Open: func(T) backend.LeaseStore { return server.Client() }}
		synctest.Test(t, func(t *testing.T) {
			var h *history
			result, _ := play(t.Context(), s, Case{Name: "weather", Rule: e1, run: func(t *trial) {
				t.rand = rand.New(rand.NewPCG(seed, 0))
				h = t.history
				changingWeather(t)
			}}, "weather")
			distinct[(&walk{history: h}).fingerprint()] = true
			for _, f := range result.Failures {
				t.Errorf("seed %d: %v", seed, f)
			}
		})
	}
	t.Logf("%d runs of four electors, %d distinct histories", runs, len(distinct))
}
