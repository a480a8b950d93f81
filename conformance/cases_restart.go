package conformance

import (
	"errors"
	"time"

	"github.com/tenure-go/tenure/backend"
)

var restartCases = []Case{
	{Name: "tokens grow over a restart of the store", Rule: s2, Alone: true, Covers: []string{"EC19", "EC29"}, run: func(t *trial) { t.tokensOver("restart", t.suite.Faults.Restart) }},
	{Name: "a live lease keeps others out over a restart of the store", Rule: s1, Alone: true, Covers: []string{"EC29", "EC30"}, run: func(t *trial) { t.leaseOver("restart", t.suite.Faults.Restart) }},
	{Name: "a watch is woken when the store is back after a restart", Rule: s7, Alone: true, Covers: []string{"R43", "EC58"}, run: watchRestart},
	{Name: "tokens grow over a fail-over", Rule: s2, Alone: true, Covers: []string{"R8", "R48", "EC14"}, run: func(t *trial) { t.tokensOver("fail-over", t.suite.Faults.Failover) }},
	{Name: "a live lease keeps others out over a fail-over", Rule: s1, Alone: true, Covers: []string{"EC38", "EC53", "R49"}, run: func(t *trial) { t.leaseOver("fail-over", t.suite.Faults.Failover) }},
	{Name: "a lease does not end early when the store's clock steps forward", Rule: s6, Alone: true, Covers: []string{"R15", "DX7", "DX19"}, run: skewed},
}

// server ends the case for a store without one.
func (t *trial) server() {
	if t.suite.Serverless {
		t.stop(NotClaimed, "the store has no server")
	}
}

// fault lets the suite's author do something to the server; the case is untested without it.
func (t *trial) fault(what string, f func(T)) {
	t.server()
	t.troubled = true
	if f == nil {
		t.stop(Untested, "Suite.Faults has no %s", what)
	}
	f(opener{t})
}

// keeps reports whether the store claims that acknowledged writes survive the fault.
func (t *trial) keeps(what string) bool {
	return t.limits.Durability == backend.Quorum || t.limits.Durability == backend.Local && what == "restart"
}

// serves repeats f while its outcome is unknown, as clients do until a server is back.
func (t *trial) serves(what string, f func() error) error {
	until := time.Now().Add(2 * generous)
	for {
		err := f()
		if c := backend.ClassOf(err); c != backend.Unknown || t.ctx.Err() != nil {
			return err
		}
		if time.Now().After(until) {
			t.Fatalf("%s: still %v, %v after the server was back", what, err, 2*generous)
		}
		t.wait(10 * t.step())
	}
}

// tokensOver checks that a grant after the fault has a greater token than all before, whether or not leases survive it.
func (t *trial) tokensOver(what string, fault func(T)) {
	kept := t.keeps(what)
	if !kept && t.limits.Tokens == backend.Counter {
		t.stop(NotClaimed, "Limits: a %s may lose the counter", what)
	}
	for range 3 {
		t.release(t.a, t.grant(t.a, t.claim("P")), backend.Handover{})
	}
	before := t.grant(t.a, t.brief("P"))
	if !kept {
		t.mayEnd()
	}
	t.fault(what, fault)
	c := t.brief("Q") // a store may hold a record back for as long as the challenger's TTL after its server was away
	var after backend.Lease
	until := time.Now().Add(2*before.TTL + t.limits.ExpiryLag + 2*generous)
	for {
		err := t.serves("acquire", func() (err error) { after, err = t.b.Acquire(t.ctx, c); return err })
		if err == nil {
			break
		}
		if !errors.Is(err, backend.ErrHeld) || time.Now().After(until) {
			t.Fatalf("acquire after a %s: %v", what, err)
		}
		t.wait(t.step())
	}
	t.above(after.Token, before.Token, what)
}

// mayEnd notes that what happens next may end the election's lease, without a call that asks for it. The order of tokens stays.
func (t *trial) mayEnd() {
	t.history.add(call{op: "remove", election: t.election, sent: t.history.now()})
}

// leaseOver checks that an acknowledged lease survives where the store claims that it does, and tells what was seen elsewhere.
func (t *trial) leaseOver(what string, fault func(T)) {
	kept := t.keeps(what)
	l := t.grant(t.a, t.claim("P"))
	t.fault(what, fault)
	err := t.serves("renewal", func() error { _, err := t.a.Renew(t.ctx, l); return err })
	if !kept {
		t.stop(NotClaimed, "acknowledged writes are %s: after a %s the holder's renewal gave %v", t.limits.Durability, what, orSuccess(err))
	}
	if err != nil {
		t.Fatalf("renewal of a live lease after a %s: %v", what, err)
	}
	err = t.serves("acquire", func() error { _, err := t.b.Acquire(t.ctx, t.claim("Q")); return err })
	t.refused("acquire by another after a "+what, err, backend.ErrHeld)
}

func watchRestart(t *trial) {
	t.needWakeUps()
	ch := t.watch(t.ctx, t.b)
	t.release(t.a, t.grant(t.a, t.claim("P")), backend.Handover{})
	t.woken(ch, "a change before the restart")
	t.fault("restart", t.suite.Faults.Restart)
	t.drain(ch)
	err := t.serves("acquire", func() error { _, err := t.a.Acquire(t.ctx, t.claim("P")); return err })
	if err != nil && !errors.Is(err, backend.ErrHeld) && !errors.Is(err, backend.ErrNotHeld) {
		t.Fatalf("acquire after a restart: %v", err)
	}
	t.wokenWithin(ch, "a change after the restart", 2*generous)
}

// skewed steps the server's clock by more than the lease's TTL, though by no more than the store allows.
func skewed(t *trial) {
	if !t.watched() {
		t.server()
	}
	if t.suite.Faults.Skew == nil {
		t.stop(Untested, "Suite.Faults has no skew")
	}
	l := t.grant(t.a, t.claim("P"))
	if !t.watched() {
		t.mayEnd()
	}
	t.suite.Faults.Skew(opener{t}, 2*t.long)
	_, err := t.b.Acquire(t.ctx, t.claim("Q"))
	if !t.watched() {
		t.stop(NotClaimed, "leases end by the store's clock: after a step of it another's acquire gave %v", orSuccess(err))
	}
	t.refused("acquire by another after the store's clock had stepped forward", err, backend.ErrHeld)
	t.renew(t.a, l)
}
