package core

import (
	"errors"
	"testing"
	"time"

	"github.com/tenure-go/tenure/backend"
)

// PE14: a single try gives up at once where the store's clock ends leases. Where a challenger has to have watched the lease (DX19), it watches: until a sign of life, or for the lease's TTL.
func TestASingleTryWatchesALeaseThatNobodyElseEnds(t *testing.T) {
	record := func(mode backend.Mode, renewals int64) backend.Record {
		return backend.Record{
			Holder: backend.Candidate{ID: "other"}, Token: 7, Counter: 7, TTL: simTTL, Remaining: simTTL, Mode: mode, Renewals: renewals,
		}
	}
	for _, tt := range []struct {
		what  string
		mode  backend.Mode
		alive bool // the holder renews
		free  bool // the store grants it when it has been silent for a TTL
		err   error
	}{
		{"a lease of the store's clock", backend.Native, true, false, backend.ErrHeld},
		{"a living holder", backend.Observed, true, false, backend.ErrHeld},
		{"a dead holder", backend.Beat, false, true, nil},
		{"a store that never lets go", backend.Observed, false, false, backend.ErrHeld},
	} {
		h := newHand(t, 0)
		began := h.now
		h.step(Event{Kind: Want, Mode: Try, Caller: 1})
		h.answer(h.must(DoGet), Event{Kind: GotRecord, Record: record(tt.mode, 1)})
		for i := int64(2); ; i++ {
			if end, over := h.find(DoFinish); over {
				if tt.err == nil || !errors.Is(end.Err, tt.err) {
					t.Errorf("%s: %v", tt.what, end.Err)
				}
				break
			}
			if h.State() == Leading {
				if tt.err != nil {
					t.Errorf("%s: it leads", tt.what)
				}
				break
			}
			a, asks := h.find(DoAcquire)
			switch silent := time.Duration(h.now - began); {
			case !asks:
				h.wait()
			case tt.free && silent >= simTTL:
				h.answer(a, Event{Kind: Acquired, Lease: leaseOf(a, 8)})
			case tt.alive:
				h.answer(a, Event{Kind: Acquired, Err: &backend.HeldError{Record: record(tt.mode, i)}})
			default:
				h.answer(a, Event{Kind: Acquired, Err: &backend.HeldError{Record: record(tt.mode, 1)}})
			}
			if h.now-began > int64(3*simTTL) {
				t.Fatalf("%s: still trying after three TTLs", tt.what)
			}
		}
		if took := time.Duration(h.now - began); tt.mode == backend.Native && took > simTTL/10 || tt.alive && took > simTTL*3/4 {
			t.Errorf("%s: it took %v", tt.what, took)
		}
	}
}
