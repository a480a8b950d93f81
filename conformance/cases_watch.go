package conformance

import (
	"context"
	"time"

	"github.com/tenure-go/tenure/backend"
)

var watchCases = []Case{
	{Name: "a watch is woken by the first grant, by a release and by the next grant", Rule: s7, run: watchEachChange},
	{Name: "a watch is woken by each of many changes, however they are spaced", Rule: s7, run: watchManyChanges},
	{Name: "many changes while nobody receives block no call and leave a wake-up", Rule: s7, Covers: []string{"EC71", "PE6"}, run: watchBusyReceiver},
	{Name: "every watch of an election is woken, and the end of one leaves the others", Rule: s7, run: watchMany},
	{Name: "a watch is woken by the removal of the record", Rule: s7, Covers: []string{"R19"}, run: watchRemoval},
	{Name: "a watch's channel is closed when its context ends", Rule: s7, Covers: []string{"R40"}, run: watchContextEnds},
	{Name: "a watch's channel is closed when its store is closed", Rule: s7, run: watchClose},
}

func (t *trial) needWakeUps() {
	if t.limits.WakeUp == backend.Timed {
		t.stop(NotClaimed, "Limits.WakeUp is %q: followers wait for the lease's end", t.limits.WakeUp)
	}
}

func (t *trial) watch(ctx context.Context, s backend.LeaseStore) <-chan struct{} {
	ch, err := s.Watch(ctx, t.election)
	if err != nil {
		t.Fatalf("watch: %v", err)
	}
	return ch
}

// woken waits for a wake-up.
func (t *trial) woken(ch <-chan struct{}, by string) { t.wokenWithin(ch, by, generous) }

func (t *trial) wokenWithin(ch <-chan struct{}, by string, limit time.Duration) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case _, open := <-ch:
		if !open {
			t.Fatalf("the watch ended before it was woken by %s", by)
		}
	case <-timer.C:
		t.Fatalf("no wake-up by %s within %v", by, limit)
	}
}

// drain takes the wake-ups that are there already.
func (t *trial) drain(ch <-chan struct{}) {
	for {
		select {
		case _, open := <-ch:
			if !open {
				t.Fatalf("the watch has ended though neither its context nor its store has")
			}
		default:
			return
		}
	}
}

// closes waits for the end of a watch; wake-ups that were under way may come before.
func (t *trial) closes(ch <-chan struct{}, when string) {
	timer := time.NewTimer(generous)
	defer timer.Stop()
	for {
		select {
		case _, open := <-ch:
			if !open {
				return
			}
		case <-timer.C:
			t.Fatalf("the watch's channel is still open %v after %s", generous, when)
		}
	}
}

// settle takes the wake-ups that are under way until none has come for a while. A store may have spurious ones without end.
func (t *trial) settle(ch <-chan struct{}) {
	for range 20 {
		timer := time.NewTimer(5 * time.Millisecond)
		select {
		case _, open := <-ch:
			timer.Stop()
			if !open {
				t.Fatalf("the watch ended by itself")
			}
		case <-timer.C:
			return
		}
	}
}

func watchEachChange(t *trial) {
	t.needWakeUps()
	same, other := t.watch(t.ctx, t.a), t.watch(t.ctx, t.b)
	both := func(by string) {
		t.woken(same, by)
		t.woken(other, by+" through another client")
		t.settle(same)
		t.settle(other)
	}
	t.settle(same)
	t.settle(other)
	l := t.grant(t.a, t.claim("P"))
	both("the first grant")
	t.renew(t.a, l) // may wake or not
	t.settle(same)
	t.settle(other)
	t.release(t.a, l, backend.Handover{})
	both("a release")
	l = t.grant(t.a, t.claim("P"))
	both("the next grant")
	t.release(t.a, l, backend.Handover{To: t.id("Q"), For: t.long})
	both("a release with a reservation")
}

func watchManyChanges(t *trial) {
	t.needWakeUps()
	ch := t.watch(t.ctx, t.b)
	for i := range 30 {
		l := t.grant(t.a, t.claim("P"))
		t.woken(ch, "a grant")
		if i%3 == 0 {
			t.settle(ch)
		}
		t.release(t.a, l, backend.Handover{})
		if i%2 == 0 {
			t.woken(ch, "a release")
		}
		t.settle(ch)
	}
}

func watchBusyReceiver(t *trial) {
	t.needWakeUps()
	ch := t.watch(t.ctx, t.b)
	for range 50 {
		t.next(t.a, "P", 0) // a store that waits for the receiver hangs here
	}
	t.next(t.b, "Q", 0)
	t.woken(ch, "many changes")
	t.settle(ch)
	t.grant(t.a, t.claim("P"))
	t.woken(ch, "a grant after many changes that nobody received")
}

func watchMany(t *trial) {
	t.needWakeUps()
	ctx, cancel := context.WithCancel(t.ctx)
	defer cancel()
	ends := t.watch(ctx, t.b)
	stays := []<-chan struct{}{t.watch(t.ctx, t.b), t.watch(t.ctx, t.b), t.watch(t.ctx, t.a)}
	l := t.grant(t.a, t.claim("P"))
	t.woken(ends, "a grant")
	for _, ch := range stays {
		t.woken(ch, "a grant")
		t.settle(ch)
	}
	cancel()
	t.closes(ends, "the end of its context")
	t.release(t.a, l, backend.Handover{})
	for _, ch := range stays {
		t.woken(ch, "a release after another watch of the election has ended")
	}
}

func watchRemoval(t *trial) {
	t.needWakeUps()
	if t.suite.Remove == nil {
		t.stop(Untested, "Suite.Remove is not set")
	}
	l := t.grant(t.a, t.claim("P"))
	ch := t.watch(t.ctx, t.b)
	t.settle(ch)
	t.history.add(call{op: "remove", election: t.election, sent: t.history.now()})
	t.suite.Remove(opener{t}, t.election)
	t.woken(ch, "the removal of the record")
	_, err := t.a.Renew(t.ctx, l)
	t.refused("renewal after the removal of the record", err, backend.ErrNotHeld)
}

func watchContextEnds(t *trial) {
	ctx, cancel := context.WithCancel(t.ctx)
	defer cancel()
	ch := t.watch(ctx, t.a)
	t.grant(t.a, t.claim("P"))
	cancel()
	t.closes(ch, "the end of its context")
	for d := 10 * time.Millisecond; ; d *= 2 { // a deadline that lets the watch begin
		short := t.deadline(d)
		ch, err := t.a.Watch(short, t.election)
		if err == nil {
			t.closes(ch, "its deadline")
			return
		}
		if short.Err() == nil || d > generous {
			t.Fatalf("watch: %v", err)
		}
	}
}

// deadline is a context that ends after d.
func (t *trial) deadline(d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.ctx, d)
	t.Cleanup(cancel)
	return ctx
}

func watchClose(t *trial) {
	s := t.open()
	mine := []<-chan struct{}{t.watch(t.ctx, s), t.watch(t.ctx, s)}
	other := t.watch(t.ctx, t.b)
	if err := s.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	for _, ch := range mine {
		t.closes(ch, "the store was closed")
	}
	if t.limits.WakeUp != backend.Timed {
		t.grant(t.a, t.claim("P"))
		t.woken(other, "a grant after another client was closed")
	}
}
