package core

import (
	"errors"
	"testing"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/fence"
	"github.com/tenure-go/tenure/internal/clock"
)

const simTTL = 5 * time.Second

var simMargins = Margins{Safety: 250 * time.Millisecond, StepDown: 500 * time.Millisecond, DriftPPM: 2000}

// hand drives a machine by hand.
type hand struct {
	*Machine
	t   *testing.T
	now int64
	out []Action
}

func newHand(t *testing.T, guards int) *hand {
	t.Helper()
	return &hand{t: t, now: int64(time.Hour), Machine: New(Config{
		Election: "e", Candidate: backend.Candidate{ID: "a"}, TTL: simTTL, RenewInterval: simTTL / 3, AttemptTimeout: simTTL / 4,
		DrainTimeout: 30 * time.Second, Spread: 5 * time.Millisecond, Margins: simMargins, Guards: guards,
	})}
}

func (h *hand) reading() clock.Reading {
	return clock.Reading{Mono: h.now, Boot: h.now, Wall: h.now, HasBoot: true}
}

func (h *hand) step(e Event) {
	h.out = h.Step(Input{Now: h.reading(), Rand: [2]uint64{uint64(h.now), 7}, Event: e})
}

// wait lets time pass to the machine's next tick, and ticks.
func (h *hand) wait() {
	due, ok := h.Due()
	if !ok {
		h.t.Fatal("nothing is due")
	}
	h.now = max(h.now, due)
	h.step(Event{Kind: Tick})
}

// find returns the action of a kind among the last step's, if there is one.
func (h *hand) find(kind ActionKind) (Action, bool) {
	for _, a := range h.out {
		if a.Kind == kind {
			return a, true
		}
	}
	return Action{}, false
}

func (h *hand) must(kind ActionKind) Action {
	h.t.Helper()
	for range 10 {
		if a, ok := h.find(kind); ok {
			return a
		}
		h.wait()
	}
	h.t.Fatalf("no action %d; state %v", kind, h.State())
	return Action{}
}

func (h *hand) answer(a Action, e Event) {
	e.Request, e.Sent = a.Request, h.reading()
	h.now += int64(time.Millisecond)
	h.step(e)
}

// ask lets the machine campaign up to its claim.
func (h *hand) ask() Action {
	h.t.Helper()
	h.answer(h.must(DoGet), Event{Kind: GotRecord})
	return h.must(DoAcquire)
}

func leaseOf(a Action, token int64) backend.Lease {
	return backend.Lease{Election: "e", Holder: "a", Token: token, Attempt: a.Claim.Attempt, TTL: simTTL}
}

// A lease that can't be is not led under, and doesn't make the floor useless.
func TestNonsensicalGrantsAreRefused(t *testing.T) {
	for name, spoil := range map[string]func(*backend.Lease){
		"of the future": func(l *backend.Lease) { l.AnchorAge = -time.Minute },
		"token 0":       func(l *backend.Lease) { l.Token = 0 },
		"token too big": func(l *backend.Lease) { l.Token = backend.MaxToken + 1 },
		"no TTL":        func(l *backend.Lease) { l.TTL = 0 },
		"negative TTL":  func(l *backend.Lease) { l.TTL = -1 << 63 },
		"of another":    func(l *backend.Lease) { l.Holder = "b" },
	} {
		h := newHand(t, 0)
		h.step(Event{Kind: Want, Mode: Try, Caller: 1})
		a := h.ask()
		l := leaseOf(a, 5)
		spoil(&l)
		h.answer(a, Event{Kind: Acquired, Lease: l})
		if _, led := h.find(DoBegin); led {
			t.Errorf("%s: it leads", name)
		}
		if h.floor > backend.MaxToken {
			t.Errorf("%s: the floor is %d", name, h.floor)
		}
	}
}

// When the store says between soft and hard deadline that the lease is gone, it is not believed in any longer.
func TestALateNotHeldEndsBelief(t *testing.T) {
	h := newHand(t, 0)
	h.step(Event{Kind: Want, Mode: Run, Caller: 1})
	a := h.ask()
	h.answer(a, Event{Kind: Acquired, Lease: leaseOf(a, 5)})
	renewal := h.must(DoRenew)
	h.now += int64(simTTL)/2 + int64(300*time.Millisecond)
	for h.State() == Leading {
		h.now += int64(time.Millisecond)
		h.step(Event{Kind: Tick})
	}
	if h.State() != Lost {
		t.Fatal(h.State())
	}
	h.answer(renewal, Event{Kind: Renewed, Err: backend.ErrNotHeld})
	if a, told := h.find(DoBelieve); !told || a.Belief != (Belief{}) {
		t.Errorf("it still believes: %v %+v", told, a.Belief)
	}
}

// A guard that calls every token stale doesn't make the candidate take and give back the lease as fast as it can.
func TestAGuardThatRefusesEverythingMakesNoStorm(t *testing.T) {
	for name, above := range map[string]int64{"marks grow": 1, "the mark is lower": -1} {
		h := newHand(t, 1)
		h.step(Event{Kind: Want, Mode: Run, Caller: 1})
		began, token, claims := h.now, int64(10), 0
		for h.now-began < int64(20*simTTL) && claims < 10000 {
			todo := h.out
			if len(todo) == 0 {
				h.wait()
				continue
			}
			h.out = nil
			for _, a := range todo {
				before := h.out
				switch a.Kind {
				case DoOpenWatch:
					h.answer(a, Event{Kind: WatchOpened})
				case DoGet:
					h.answer(a, Event{Kind: GotRecord, Record: backend.Record{Counter: token}})
				case DoAcquire:
					token, claims = max(token, a.Claim.Floor)+1, claims+1
					h.answer(a, Event{Kind: Acquired, Lease: leaseOf(a, token)})
				case DoSeal:
					mark := fence.Token{Value: a.Lease.Token + above, Attempt: fence.Attempt{9}}
					h.answer(a, Event{Kind: Sealed, Err: &fence.StaleError{Given: a.Lease.Fence(), Mark: mark}})
				case DoRelease:
					h.answer(a, Event{Kind: Released})
				case DoRenew:
					h.answer(a, Event{Kind: Renewed, Lease: a.Lease})
				default:
					continue
				}
				h.out = append(before, h.out...)
			}
		}
		t.Logf("%s: %d claims in 20 TTLs", name, claims)
		if claims > 150 {
			t.Errorf("%s: %d claims", name, claims)
		}
	}
}

// A look of an earlier campaign doesn't answer for a later one: what it saw may be over.
func TestALookOfAnEarlierCampaignDoesNotAnswerForALaterOne(t *testing.T) {
	h := newHand(t, 0)
	h.step(Event{Kind: Want, Mode: Run, Caller: 1})
	old := h.must(DoGet)
	h.step(Event{Kind: Unwant, Caller: 1, Err: errors.New("enough")})
	h.step(Event{Kind: Want, Mode: Try, Caller: 2})
	held := backend.Record{Holder: backend.Candidate{ID: "b"}, Token: 1, Counter: 1, TTL: simTTL, Remaining: simTTL}
	h.answer(old, Event{Kind: GotRecord, Record: held})
	if _, over := h.find(DoFinish); over {
		t.Fatal("it took the old look for its own")
	}
	fresh := h.must(DoGet)
	h.answer(fresh, Event{Kind: GotRecord})
	h.must(DoAcquire)
}
