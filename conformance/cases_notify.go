package conformance

import (
	"context"
	"fmt"
	"time"

	"github.com/tenure-go/tenure/backend"
)

var notifyCases = []Case{
	{Name: "a function is woken by the first grant, by a release and by the next grant", Rule: notify, run: notifyEachChange},
	{Name: "a function is woken by each of many changes, and other elections' changes lose none", Rule: notify, run: notifyManyChanges},
	{Name: "many functions at once are each woken by their own election", Rule: notify, run: notifyMany},
	{Name: "a function is not called after it was stopped, and the others still are", Rule: notify, run: notifyStopped},
	{Name: "a function that is stopped amid changes is not called after that", Rule: notify, run: notifyStoppedAmidChanges},
	{Name: "a function is woken by changes after the end of the call's context", Rule: notify, run: notifyOutlivesContext},
	{Name: "a function is told once that its store was closed, and a stopped one is not", Rule: notify, run: notifyClose},
	{Name: "a call to watch whose context has ended, or after Close, is refused and wakes nobody", Rule: notify, run: notifyRefused},
	{Name: "a function whose connection was cut is woken by the reconnect and by later changes", Rule: notify, Covers: []string{"R41", "EC23"}, run: notifyCut},
	{Name: "a function is woken when the store is back after a restart", Rule: notify, Alone: true, Covers: []string{"R43", "EC58"}, run: notifyRestart},
}

func notifyEachChange(t *trial) {
	t.needNotify()
	t.needWakeUps()
	same, other := t.listen(t.ctx, t.a, t.election), t.listen(t.ctx, t.b, t.election)
	both := func(by string) {
		t.woken(same.ch, by)
		t.woken(other.ch, by+" through another client")
		t.settle(same.ch)
		t.settle(other.ch)
	}
	t.settle(same.ch)
	t.settle(other.ch)
	l := t.grant(t.a, t.claim("P"))
	both("the first grant")
	t.renew(t.a, l) // may wake or not
	t.settle(same.ch)
	t.settle(other.ch)
	t.release(t.a, l, backend.Handover{})
	both("a release")
	l = t.grant(t.a, t.claim("P"))
	both("the next grant")
	t.release(t.a, l, backend.Handover{To: t.id("Q"), For: t.long})
	both("a release with a reservation")
}

func notifyManyChanges(t *trial) {
	t.needNotify()
	t.needWakeUps()
	w := t.listen(t.ctx, t.b, t.election)
	noise := t.claim("N")
	noise.Election = t.election + "/other"
	for i := range 30 {
		l := t.grant(t.a, t.claim("P"))
		t.woken(w.ch, "a grant")
		if i%3 == 0 {
			t.settle(w.ch)
		}
		noise.Attempt = t.attempt()
		t.release(t.a, t.grant(t.a, noise), backend.Handover{})
		t.release(t.a, l, backend.Handover{})
		if i%2 == 0 {
			t.woken(w.ch, "a release")
		}
		t.settle(w.ch)
	}
}

// watchedAtOnce is above what a store might hold per connection by chance.
const watchedAtOnce = 300

func notifyMany(t *trial) {
	t.needNotify()
	t.needWakeUps()
	listeners := make([]*listener, watchedAtOnce)
	for i := range listeners {
		listeners[i] = t.listen(t.ctx, t.b, fmt.Sprintf("%s/%d", t.election, i))
	}
	twin := t.listen(t.ctx, t.b, t.election+"/0")
	channel, err := t.b.Watch(t.ctx, t.election+"/0")
	if err != nil {
		t.Fatalf("watch: %v", err)
	}
	for i := 0; i < watchedAtOnce; i += 15 {
		c := t.claim("P")
		c.Election = fmt.Sprintf("%s/%d", t.election, i)
		t.settle(listeners[i].ch)
		t.grant(t.a, c)
		t.woken(listeners[i].ch, "a grant, as one of many")
		if i == 0 {
			t.woken(twin.ch, "a grant, as the second of its election")
			t.woken(channel, "a grant, as a channel beside functions")
		}
	}
}

func notifyStopped(t *trial) {
	t.needNotify()
	t.needWakeUps()
	stays, goes := t.listen(t.ctx, t.b, t.election), t.listen(t.ctx, t.b, t.election)
	l := t.grant(t.a, t.claim("P"))
	t.woken(stays.ch, "a grant")
	t.woken(goes.ch, "a grant")
	t.settle(stays.ch)
	goes.halt()
	for range 3 {
		t.release(t.a, l, backend.Handover{})
		t.woken(stays.ch, "a release after another watch of the election was stopped")
		t.settle(stays.ch)
		l = t.grant(t.a, t.claim("P"))
		t.woken(stays.ch, "a grant after another watch of the election was stopped")
		t.settle(stays.ch)
	}
	t.quiet(goes, "after stop")
	if ends, _ := goes.told(); ends != 0 {
		t.Errorf("stop called wake(false), which tells that the store was closed")
	}
	again := t.listen(t.ctx, t.b, t.election)
	t.release(t.a, l, backend.Handover{})
	t.woken(again.ch, "a release, watched anew after a stop")
	stays.halt()
	again.halt() // the last one of the election
	t.next(t.a, "P", 0)
	last := t.listen(t.ctx, t.b, t.election)
	t.next(t.a, "P", 0)
	t.woken(last.ch, "a term, watched anew after the last stop")
	t.quiet(stays, "after stop")
	t.quiet(again, "after stop")
}

func notifyStoppedAmidChanges(t *trial) {
	t.needNotify()
	t.needWakeUps()
	stays := t.listen(t.ctx, t.b, t.election)
	for range 10 {
		goes := t.listen(t.ctx, t.b, t.election)
		pause := t.jitter(2 * time.Millisecond)
		t.together(2, func(i int) {
			if i == 1 {
				timer := time.NewTimer(pause)
				defer timer.Stop()
				<-timer.C
				goes.halt()
				return
			}
			for range 3 {
				if l, err := t.a.Acquire(t.ctx, t.claim("P")); err == nil {
					_ = t.a.Release(t.ctx, l, backend.Handover{}) // what fails shows below
				}
			}
		})
		t.woken(stays.ch, "changes while another watch was stopped")
		t.settle(stays.ch)
		t.quiet(goes, "after stop")
	}
}

func notifyOutlivesContext(t *trial) {
	t.needNotify()
	t.needWakeUps()
	ctx, cancel := context.WithCancel(t.ctx)
	defer cancel()
	w := t.listen(ctx, t.b, t.election)
	cancel()
	short, end := context.WithTimeout(t.ctx, time.Second)
	defer end()
	timed := t.listen(short, t.b, t.election)
	<-short.Done()
	t.settle(w.ch)
	t.settle(timed.ch)
	for range 2 {
		l := t.grant(t.a, t.claim("P"))
		t.woken(w.ch, "a grant after the end of its call's context")
		t.woken(timed.ch, "a grant after its call's deadline")
		t.settle(w.ch)
		t.settle(timed.ch)
		t.release(t.a, l, backend.Handover{})
		t.woken(w.ch, "a release after the end of its call's context")
		t.woken(timed.ch, "a release after its call's deadline")
		t.settle(w.ch)
		t.settle(timed.ch)
	}
}
