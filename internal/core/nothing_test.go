package core

import (
	"errors"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/fence"
)

// What machines have in place of a campaign or term is shared by all of them, so that nothing may ever be written to it: whatever comes, in whatever state.
func TestNothingIsWrittenToWhatStandsForNothing(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		h := newHand(t, 1)
		shared := h.Shared
		var asked []Action
		for range 300 {
			h.now += r.Int64N(int64(2 * time.Second))
			h.step(anything(r, asked))
			for _, a := range h.out {
				if a.Request != 0 {
					asked = append(asked, a)
				}
			}
			if shared.noCampaign != (campaign{}) || !reflect.ValueOf(shared.noTerm).IsZero() {
				t.Fatalf("seed %d, in %v: %+v, %+v", seed, h.State(), shared.noCampaign, shared.noTerm)
			}
		}
	}
}

// anything is an event that may come late, twice, or never have been asked for.
func anything(r *rand.Rand, asked []Action) Event {
	e := Event{Kind: EventKind(r.IntN(int(Permit) + 1)), Mode: Mode(1 + r.IntN(int(Serve))), Caller: uint64(r.IntN(3)), Term: uint64(r.IntN(3)), Handover: backend.Handover{For: time.Duration(r.IntN(2)) * time.Second}}
	if e.Kind == Close {
		e.Kind = Tick
	}
	e.Err = []error{nil, nil, errors.New("broken"), backend.ErrNotHeld, &backend.HeldError{Record: backend.Record{Token: 9}}, backend.ErrOutdated, &fence.StaleError{Mark: fence.Token{Value: 12}}}[r.IntN(7)]
	if len(asked) > 0 && r.IntN(4) > 0 {
		a := asked[max(0, len(asked)-1-r.IntN(3))]
		kinds := map[ActionKind]EventKind{DoGet: GotRecord, DoAcquire: Acquired, DoRenew: Renewed, DoRelease: Released, DoSeal: Sealed, DoOpenWatch: WatchOpened}
		e.Kind, e.Request = kinds[a.Kind], a.Request
		e.Lease = backend.Lease{Election: "e", Holder: "a", Token: int64(10 + r.IntN(5)), Attempt: a.Claim.Attempt, TTL: simTTL}
		if a.Kind == DoRenew {
			e.Lease = a.Lease
		}
	}
	return e
}
