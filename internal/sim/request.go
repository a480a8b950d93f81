package sim

import (
	"context"
	"fmt"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/clock"
	"github.com/tenure-go/tenure/internal/core"
)

// request is a call of a member on its way to the store or a guard and back.
type request struct {
	m        *member
	kind     core.ActionKind
	number   uint64
	guard    int
	lease    backend.Lease
	claim    backend.Claim
	handover backend.Handover
	sent     clock.Reading
	answered bool
	original *request // of a copy
	reply    core.Event
	sight    sight // of a driver that looks before it takes over
	slowed   bool  // it has waited for a slow disk
}

var (
	errRefused  = fmt.Errorf("connection refused")
	errNoHost   = fmt.Errorf("no such host")
	errTLS      = fmt.Errorf("tls: handshake failure")
	errFull     = fmt.Errorf("no space left on device")
	errReset    = fmt.Errorf("connection reset by peer")
	errForeign  = fmt.Errorf("the value is not of this program")
	errOldNode  = fmt.Errorf("this member leads no more")
	errNoAccess = fmt.Errorf("%w: the password has expired", backend.ErrDenied)
)

var replyKinds = [...]core.EventKind{
	core.DoGet: core.GotRecord, core.DoAcquire: core.Acquired, core.DoRenew: core.Renewed, core.DoRelease: core.Released, core.DoSeal: core.Sealed,
}

// send reads the clocks, starts the timeout and lets the network carry the request, as the shell's call does.
func (m *member) send(a *core.Action) {
	w := m.p.w
	r := &request{m: m, kind: a.Kind, number: a.Request, guard: a.Guard, lease: a.Lease, claim: a.Claim, handover: a.Handover, sent: m.p.read()}
	w.check.sends(r)
	m.count(r, 1)
	w.schedule(m.p.osc.lasts(a.Timeout), event{kind: evTimeout, m: m, r: r})
	m.p.carry(r)
}

func (m *member) count(r *request, n int) {
	switch r.kind {
	case core.DoAcquire:
		m.flights.acquires += n
	case core.DoRenew:
		m.flights.renewals += n
	default:
	}
}

// carry takes the request to its server, if the network lets it.
func (p *process) carry(r *request) {
	w, s := p.w, p.slot
	if k, err, fails := p.failsAtOnce(r); fails {
		w.hit(k)
		r.reply.Err = err
		w.schedule(p.latency(), event{kind: evReply, m: r.m, r: r})
		return
	}
	if k, lost := p.losesRequest(r); lost {
		w.hit(k)
		w.noteRequest(r, "is lost on its way")
		return
	}
	there := p.latency()
	if s.has(LateRequests) {
		w.hit(LateRequests)
		there += p.net.upTo(s.arg[LateRequests])
		w.noteRequest(r, "is held up")
	}
	if s.has(ResignInRenewal) && r.kind == core.DoRenew { // it comes when the next term may have begun
		there += p.net.upTo(int64(time.Second))
	}
	if s.has(Duplicated) {
		w.hit(Duplicated)
		twin := *r
		twin.original = r
		again := there + p.net.upTo(s.arg[Duplicated])
		w.straggler(again)
		w.schedule(again, event{kind: evArrive, r: &twin})
	}
	w.straggler(there)
	w.schedule(there, event{kind: evArrive, r: r})
}

// failsAtOnce is about requests that don't leave the process's host.
func (p *process) failsAtOnce(r *request) (Kind, error, bool) { //nolint:revive // the error is a value here, not an outcome
	s := p.slot
	switch {
	case r.kind == core.DoSeal:
	case s.has(Refused):
		return Refused, errRefused, true
	case s.has(NoDNS):
		return NoDNS, errNoHost, true
	case s.has(TLSFails):
		return TLSFails, errTLS, true
	case s.has(Denied):
		return Denied, errNoAccess, true
	}
	return 0, nil, false
}

// isolated reports that nothing gets through, in neither direction.
func (s *slot) isolated() (Kind, bool) {
	for _, k := range [...]Kind{Partition, Swizzled} {
		if s.has(k) {
			return k, true
		}
	}
	return CutAtGrant, s.process.w.now < s.cut
}

func (p *process) losesRequest(r *request) (Kind, bool) {
	s := p.slot
	if k, cut := s.isolated(); cut {
		return k, true
	}
	if r.kind == core.DoSeal {
		return GuardsCut, s.has(GuardsCut)
	}
	for _, k := range [...]Kind{StoreCut, RequestLost, PoolExhausted, HalfOpen} {
		if s.has(k) {
			return k, true
		}
	}
	return AsymmetricLoss, s.has(AsymmetricLoss) && r.number%2 == 0
}

func (p *process) losesReply(r *request) (Kind, bool) {
	s := p.slot
	if k, cut := s.isolated(); cut {
		return k, true
	}
	if r.kind == core.DoSeal {
		return GuardsCut, s.has(GuardsCut)
	}
	for _, k := range [...]Kind{StoreCut, ReplyLost} {
		if s.has(k) {
			return k, true
		}
	}
	return 0, false
}

// arrive lets the server answer and sends the reply back.
func (w *run) arrive(r *request) {
	if r.kind == core.DoSeal {
		r.reply.Err = w.seal(r)
		w.goBack(r)
		return
	}
	if d := w.server.delay(r); d > 0 {
		w.straggler(d)
		w.schedule(d, event{kind: evArrive, r: r})
		return
	}
	if w.server.serve(r) {
		w.goBack(r)
	}
}

func (w *run) goBack(r *request) {
	p := r.m.p
	if s := p.slot; s.has(CutAtGrant) && r.kind == core.DoAcquire && r.reply.Err == nil {
		s.cut = w.now + s.arg[CutAtGrant]
		w.quiet = max(w.quiet, s.cut)
	}
	if k, lost := p.losesReply(r); lost {
		w.hit(k)
		w.noteRequest(r, "is done, but its reply is lost")
		return
	}
	back := p.latency()
	if p.slot.has(Reordered) {
		w.hit(Reordered)
		back += p.net.upTo(p.slot.arg[Reordered])
	}
	if p.slot.has(Garbled) && r.reply.Err == nil && (r.kind == core.DoAcquire || r.kind == core.DoRenew) {
		w.hit(Garbled)
		r.reply.Lease.Token += 7
		r.reply.Lease.Attempt[15] ^= 0xff
	}
	w.schedule(back, event{kind: evReply, m: r.m, r: r})
}

// deliver hands the reply to the machine, unless it has given up.
func (w *run) deliver(r *request, e core.Event) {
	first := r
	if r.original != nil {
		first = r.original
	}
	if first.answered {
		return
	}
	first.answered = true
	r.m.count(r, -1)
	e.Kind, e.Request, e.Sent, e.Guard = replyKinds[r.kind], r.number, r.sent, r.guard
	w.check.answered(first, &e)
	if e.Err != nil {
		w.noteAnswer(r, e.Err)
	}
	r.m.step(e)
}

func (w *run) expire(r *request) {
	if r.answered {
		return
	}
	if w.world.boundWatch && r.m.watching { // the connection is given up, and the watch with it
		r.m.drop()
	}
	w.deliver(r, core.Event{Err: context.DeadlineExceeded})
}

// straggler notes how long messages are under way: none may be, where the world is said to be healthy again.
func (w *run) straggler(d int64) {
	if d > int64(100*time.Millisecond) {
		w.quiet = max(w.quiet, w.now+d)
	}
}
