package elector

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/backend/memory"
	"github.com/tenure-go/tenure/fence"
)

// R60, PE5: each resignation is followed by the next term within a few round trips.
func TestOneOfManyLeadsAndIsSucceeded(t *testing.T) {
	bubble(t, func(t *testing.T, server *memory.Server) {
		var all []*running
		for _, id := range []string{"a", "b", "c"} {
			all = append(all, start(t, config(server.Client(), id)))
		}
		token := int64(0)
		for range all {
			synctest.Wait()
			var leader *running
			for _, r := range all {
				if r.Leading() {
					if leader != nil {
						t.Fatal("two lead")
					}
					leader = r
				}
			}
			if leader == nil {
				t.Fatal("nobody leads")
			}
			term := <-leader.terms
			if term.Token().Value <= token {
				t.Errorf("token %v after %d", term.Token(), token)
			}
			token = term.Token().Value
			pass(20 * time.Second)
			if err := leader.end(); !errors.Is(err, context.Canceled) {
				t.Errorf("Run returned %v", err)
			}
			pass(2 * spread) // a hand-over takes no longer: the next round looks for its leader now
			if cause := context.Cause(term.Context()); !errors.Is(cause, ErrResigned) || !errors.Is(cause, context.Canceled) {
				t.Errorf("cause is %v", cause)
			}
		}
	})
}

// PE13: nobody waits for a dead leader for longer than its lease and one look.
func TestACrashedLeaderIsSucceededWhenItsLeaseHasRunOut(t *testing.T) {
	bubble(t, func(t *testing.T, server *memory.Server) {
		dead, err := server.Client().Acquire(t.Context(), backend.Claim{Election: "e", Candidate: backend.Candidate{ID: "dead"}, TTL: ttl, Attempt: backend.Attempt{1}})
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		r := start(t, config(server.Client(), "b"))
		term := <-r.terms
		if took := time.Since(began); took < ttl || took > r.Config().Timing().FailOver {
			t.Errorf("it took %v", took)
		}
		if term.Token().Value <= dead.Token {
			t.Errorf("token %v after %d", term.Token(), dead.Token)
		}
		_ = r.end()
	})
}

// Nothing is lost: what work returned after a loss is told.
func TestAnErrorOfWorkAfterALossIsTold(t *testing.T) {
	bubble(t, func(t *testing.T, server *memory.Server) {
		var ev events
		cfg := config(server.Client(), "a")
		cfg.Events = ev.add
		a := startWith(t, cfg, func(ctx context.Context, _ *Term) error { <-ctx.Done(); return errInjected })
		<-a.terms
		server.Remove("e")
		<-a.terms
		if err := a.end(); !errors.Is(err, errInjected) {
			t.Errorf("Run returned %v", err)
		}
		told := 0
		for _, e := range ev.list {
			if e.Kind == Stopped && errors.Is(e.Err, errInjected) {
				told++
			}
		}
		if told != 2 {
			t.Errorf("told %d times", told)
		}
	})
}

func TestLeadsReturnEndsRunAndFreesTheElection(t *testing.T) {
	for _, want := range []error{nil, errInjected} {
		bubble(t, func(t *testing.T, server *memory.Server) {
			e := newTest(t, config(server.Client(), "a"))
			err := e.Run(t.Context(), func(ctx context.Context, term *Term) error {
				if token, ok := fence.FromContext(ctx); !ok || token != term.Token() {
					t.Errorf("the context carries %v", token)
				}
				return want
			})
			if !errors.Is(err, want) {
				t.Errorf("Run returned %v, want %v", err, want)
			}
			if l, err := e.Leader(t.Context()); err != nil || !l.Nobody() || l.Token != 1 {
				t.Errorf("%+v, %v", l, err)
			}
			if e.Leading() {
				t.Error("still leading")
			}
		})
	}
}

// E4, IN31, PE52: the lease is held and renewed until the work has returned.
func TestTheLeaseIsHeldUntilTheWorkHasReturned(t *testing.T) {
	bubble(t, func(t *testing.T, server *memory.Server) {
		finish := make(chan struct{})
		var validWhileDraining bool
		a := startWith(t, config(server.Client(), "a"), func(ctx context.Context, term *Term) error {
			<-ctx.Done()
			<-finish
			validWhileDraining = term.Valid()
			return nil
		})
		<-a.terms
		b := start(t, config(server.Client(), "b"))
		a.stop()
		pass(4 * ttl)
		synctest.Wait()
		if a.Leading() || b.Leading() {
			t.Error("somebody leads while the old work goes on")
		}
		close(finish)
		<-b.terms
		if err := <-a.result; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if !validWhileDraining {
			t.Error("the term was not valid while its work was finishing")
		}
		_ = b.end()
	})
}

// E4, PE57: work that does not return in time keeps its lease until that runs out, and the hook fires.
func TestWorkThatDoesNotReturnIsReported(t *testing.T) {
	bubble(t, func(t *testing.T, server *memory.Server) {
		finish := make(chan struct{})
		overran := make(chan Overrun, 1)
		cfg := config(server.Client(), "a")
		cfg.DrainTimeout = 7 * time.Second
		cfg.OnOverrun = func(o Overrun) { overran <- o }
		a := startWith(t, cfg, func(context.Context, *Term) error { <-finish; return nil })
		term := <-a.terms
		b := start(t, config(server.Client(), "b"))
		began := time.Now()
		a.stop()
		o := <-overran
		if o.Token != term.Token() || !errors.Is(o.Cause, ErrResigned) || o.Election != "e" {
			t.Errorf("%+v", o)
		}
		synctest.Wait()
		if term.Valid() || a.member.belief.Load() != nil {
			t.Error("the term is believed in during its overrun")
		}
		<-b.terms
		if took := time.Since(began); took < cfg.DrainTimeout {
			t.Errorf("the successor led after %v", took)
		}
		pass(ttl)
		close(finish)
		if err := <-a.result; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if !b.Leading() {
			t.Error("the late return ended the successor's term")
		}
		_ = b.end()
	})
}

func TestAPanicReleasesAndPassesThrough(t *testing.T) {
	bubble(t, func(t *testing.T, server *memory.Server) {
		e := newTest(t, config(server.Client(), "a"))
		func() {
			defer func() {
				if p := recover(); p != "boom" {
					t.Errorf("recovered %v", p)
				}
			}()
			_ = e.Run(t.Context(), func(context.Context, *Term) error { panic("boom") })
		}()
		if l, err := e.Leader(t.Context()); err != nil || !l.Nobody() {
			t.Errorf("%+v, %v", l, err)
		}
	})
}

// A4, E3, E9, PE17, PE21: a removed record ends the term at the next heartbeat.
func TestALostLeaseEndsTheTermAndIsCampaignedForAgain(t *testing.T) {
	bubble(t, func(t *testing.T, server *memory.Server) {
		var ev events
		cfg := config(server.Client(), "a")
		cfg.Events = ev.add
		a := start(t, cfg)
		first := <-a.terms
		server.Remove("e")
		began := time.Now()
		<-first.Context().Done()
		if took := time.Since(began); took > ttl/3+time.Millisecond {
			t.Errorf("noticed after %v", took)
		}
		if cause := context.Cause(first.Context()); !errors.Is(cause, ErrLost) || !errors.Is(cause, backend.ErrNotHeld) {
			t.Errorf("cause is %v", cause)
		}
		second := <-a.terms
		if second.Token().Value <= first.Token().Value || first.Valid() {
			t.Errorf("first %v valid %v, second %v", first.Token(), first.Valid(), second.Token())
		}
		_ = a.end()
		want := []EventKind{Started, Stopped, Started, Stopped}
		got := ev.kinds(Started, Stopped)
		if len(got) != len(want) {
			t.Fatalf("got %v", got)
		}
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("got %v", got)
			}
		}
	})
}

// E6, PE36: an outage shorter than promised costs nothing; PE37: one failed renewal is "suspect", no more.
func TestAShortOutageCostsNoLeadership(t *testing.T) {
	bubble(t, func(t *testing.T, server *memory.Server) {
		f := newFaulty(server.Client())
		var ev events
		cfg := config(f, "a")
		cfg.Events = ev.add
		a := start(t, cfg)
		term := <-a.terms
		outage := a.Config().Timing().OutageSurvived
		for phase := range 10 {
			f.set(func(context.Context, string) error { return errInjected }, nil)
			pass(outage)
			f.set(nil, nil)
			pass(ttl + time.Duration(phase)*ttl/10)
		}
		if !a.Leading() || term.Context().Err() != nil {
			t.Errorf("leadership was lost: %v", context.Cause(term.Context()))
		}
		if len(ev.kinds(Suspect)) == 0 {
			t.Error("no renewal failed: the test tests nothing")
		}
		_ = a.end()
	})
}

// E3, E6, EC42, PE46: the leader steps down in time when the store is away for long, and all go on trying.
func TestALongOutageEndsTheTermInTimeAndIsSurvived(t *testing.T) {
	bubble(t, func(t *testing.T, server *memory.Server) {
		f := newFaulty(server.Client())
		a := start(t, config(f, "a"))
		term := <-a.terms
		pass(ttl)
		renews := f.count("renew")
		for f.count("renew") == renews { // from here the lease lives for one TTL at most
			pass(time.Millisecond)
		}
		confirmed := time.Now()
		down := func(ctx context.Context, _ string) error { <-ctx.Done(); return context.Cause(ctx) }
		f.set(down, nil)
		<-term.Context().Done()
		if took := time.Since(confirmed); took > a.Config().Timing().CancelAfter+time.Millisecond {
			t.Errorf("cancelled after %v", took)
		}
		if cause := context.Cause(term.Context()); !errors.Is(cause, ErrDeadline) {
			t.Errorf("cause is %v", cause)
		}
		pass(time.Hour)
		before := f.count("get") + f.count("acquire") + f.count("watch")
		pass(time.Hour)
		if n := f.count("get") + f.count("acquire") + f.count("watch") - before; n > 3*3600/5 {
			t.Errorf("%d requests in an hour of outage", n)
		}
		f.set(nil, nil)
		back := time.Now()
		<-a.terms
		if took := time.Since(back); took > ttl {
			t.Errorf("led again after %v", took)
		}
		_ = a.end()
	})
}

// S3, R1, EC67, IN24, PE41: a lost reply costs no TTL and no second term.
func TestALostReplyToAcquireGivesTheSameTerm(t *testing.T) {
	bubble(t, func(t *testing.T, server *memory.Server) {
		f := newFaulty(server.Client())
		lost := 0
		f.set(nil, func(_ context.Context, op string) error {
			if op == "acquire" && lost < 3 {
				lost++
				return errInjected
			}
			return nil
		})
		began := time.Now()
		a := start(t, config(f, "a"))
		term := <-a.terms
		if took := time.Since(began); took > time.Second {
			t.Errorf("it took %v", took)
		}
		if term.Token().Value != 1 || lost != 3 {
			t.Errorf("token %v after %d lost replies", term.Token(), lost)
		}
		_ = a.end()
	})
}

// R5, EC67, IN25: a campaign that is given up with a claim under way leaves nothing behind.
func TestAGivenUpCampaignLeavesNothingAtTheStore(t *testing.T) {
	bubble(t, func(t *testing.T, server *memory.Server) {
		f := newFaulty(server.Client())
		reached := make(chan struct{}, 100)
		f.set(nil, func(ctx context.Context, op string) error {
			if op != "acquire" {
				return nil
			}
			reached <- struct{}{}
			<-ctx.Done() // the reply never comes
			return context.Cause(ctx)
		})
		e := newTest(t, config(f, "a"))
		ctx, cancel := context.WithCancel(t.Context())
		go func() { <-reached; cancel() }()
		began := time.Now()
		if _, err := e.Campaign(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("Campaign returned %v", err)
		}
		if time.Since(began) > 10*time.Millisecond {
			t.Error("Campaign waited for the store")
		}
		f.set(nil, nil)
		_ = e.Close()
		if l, err := e.Leader(t.Context()); err != nil || !l.Nobody() || l.Token != 1 {
			t.Errorf("%+v, %v: want a lease that was granted and released", l, err)
		}
	})
}

// E9: an idle follower asks about once per TTL, a leader three times.
func TestIdleElectorsAreQuiet(t *testing.T) {
	bubble(t, func(t *testing.T, server *memory.Server) {
		leader, follower := newFaulty(server.Client()), newFaulty(server.Client())
		slow := func(context.Context, string) error { pass(rand.N(20 * time.Millisecond)); return nil }
		leader.set(slow, slow)
		follower.set(slow, slow)
		a := start(t, config(leader, "a"))
		<-a.terms
		b := start(t, config(follower, "b"))
		pass(ttl)
		count := func(f *faulty) int { return f.count("get") + f.count("acquire") + f.count("renew") }
		la, fb := count(leader), count(follower)
		const n = 100
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		pass(n * ttl)
		runtime.ReadMemStats(&after)
		t.Logf("allocations per TTL of a leader and a follower together, with their events, timers and store: %d", (after.Mallocs-before.Mallocs)/n)
		asksLeader, asksFollower := float64(count(leader)-la)/n, float64(count(follower)-fb)/n
		t.Logf("requests per TTL: leader %.2f, idle follower %.2f", asksLeader, asksFollower)
		if asksLeader > 3.05 || asksFollower > 1.25 {
			t.Error("too many requests")
		}
		_, _ = a.end(), b.end()
	})
}

// forget makes a store lose all that it knows, once.
type forget struct {
	*memory.Store
	mu    sync.Mutex
	inner backend.LeaseStore
}

func (f *forget) now() backend.LeaseStore {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.inner
}

func (f *forget) lose(s backend.LeaseStore) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.inner = s
}

func (f *forget) Acquire(ctx context.Context, c backend.Claim) (backend.Lease, error) {
	return f.now().Acquire(ctx, c)
}

func (f *forget) Renew(ctx context.Context, l backend.Lease) (backend.Lease, error) {
	return f.now().Renew(ctx, l)
}

func (f *forget) Release(ctx context.Context, l backend.Lease, h backend.Handover) error {
	return f.now().Release(ctx, l, h)
}

func (f *forget) Get(ctx context.Context, e string) (backend.Record, error) {
	return f.now().Get(ctx, e)
}

// A store that was restarted empty: who saw the leader before waits for a TTL, since the leader doesn't know yet; the leader itself finds out at its heartbeat and leads on
// under a greater token (R19, PE21).
func TestAForgetfulStoreMakesNoTwoLeaders(t *testing.T) {
	bubble(t, func(t *testing.T, server *memory.Server) {
		empty := memory.NewServer()
		fa, fb := &forget{Store: server.Client()}, &forget{Store: server.Client()}
		fa.lose(fa.Store)
		fb.lose(fb.Store)
		a := start(t, config(fa, "a"))
		first := <-a.terms
		b := start(t, config(fb, "b"))
		pass(10*ttl + time.Millisecond)
		server.Remove("e") // wakes b, as the connection that comes back does
		fa.lose(empty.Client())
		fb.lose(empty.Client())
		for !errors.Is(context.Cause(first.Context()), ErrLost) {
			if b.Leading() {
				t.Fatal("two lead")
			}
			server.Remove("e") // and again: no wake-up shortens the wait
			pass(time.Millisecond)
		}
		if second := <-a.terms; second.Token().Value <= first.Token().Value {
			t.Errorf("token %v after %v", second.Token(), first.Token())
		}
		// The leader is dead as well: the follower waits, and leads.
		fa.lose(newHanging())
		fb.lose(memory.NewServer().Client())
		began := time.Now()
		<-b.terms
		if took := time.Since(began); took > 2*ttl+time.Second {
			t.Errorf("it took %v", took)
		}
		fa.lose(fb.now())
		_, _ = a.end(), b.end()
		// One try is refused for a TTL, and so is the next.
		c := newTest(t, config(fb, "c"))
		term, err := c.Campaign(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		_ = term.Resign(t.Context())
		pass(2 * ttl)
		fb.lose(memory.NewServer().Client())
		for range 2 {
			if _, err := c.TryCampaign(t.Context()); !errors.Is(err, ErrRecordLost) {
				t.Errorf("TryCampaign: %v", err)
			}
		}
		pass(2 * ttl)
		if term, err = c.TryCampaign(t.Context()); err != nil {
			t.Fatal(err)
		}
		_ = term.Resign(t.Context())
		_ = c.Close()
	})
}

// newHanging is a store that doesn't answer.
func newHanging() backend.LeaseStore {
	f := newFaulty(memory.New())
	f.set(func(ctx context.Context, _ string) error { <-ctx.Done(); return context.Cause(ctx) }, nil)
	return f
}
