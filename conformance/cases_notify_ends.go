package conformance

import (
	"context"
	"errors"

	"github.com/tenure-go/tenure/backend"
)

func notifyClose(t *trial) {
	t.needNotify()
	s := t.open()
	mine := []*listener{t.listen(t.ctx, s, t.election), t.listen(t.ctx, s, t.election), t.listen(t.ctx, s, t.election+"/b")}
	stopped, other := t.listen(t.ctx, s, t.election), t.listen(t.ctx, t.b, t.election)
	stopped.halt()
	if err := s.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	for _, l := range mine {
		t.closes(l.ch, "the store was closed")
	}
	l := t.grant(t.a, t.claim("P"))
	if t.limits.WakeUp != backend.Timed {
		t.woken(other.ch, "a grant after another client was closed")
	}
	t.release(t.a, l, backend.Handover{})
	if err := s.Close(); err != nil {
		t.Errorf("a second close: %v", err)
	}
	for _, l := range mine {
		if ends, _ := l.told(); ends != 1 {
			t.Errorf("wake(false) was called %d times after Close, want it once", ends)
		}
		t.quiet(l, "after wake(false)")
		l.halt()
	}
	t.quiet(stopped, "after stop, by Close")
	if ends, _ := other.told(); ends != 0 {
		t.Errorf("the watch of another client was told that its store was closed")
	}
}

func notifyRefused(t *trial) {
	t.needNotify()
	w := &listener{ch: make(chan struct{}, 1), stopped: true}
	ended, cancel := context.WithCancel(t.ctx)
	cancel()
	if _, err := backend.Notify(ended, t.b.LeaseStore, t.election, w.wake); err == nil {
		t.Errorf("notify with an ended context succeeded")
	}
	s := t.open()
	if err := s.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	_, err := backend.Notify(t.ctx, s.LeaseStore, t.election, w.wake)
	t.refused("notify after Close", err, backend.ErrClosed)
	_, err = backend.Notify(t.ctx, t.b.LeaseStore, "", w.wake)
	t.refused("notify of an election without a name", err, backend.ErrInvalid)
	t.next(t.a, "P", 0)
	t.quiet(w, "after Notify was refused")
}

func notifyCut(t *trial) {
	t.needNotify()
	t.needWakeUps()
	s, p := t.wired()
	w := t.listen(t.ctx, s, t.election)
	t.next(t.a, "P", 0)
	t.woken(w.ch, "a change before the cut")
	t.drain(w.ch)
	p.Down()
	t.next(t.a, "P", 0) // nobody can tell s
	p.Heal()
	t.wokenWithin(w.ch, "the reconnect after a cut", 3*generous)
	t.drain(w.ch)
	t.grant(t.a, t.claim("P"))
	t.woken(w.ch, "a change after the cut")
}

func notifyRestart(t *trial) {
	t.needNotify()
	t.needWakeUps()
	w := t.listen(t.ctx, t.b, t.election)
	t.next(t.a, "P", 0)
	t.woken(w.ch, "a change before the restart")
	t.fault("restart", t.suite.Faults.Restart)
	t.drain(w.ch)
	err := t.serves("acquire", func() error { _, err := t.a.Acquire(t.ctx, t.claim("P")); return err })
	if err != nil && !errors.Is(err, backend.ErrHeld) && !errors.Is(err, backend.ErrNotHeld) {
		t.Fatalf("acquire after a restart: %v", err)
	}
	t.wokenWithin(w.ch, "a change after the restart", 2*generous)
}
