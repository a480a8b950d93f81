// Package storetest has what the tests of stores say all the time: a claim, a call that must succeed, a condition that comes true in the end.
package storetest

import (
	"testing"
	"time"

	"github.com/tenure-go/tenure/backend"
)

// Kit makes calls that must succeed. Package tests take its methods as functions of their own.
type Kit struct {
	// Ample is a ceiling for what takes milliseconds on an idle machine.
	Ample time.Duration
}

// Acquire acquires.
func (k Kit) Acquire(t testing.TB, s backend.LeaseStore, c backend.Claim) backend.Lease {
	t.Helper()
	return Must[backend.Lease](t)(s.Acquire(Deadline(t, k.Ample), c))
}

// Renew renews.
func (k Kit) Renew(t testing.TB, s backend.LeaseStore, l backend.Lease) backend.Lease {
	t.Helper()
	return Must[backend.Lease](t)(s.Renew(Deadline(t, k.Ample), l))
}

// Release releases for everybody.
func (k Kit) Release(t testing.TB, s backend.LeaseStore, l backend.Lease) {
	t.Helper()
	if err := s.Release(Deadline(t, k.Ample), l, backend.Handover{}); err != nil {
		t.Fatal(err)
	}
}

// Get reads.
func (k Kit) Get(t testing.TB, s backend.LeaseStore, election string) backend.Record {
	t.Helper()
	return Must[backend.Record](t)(s.Get(Deadline(t, k.Ample), election))
}

// Eventually waits until ok is true.
func (k Kit) Eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	end := time.NewTimer(k.Ample)
	defer end.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-end.C:
			t.Fatalf("not within %v: %s", k.Ample, what)
		}
	}
}
