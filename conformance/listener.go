package conformance

import (
	"context"
	"sync"

	"github.com/tenure-go/tenure/backend"
)

// listener is a function to be woken, and what it was told.
type listener struct {
	ch   chan struct{} // room for one wake-up; closed by wake(false)
	stop func()

	mu      sync.Mutex
	calls   int
	ends    int
	stopped bool
	late    int // calls after stop had returned
}

func (l *listener) wake(open bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls++
	switch {
	case l.stopped:
		l.late++
	case !open:
		l.ends++
		if l.ends == 1 {
			close(l.ch)
		}
	case l.ends == 0:
		select {
		case l.ch <- struct{}{}:
		default:
		}
	default: // after the end
		l.late++
	}
}

// halt stops the watch, twice.
func (l *listener) halt() {
	l.stop()
	l.mu.Lock()
	l.stopped = true
	l.mu.Unlock()
	l.stop()
}

// told returns how often the function was told of the end, and how often it was called when it may not be any more.
func (l *listener) told() (ends, late int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ends, l.late
}

// listen watches an election, and stops before the client is closed.
func (t *trial) listen(ctx context.Context, s *recorder, election string) *listener {
	l := &listener{ch: make(chan struct{}, 1)}
	stop, err := backend.Notify(ctx, s.LeaseStore, election, l.wake)
	if err != nil {
		t.Fatalf("notify: %v", err)
	}
	l.stop = stop
	t.Cleanup(l.halt)
	return l
}

func (t *trial) quiet(l *listener, when string) {
	if _, late := l.told(); late != 0 {
		t.Errorf("wake was called %d times %s", late, when)
	}
}
