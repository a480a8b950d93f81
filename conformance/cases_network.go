package conformance

import (
	"context"
	"errors"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/testenv/proxy"
)

var networkCases = []Case{
	{Name: "an acquire whose reply is lost on the wire is repeated to the same term", Rule: s3, Covers: []string{"R3", "EC11", "DX10"}, run: wireLostAcquire},
	{Name: "a release whose reply is lost on the wire can be repeated, and frees no later term", Rule: s5, Covers: []string{"R5", "EC10"}, run: wireLostRelease},
	{Name: "renewals go on after all connections were cut", Rule: s4, Covers: []string{"R23", "EC31"}, run: wireCut},
	{Name: "every call returns with its context when the network swallows everything", Rule: s10, Covers: []string{"R56", "EC6", "EC26"}, run: wireBlackHole},
	{Name: "calls to a server that is away have an unknown outcome", Rule: s9, Covers: []string{"EC65"}, run: wireDown},
	{Name: "a watch whose connection was cut is woken by later changes", Rule: s7, Covers: []string{"R41", "EC23"}, run: wireCutWatch},
	{Name: "a lease is lost by nobody when one client is cut off for a while", Rule: s1, Waits: true, Covers: []string{"EC1", "EC33", "EC43"}, run: wireCutOff},
}

// wired is a client behind a faulty network, and the network.
func (t *trial) wired() (*recorder, *proxy.Proxy) {
	t.server()
	if t.suite.Server == "" || t.suite.Through == nil {
		t.stop(Untested, "the suite was not told how to put a proxy before the server: Suite.Server and Suite.Through")
	}
	t.troubled = true
	p, err := proxy.Listen(t.suite.Server)
	if err != nil {
		opener{t}.Fatalf("proxy: %v", err)
	}
	t.Cleanup(func() { _ = p.Close() }) // after the client is closed: cleanups run last first
	return t.record(t.suite.Through(opener{t}, p.Addr())), p
}

// hurried gives a call the time that an elector gives to an attempt.
func (t *trial) hurried(f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(t.ctx, callTime)
	defer cancel()
	return f(ctx)
}

// callTime is how long a call may take that can't succeed.
const callTime = time.Second

func wireLostAcquire(t *trial) {
	s, p := t.wired()
	t.release(s, t.grant(s, t.claim("O")), backend.Handover{}) // all connections are there
	c := t.claim("P")
	p.DropReplies()
	err := t.hurried(func(ctx context.Context) error { _, err := s.Acquire(ctx, c); return err })
	p.Heal()
	if backend.ClassOf(err) != backend.Unknown {
		t.Fatalf("acquire with all replies lost: got %v, want an unknown outcome", orSuccess(err))
	}
	first := t.get(t.b)
	var l backend.Lease
	if err := t.serves("acquire", func() (err error) { l, err = s.Acquire(t.ctx, c); return err }); err != nil {
		t.Fatalf("repeat of an acquire whose reply was lost: %v", err)
	}
	if first.Held() && (first.Attempt != c.Attempt || first.Token != l.Token) {
		t.Errorf("the lost call was granted token %d, its repeat token %d", first.Token, l.Token)
	}
	t.stillHeld(t.b, l, "the repeat of an acquire")
}

func wireLostRelease(t *trial) {
	s, p := t.wired()
	l := t.grant(s, t.claim("P"))
	p.DropReplies()
	err := t.hurried(func(ctx context.Context) error { return s.Release(ctx, l, backend.Handover{}) })
	p.Heal()
	if backend.ClassOf(err) != backend.Unknown {
		t.Fatalf("release with all replies lost: got %v, want an unknown outcome", orSuccess(err))
	}
	if err := t.serves("release", func() error { return s.Release(t.ctx, l, backend.Handover{}) }); err != nil {
		t.Errorf("repeat of a release whose reply was lost: %v", err)
	}
	later := t.grant(t.b, t.claim("P"))
	if err := t.serves("release", func() error { return s.Release(t.ctx, l, backend.Handover{}) }); err != nil && !errors.Is(err, backend.ErrNotHeld) {
		t.Errorf("late release of an earlier term: %v", err)
	}
	t.stillHeld(t.b, later, "a late release of the same candidate's earlier term")
}

func wireCut(t *trial) {
	s, p := t.wired()
	l := t.grant(s, t.claim("P"))
	for range 3 {
		p.Cut()
		if err := t.serves("renewal", func() error { _, err := s.Renew(t.ctx, l); return err }); err != nil {
			t.Fatalf("renewal of a live lease after the connections were cut: %v", err)
		}
	}
	t.stillHeld(t.b, l, "cut connections")
}

func wireBlackHole(t *trial) {
	s, p := t.wired()
	l := t.grant(s, t.claim("P"))
	p.BlackHole(proxy.Both)
	calls := map[string]func(context.Context) error{
		"acquire": func(ctx context.Context) error { _, err := s.Acquire(ctx, t.claim("Q")); return err },
		"renew":   func(ctx context.Context) error { _, err := s.Renew(ctx, l); return err },
		"release": func(ctx context.Context) error { return s.Release(ctx, l, backend.Handover{}) },
		"get":     func(ctx context.Context) error { _, err := s.Get(ctx, t.election); return err },
	}
	for name, call := range calls {
		began := time.Now()
		err := t.hurried(call)
		if took := time.Since(began); took > callTime+generous {
			t.Errorf("%s returned %v after its context's end", name, took-callTime)
		}
		if backend.ClassOf(err) != backend.Unknown {
			t.Errorf("%s while the network swallows everything: got %v, want an unknown outcome", name, orSuccess(err))
		}
	}
	p.Heal()
}

func wireDown(t *trial) {
	s, p := t.wired()
	l := t.grant(s, t.claim("P"))
	p.Down()
	for name, call := range map[string]func(context.Context) error{
		"acquire": func(ctx context.Context) error { _, err := s.Acquire(ctx, t.claim("Q")); return err },
		"renew":   func(ctx context.Context) error { _, err := s.Renew(ctx, l); return err },
		"get":     func(ctx context.Context) error { _, err := s.Get(ctx, t.election); return err },
	} {
		if err := t.hurried(call); backend.ClassOf(err) != backend.Unknown {
			t.Errorf("%s to a server that is away: got %v, want an unknown outcome", name, orSuccess(err))
		}
	}
	p.Heal()
	if err := t.serves("renewal", func() error { _, err := s.Renew(t.ctx, l); return err }); err != nil {
		t.Errorf("renewal of a live lease when the server is back: %v", err)
	}
}

func wireCutWatch(t *trial) {
	t.needWakeUps()
	s, p := t.wired()
	ch := t.watch(t.ctx, s)
	t.release(t.a, t.grant(t.a, t.claim("P")), backend.Handover{})
	t.woken(ch, "a change before the cut")
	t.drain(ch)
	p.Down()
	t.release(t.a, t.grant(t.a, t.claim("P")), backend.Handover{}) // nobody can tell s
	p.Heal()
	t.wokenWithin(ch, "the reconnect after a cut", 3*generous)
	t.drain(ch)
	t.grant(t.a, t.claim("P"))
	t.wokenWithin(ch, "a change after the cut", generous)
}

// wireCutOff cuts the holder off for longer than its TTL: another gets the election, and what the holder sends afterwards changes nothing.
func wireCutOff(t *trial) {
	s, p := t.wired()
	old := t.grant(s, t.brief("P"))
	p.BlackHole(proxy.Both)
	_ = t.hurried(func(ctx context.Context) error { _, err := s.Renew(ctx, old); return err }) // it is on its way
	l := t.succeed(t.b, t.claim("Q"), time.Now().Add(2*old.TTL+t.limits.ExpiryLag+generous))
	p.Heal()
	err := t.serves("renewal", func() error { _, err := s.Renew(t.ctx, old); return err })
	t.refused("renewal by a holder that was cut off and succeeded", err, backend.ErrNotHeld)
	err = t.serves("release", func() error { return s.Release(t.ctx, old, backend.Handover{}) })
	t.refused("release by a holder that was cut off and succeeded", err, backend.ErrNotHeld)
	t.stillHeld(t.b, l, "late calls of a holder that was cut off")
}
