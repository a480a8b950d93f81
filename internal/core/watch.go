package core

import "time"

type watchState uint8

const (
	watchClosed watchState = iota
	watchOpening
	watchOpen
)

// watch is the subscription to changes, open while campaigning.
type watch struct {
	state    watchState
	request  uint64
	next     int64 // when to open it again
	opened   int64
	failures int
}

func (m *Machine) advanceWatch() {
	if m.now.Mono >= m.dueWatch() {
		m.watch.state = watchOpening
		m.watch.request = m.request(Action{Kind: DoOpenWatch}, m.cfg.AttemptTimeout)
	}
}

// dueWatch is when to open the watch, or to open it again. While looks fail there is no use in it: the look that succeeds brings it back.
func (m *Machine) dueWatch() int64 {
	if m.watch.state != watchClosed || m.watch.failures > 0 && m.campaign.failures > 0 {
		return never
	}
	return m.watch.next
}

func (m *Machine) closeWatch() {
	if m.watch.state != watchClosed {
		m.do(Action{Kind: DoCloseWatch, Request: m.watch.request})
	}
	m.watch = watch{}
}

func (m *Machine) onWatch(e Event) {
	w, c := &m.watch, m.campaign
	if e.Request != w.request || w.state == watchClosed {
		return
	}
	switch {
	case e.Kind == WatchOpened && e.Err == nil:
		w.state, w.opened = watchOpen, m.now.Mono
		wait := time.Duration(0) // whatever changed before the watch was open
		if c.failures > 0 {      // the store is back, for everybody
			wait = m.jitter(m.cfg.Spread)
		}
		m.lookSoon(wait)
	case e.Kind == Woken:
		if c.failures == 0 && !c.woken { // else the wait is the store's protection, or chosen already
			m.lookSoon(m.early())
			c.woken = true
		}
	default: // failed or ended
		if e.Err != nil {
			m.notify(Notice{Kind: NoteFailed, Err: e.Err})
		}
		failures := w.failures + 1
		if w.state == watchOpen && m.now.Mono-w.opened >= int64(m.cfg.TTL) {
			failures = 1 // it was of use
		}
		m.closeWatch()
		w.failures = failures
		w.next = m.now.Mono + int64(m.backoff(w.failures, m.cfg.TTL))
		c.watchBy = m.now.Mono // don't wait for it: the timer does the work meanwhile
	}
}

// spread is how long to wait after a wake-up that others had at the same moment. A follower learns from the races it loses how many there are: alone it loses no time;
// of hundreds, which lose race after race, few claim at once.
func (m *Machine) spread() time.Duration {
	return m.jitter(m.cfg.Spread - m.cfg.Spread>>m.rivals)
}

// mostRivals is where the spread has practically reached its full width.
const mostRivals = 6

// raced takes note of a claim that a wake-up had called for.
func (m *Machine) raced(won bool) {
	switch {
	case !m.campaign.called:
	case won:
		m.rivals /= 2
	case m.rivals < mostRivals:
		m.rivals++
	}
}

// lookSoon brings the next look forward.
func (m *Machine) lookSoon(wait time.Duration) {
	c := m.campaign
	if c.request != 0 {
		c.woken = true
		return
	}
	c.next = min(c.next, m.now.Mono+int64(wait))
}
