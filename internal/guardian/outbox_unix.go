//go:build linux || darwin

package guardian

import (
	"io"
	"slices"
	"sync"
	"syscall"
)

// outbox writes orders to the guardian. Putting one in never waits: a frozen
// guardian fills the pipe and blocks only the writer, and meanwhile just the
// latest deadline, each signal once and the latest stop are kept.
type outbox struct {
	w    io.WriteCloser
	wake chan struct{}

	mu       sync.Mutex
	closed   bool
	first    []byte
	deadline *order
	signals  []syscall.Signal
	stop     *order
}

func newOutbox(w io.WriteCloser, first []byte) *outbox {
	o := &outbox{w: w, wake: make(chan struct{}, 1), first: first}
	o.ring()
	return o
}

func (o *outbox) put(m order) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch m.verb {
	case "deadline":
		o.deadline = &m
	case "signal":
		if !slices.Contains(o.signals, m.signal) {
			o.signals = append(o.signals, m.signal)
		}
	case "stop":
		o.stop = &m
	}
	o.ring()
}

func (o *outbox) ring() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// run writes until close. A failed write means that the guardian is gone; its
// status pipe tells the same, so here it is only an end.
func (o *outbox) run() {
	for range o.wake {
		lines, closed := o.take()
		if closed {
			return
		}
		if _, err := o.w.Write(lines); err != nil {
			return
		}
	}
}

func (o *outbox) take() (lines []byte, closed bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	lines, o.first = o.first, nil
	if o.deadline != nil {
		lines = append(lines, o.deadline.line()...)
	}
	for _, s := range o.signals {
		lines = append(lines, order{verb: "signal", signal: s}.line()...)
	}
	if o.stop != nil {
		lines = append(lines, o.stop.line()...)
	}
	o.deadline, o.signals, o.stop = nil, nil, nil
	return lines, o.closed
}

// close ends run, also out of a blocked write.
func (o *outbox) close() {
	o.mu.Lock()
	o.closed = true
	o.mu.Unlock()
	o.w.Close()
	o.ring()
}
