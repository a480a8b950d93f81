package backend

import (
	"context"
	"sync"
)

// Notifier is an optional interface of stores whose watches cost their caller no goroutine, so that one process can watch thousands of elections.
type Notifier interface {
	// Notify is Watch with a function in place of the channel: after it has returned, each later change of the election must be followed by at least one call of wake(true), and each
	// reconnect by one; wake-ups are coalesced and may be spurious. ctx bounds the call alone. The watch lives until stop is called, or until the store is closed, which must be followed by one last
	// call, wake(false). After stop has returned there must be no more calls. stop must be safe to call twice and must not be called by wake. wake must return at once; the store may hold its
	// own locks meanwhile.
	Notify(ctx context.Context, election string, wake func(open bool)) (stop func(), err error)
}

// Notify watches an election as [Notifier] says. For a store without it, it receives from Watch on a goroutine of its own, which ends with the watch.
func Notify(ctx context.Context, s LeaseStore, election string, wake func(open bool)) (stop func(), err error) {
	if n, ok := As[Notifier](s); ok {
		return n.Notify(ctx, election, wake)
	}
	watching, cancel := context.WithCancel(context.WithoutCancel(ctx))
	opened := context.AfterFunc(ctx, cancel)
	changes, err := s.Watch(watching, election)
	if !opened() && err == nil {
		err = context.Cause(ctx) // the watch was cancelled while it opened
	}
	if err != nil {
		cancel()
		return nil, err
	}
	var receiving sync.WaitGroup
	receiving.Go(func() { receive(watching, changes, wake) })
	return func() {
		cancel()
		receiving.Wait()
	}, nil
}

// receive passes wake-ups on until the watch is over.
func receive(ctx context.Context, changes <-chan struct{}, wake func(open bool)) {
	for {
		select {
		case _, open := <-changes:
			if ctx.Err() != nil {
				return
			}
			wake(open)
			if !open {
				return
			}
		case <-ctx.Done(): // a store that doesn't close its channel must not keep us
			return
		}
	}
}

// Notify checks the name and holds the deadline, as Watch does.
func (w *wrapped) Notify(ctx context.Context, election string, wake func(open bool)) (func(), error) {
	if err := CheckName("election", election); err != nil {
		return nil, w.fail("watch", election, err)
	}
	var late lateStop
	stop, err := run(ctx, w, func(ctx context.Context) (func(), error) {
		stop, err := Notify(ctx, w.inner, election, wake)
		return stop, late.opened(stop, err)
	})
	if err != nil {
		late.giveUp()
		return nil, w.fail("watch", election, err)
	}
	return stop, nil
}

// lateStop ends a watch that a driver opened after its caller had given up.
type lateStop struct {
	mu     sync.Mutex
	gaveUp bool
	stop   func()
}

func (l *lateStop) opened(stop func(), err error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil && l.gaveUp {
		stop()
		return context.Canceled
	}
	l.stop = stop
	return err
}

func (l *lateStop) giveUp() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.gaveUp = true
	if l.stop != nil {
		l.stop()
	}
}
