package conformance

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/tenure-go/tenure/backend"
)

// weather is what becomes of the messages between one candidate and the store, until it changes.
type weather int

const (
	fair       weather = iota
	blackHole          // no request arrives: calls hang until they are given up
	replyLoss          // requests arrive, replies don't
	heldBack           // requests wait until the weather changes and arrive then, also those that were given up
	refusing           // every call fails at once
	denying            // the server says that credentials are missing
	allWeather = 6
)

// wire is one candidate's way to its store. Unlike a link it fails for as long as the weather lasts, and covers reads and watches too. It hides the optional interfaces of
// the store, so that nothing gets around it.
type wire struct {
	inner backend.LeaseStore

	mu      sync.Mutex
	weather weather
	lag     time.Duration // of replies
	mute    string        // calls of this kind get no reply
	changed chan struct{} // closed when the weather changes
	calls   map[string]int
	slowest time.Duration // of the calls that arrived
	late    sync.WaitGroup
	closed  bool
}

var _ backend.LeaseStore = (*wire)(nil)

func newWire(s backend.LeaseStore) *wire {
	return &wire{inner: s, changed: make(chan struct{}), calls: make(map[string]int)}
}

func (w *wire) set(to weather) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.weather = to
	close(w.changed)
	w.changed = make(chan struct{})
}

// delay makes the replies to later requests late.
func (w *wire) delay(lag time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lag = lag
}

// silence loses the replies to one kind of calls.
func (w *wire) silence(op string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mute = op
}

func (w *wire) now() (weather, <-chan struct{}, time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.weather, w.changed, w.lag
}

// asked is how many calls were made, of the named kinds or of all.
func (w *wire) asked(ops ...string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	for _, op := range ops {
		n += w.calls[op]
	}
	if len(ops) == 0 {
		for _, calls := range w.calls {
			n += calls
		}
	}
	return n
}

// carry takes a request to the store, as the weather permits.
func carry[T any](ctx context.Context, w *wire, op string, request func(context.Context) (T, error)) (T, error) {
	w.mu.Lock()
	w.calls[op]++
	mute := w.mute == op
	w.mu.Unlock()
	var none T
	weather, changed, lag := w.now()
	switch weather {
	case refusing:
		return none, errLost
	case denying:
		return none, fmt.Errorf("%w: the password has expired", backend.ErrDenied)
	case blackHole:
		<-ctx.Done()
		return none, context.Cause(ctx)
	case heldBack:
		return deliverLate(ctx, w, changed, request)
	case fair, replyLoss:
	}
	start := time.Now()
	answer, err := request(ctx)
	w.took(time.Since(start))
	if weather == replyLoss || mute {
		<-ctx.Done()
		return none, context.Cause(ctx)
	}
	if pause(ctx, lag); ctx.Err() != nil {
		return none, context.Cause(ctx)
	}
	return answer, err
}

func (w *wire) took(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.slowest = max(w.slowest, d)
}

// deliverLate delivers a request when the weather has changed. Whoever gave it up meanwhile is not told.
func deliverLate[T any](ctx context.Context, w *wire, changed <-chan struct{}, request func(context.Context) (T, error)) (T, error) {
	type reply struct {
		answer T
		err    error
	}
	replies := make(chan reply, 1)
	deliver := func() {
		<-changed
		answer, err := request(context.WithoutCancel(ctx))
		replies <- reply{answer, err}
	}
	w.mu.Lock()
	if !w.closed { // else the case is over, and nobody waits for what is late
		w.late.Go(deliver)
	}
	w.mu.Unlock()
	select {
	case r := <-replies:
		return r.answer, r.err
	case <-ctx.Done():
		var none T
		return none, context.Cause(ctx)
	}
}

func (w *wire) Acquire(ctx context.Context, c backend.Claim) (backend.Lease, error) {
	return carry(ctx, w, "acquire", func(ctx context.Context) (backend.Lease, error) { return w.inner.Acquire(ctx, c) })
}

func (w *wire) Renew(ctx context.Context, l backend.Lease) (backend.Lease, error) {
	return carry(ctx, w, "renew", func(ctx context.Context) (backend.Lease, error) { return w.inner.Renew(ctx, l) })
}

func (w *wire) Release(ctx context.Context, l backend.Lease, h backend.Handover) error {
	_, err := carry(ctx, w, "release", func(ctx context.Context) (struct{}, error) { return struct{}{}, w.inner.Release(ctx, l, h) })
	return err
}

func (w *wire) Get(ctx context.Context, election string) (backend.Record, error) {
	return carry(ctx, w, "get", func(ctx context.Context) (backend.Record, error) { return w.inner.Get(ctx, election) })
}

// Watch passes wake-ups on in fair weather alone, and one more when the weather changes, as after a reconnect.
func (w *wire) Watch(ctx context.Context, election string) (<-chan struct{}, error) {
	if at, _, _ := w.now(); at == heldBack {
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	changes, err := carry(ctx, w, "watch", func(ctx context.Context) (<-chan struct{}, error) { return w.inner.Watch(ctx, election) })
	if err != nil {
		return nil, err
	}
	passed := make(chan struct{}, 1)
	w.late.Go(func() { w.pass(changes, passed) })
	return passed, nil
}

// pass ends when changes is closed.
func (w *wire) pass(changes <-chan struct{}, passed chan<- struct{}) {
	defer close(passed)
	for {
		_, changed, _ := w.now()
		select {
		case _, open := <-changes:
			if !open {
				return
			}
		case <-changed:
		}
		if at, _, _ := w.now(); at == fair {
			select {
			case passed <- struct{}{}:
			default: // one is waiting already
			}
		}
	}
}

func (w *wire) Limits() backend.Limits { return w.inner.Limits() }

// Close does nothing: the store is the trial's.
func (w *wire) Close() error { return nil }

// close waits for what is late. Later calls leave nothing behind.
func (w *wire) close() {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.late.Wait()
}
