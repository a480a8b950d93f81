package elector

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/backend/memory"
	"github.com/tenure-go/tenure/internal/roster"
)

// preferred is a candidate with a priority.
func preferred(s backend.LeaseStore, id string, priority int) Config {
	cfg := config(s, id)
	cfg.Candidate.Version = id
	cfg.Listed = true
	cfg.Preference.Priority = priority
	return cfg
}

// The new version takes over when it is ready, and the old one finishes its work first. It stands by after that, and leads again when the new one has gone.
func TestBlueGreen(t *testing.T) {
	bubble(t, func(t *testing.T, server *memory.Server) {
		var working atomic.Int32
		lead := func(ctx context.Context, _ *Term) error {
			if working.Add(1) != 1 {
				t.Error("two work at a time")
			}
			<-ctx.Done()
			pass(2 * time.Second)
			working.Add(-1)
			return nil
		}
		var ready atomic.Bool
		blue := startWith(t, preferred(server.Client(), "blue", 1), lead)
		first := <-blue.terms
		pass(time.Minute)
		cfg := preferred(server.Client(), "green", 2)
		cfg.Preference.CanLead = ready.Load
		green := startWith(t, cfg, lead)
		pass(10 * ttl)
		if len(green.terms) > 0 || first.Context().Err() != nil {
			t.Fatal("green leads, or blue has stepped down, before green is ready")
		}
		ready.Store(true)
		began := time.Now()
		<-first.Context().Done()
		second := <-green.terms
		if took := time.Since(began); took < 2*time.Second || took > 2*ttl+2*time.Second {
			t.Errorf("green leads after %v", took)
		}
		cause := context.Cause(first.Context())
		if !errors.Is(cause, ErrResigned) || !strings.Contains(cause.Error(), `to "green", which is preferred: its score is 2, this one's 1`) {
			t.Errorf("blue's term ended with %v", cause)
		}
		pass(20 * ttl)
		if second.Context().Err() != nil || !green.Leading() {
			t.Error("green has lost the election again")
		}
		_ = green.end()
		<-blue.terms
		if err := blue.end(); !errors.Is(err, context.Canceled) {
			t.Errorf("blue's Run returned %v", err)
		}
	})
}

// Campaign's caller says by Resign when its work is over; until then the lease is renewed, and after it the preferred candidate leads.
func TestATermOfCampaignMakesRoom(t *testing.T) {
	bubble(t, func(t *testing.T, server *memory.Server) {
		a := newTest(t, preferred(server.Client(), "a", 0))
		term, err := a.Campaign(t.Context())
		must(t, err)
		b, c := start(t, preferred(slow{&listing{LeaseStore: server.Client()}}, "b", 1)), start(t, preferred(server.Client(), "c", 0))
		<-term.Context().Done()
		pass(3 * ttl)
		if !term.Valid() || len(b.terms)+len(c.terms) > 0 {
			t.Error("another leads although the work goes on")
		}
		must(t, term.Resign(t.Context()))
		<-b.terms
		if len(c.terms) > 0 {
			t.Error("another was faster: the election wasn't reserved")
		}
		again, cancel := context.WithTimeout(t.Context(), 3*ttl)
		defer cancel()
		if _, err := a.Campaign(again); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		_ = c.end()
		_ = b.end()
		must(t, a.Close())
	})
}

// Not more than one hand-over per minimum tenure, whatever the scores do.
func TestScoresThatDisagreeDontFlap(t *testing.T) {
	bubble(t, func(t *testing.T, server *memory.Server) {
		var all []*running
		for _, id := range []string{"a", "b", "c"} {
			cfg := preferred(server.Client(), id, 0)
			cfg.Preference.Score = func(s Standing) float64 { // the others are always better
				if s.Candidate.ID == id {
					return 0
				}
				return 1
			}
			all = append(all, start(t, cfg))
		}
		const tenures = 20
		pass(tenures * 3 * ttl)
		terms := 0
		for _, r := range all {
			terms += len(r.terms)
		}
		t.Logf("%d terms in %d tenures", terms, tenures)
		if terms > tenures+1 || terms < tenures/3 {
			t.Errorf("%d terms in %d tenures", terms, tenures)
		}
		for _, r := range all {
			_ = r.end()
		}
	})
}

// DX20: a preferred candidate that is listed but dead costs its reservation, once per cooldown.
func TestADeadPreferredCandidate(t *testing.T) {
	bubble(t, func(t *testing.T, server *memory.Server) {
		a := start(t, preferred(server.Client(), "a", 0))
		<-a.terms
		note, err := roster.Note{Standing: &roster.Standing{Priority: 9, Ready: true}}.Encode()
		must(t, err)
		list := server.Client()
		must(t, list.Enlist(t.Context(), backend.Entry{Election: "e", Candidate: backend.Candidate{ID: "dead"}, Note: note, TTL: time.Hour}))
		pass(3 * ttl)
		began := time.Now()
		for a.Leading() {
			pass(10 * time.Millisecond)
		}
		gone := time.Now()
		<-a.terms
		if away := time.Since(gone); away > a.Config().reservation()+time.Second {
			t.Errorf("nobody led for %v", away)
		}
		pass(a.Config().Preference.Cooldown - time.Since(began))
		if len(a.terms) > 0 || !a.Leading() {
			t.Error("it was tried again before the cooldown was over")
		}
		pass(6 * ttl)
		if len(a.terms) != 1 {
			t.Errorf("%d terms after the cooldown: it should have been tried again, once", len(a.terms))
		}
		_ = a.end()
	})
}

// slow is a store whose claims take their time: without a reservation others are faster.
type slow struct{ *listing }

func (s slow) Acquire(ctx context.Context, c backend.Claim) (backend.Lease, error) {
	pass(500 * time.Millisecond)
	return s.listing.Acquire(ctx, c)
}

// denied is a store which lists its candidate and grants it nothing.
type denied struct{ *listing }

func (denied) Acquire(context.Context, backend.Claim) (backend.Lease, error) {
	return backend.Lease{}, errInjected
}

// DX20: a preferred candidate that is alive, and looks ready, but can't acquire, is given the election once per cooldown.
func TestAPreferredCandidateThatCantAcquire(t *testing.T) {
	bubble(t, func(t *testing.T, server *memory.Server) {
		a := start(t, preferred(server.Client(), "a", 0))
		b := start(t, preferred(denied{&listing{LeaseStore: server.Client()}}, "b", 1))
		const cooldowns = 10
		pass(cooldowns * a.Config().Preference.Cooldown)
		if n := len(a.terms); n < cooldowns/2 || n > cooldowns+2 {
			t.Errorf("a was elected %d times in %d cooldowns", n, cooldowns)
		}
		_ = a.end()
		_ = b.end()
	})
}

// DX20: a version that crashes soon after it has taken over isn't preferred again at once, though it comes back under another ID.
func TestACrashingVersionIsBarred(t *testing.T) {
	bubble(t, func(t *testing.T, server *memory.Server) {
		a := start(t, preferred(server.Client(), "a", 0))
		<-a.terms
		pass(time.Minute)
		crashes := 0
		for end := time.Now().Add(4 * time.Minute); time.Now().Before(end); {
			cfg := preferred(server.Client(), fmt.Sprint("b", crashes), 1)
			cfg.Candidate.Version = "new"
			b := startWith(t, cfg, func(context.Context, *Term) error { return errInjected })
			select {
			case err := <-b.result:
				if !errors.Is(err, errInjected) {
					t.Error(err)
				}
				_ = b.Close()
				crashes++
				pass(time.Second) // its restart: a leads meanwhile
			case <-time.After(20 * time.Second):
				_ = b.end()
			}
		}
		t.Logf("%d crashes in 4 minutes", crashes)
		if crashes < 2 || crashes > 5 {
			t.Errorf("it was given the election %d times", crashes)
		}
		_ = a.end()
	})
}

// While CanLead says no, a candidate claims nothing, and a leader steps down when its work has returned. A single try says why it failed.
func TestCanLead(t *testing.T) {
	bubble(t, func(t *testing.T, server *memory.Server) {
		var can atomic.Bool
		cfg := config(server.Client(), "a") // not listed
		cfg.Preference.CanLead = can.Load
		a := startWith(t, cfg, func(ctx context.Context, _ *Term) error {
			<-ctx.Done()
			pass(time.Second)
			return nil
		})
		pass(10 * ttl)
		if len(a.terms) > 0 {
			t.Fatal("it leads")
		}
		tried := newTest(t, cfg)
		if _, err := tried.TryCampaign(t.Context()); !errors.Is(err, ErrIneligible) {
			t.Error(err)
		}
		can.Store(true)
		first := <-a.terms
		b := start(t, config(server.Client(), "b"))
		pass(10 * ttl)
		can.Store(false)
		began := time.Now()
		<-b.terms
		if took := time.Since(began); took < time.Second || took > ttl/10+time.Second+100*time.Millisecond {
			t.Errorf("b leads after %v", took)
		}
		if cause := context.Cause(first.Context()); !errors.Is(cause, ErrResigned) || !strings.Contains(cause.Error(), "can't lead any more") {
			t.Error(cause)
		}
		_ = b.end()
		pass(10 * ttl)
		if len(a.terms) > 0 {
			t.Error("it leads again")
		}
		can.Store(true)
		<-a.terms
		_ = a.end()
		must(t, tried.Close())
	})
}

// Who is listed, and what they publish; too much of it is refused and harms nothing.
func TestCandidates(t *testing.T) {
	bubble(t, func(t *testing.T, server *memory.Server) {
		var ev events
		var many atomic.Bool
		cfg := preferred(server.Client(), "a", 3)
		cfg.Events = ev.add
		cfg.Preference.Publish = func() map[string]string {
			if many.Load() {
				return map[string]string{"x": strings.Repeat("y", backend.MaxNote)}
			}
			return map[string]string{"zone": "north"}
		}
		a, b := start(t, cfg), start(t, preferred(server.Client(), "b", 0))
		pass(time.Second)
		observer := newTest(t, config(server.Client(), "c"))
		got, err := observer.Candidates(t.Context())
		must(t, err)
		if len(got) != 2 || got[0].Candidate.ID != "a" || got[0].Priority != 3 || got[0].Attributes["zone"] != "north" || !got[0].Ready || got[1].Candidate.ID != "b" {
			t.Errorf("got %+v", got)
		}
		many.Store(true)
		pass(4 * ttl)
		got, err = observer.Candidates(t.Context())
		must(t, err)
		if len(got) != 2 || got[0].Priority != 3 || len(got[0].Attributes) > 0 || len(ev.kinds(Failed)) == 0 {
			t.Errorf("got %+v", got)
		}
		_ = a.end()
		_ = b.end()
		if got, err = observer.Candidates(t.Context()); err != nil || len(got) != 0 {
			t.Errorf("got %+v, %v after all have gone", got, err)
		}
		bare := newTest(t, config(newFaulty(server.Client()), "d"))
		if _, err := bare.Candidates(t.Context()); !errors.Is(err, backend.ErrInvalid) {
			t.Error(err)
		}
		refused := preferred(newFaulty(server.Client()), "d", 0)
		refused.Preference.Cooldown = -1
		_, err = New(refused)
		for _, want := range []string{"Config.Listed", "lists no candidates", "Config.Preference.Cooldown"} {
			if !errors.Is(err, backend.ErrInvalid) || !strings.Contains(err.Error(), want) {
				t.Errorf("%q isn't in %v", want, err)
			}
		}
		group := groupConfig(server.Client(), "d")
		group.Preference.Priority = 1
		if _, err := NewGroup(group); !errors.Is(err, backend.ErrInvalid) {
			t.Error(err)
		}
	})
}

// A listed candidate costs a write per three TTLs, a leader also a look per TTL: E9.
func TestAListedCandidateIsQuiet(t *testing.T) {
	bubble(t, func(t *testing.T, server *memory.Server) {
		const ttls = 300
		for name, leads := range map[string]bool{"a": true, "b": false} {
			s := &listing{LeaseStore: server.Client()}
			cfg := preferred(s, name, 0)
			cfg.Preference.CanLead = func() bool { return leads }
			r := start(t, cfg)
			pass(ttls * ttl)
			writes, looks := int(s.writes.Load()), int(s.looks.Load())
			t.Logf("%s: %d writes, %d looks in %d TTLs", name, writes, looks, ttls)
			if writes > ttls/3+1 || writes < ttls/4 || leads && (looks > ttls+1 || looks < ttls*3/4) || !leads && looks != 0 {
				t.Errorf("%s: %d writes, %d looks in %d TTLs", name, writes, looks, ttls)
			}
			_ = r.end()
			synctest.Wait()
		}
	})
}
