package sim

import (
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/core"
	"github.com/tenure-go/tenure/internal/record"
)

// raft is a cluster with a leader of its own, which times the leases: etcd. When it elects another leader all leases begin anew. The old leader may not know, and
// still answer those who are connected to it.
type raft struct {
	linear
	naive bool // a renewal rests on the member's answer alone; else a quorum is asked as well
}

func (l *raft) answer(r *request, e *record.Entry) bool {
	s := l.s
	if r.m.p.slot.has(StaleLeader) {
		s.w.hit(StaleLeader)
		if r.kind != core.DoRenew {
			return false // needs a quorum
		}
		if l.naive {
			r.reply.Lease = r.lease
			return true
		}
		r.reply.Err = errOldNode
		return true
	}
	whole := func(d time.Duration) time.Duration { return (d + time.Second - 1).Truncate(time.Second) }
	r.claim.TTL, r.lease.TTL = whole(r.claim.TTL), whole(r.lease.TTL)
	before := e.Expires
	l.linear.answer(r, e)
	if s.has(OldAnchor) && r.reply.Err == nil && (r.kind == core.DoAcquire || r.kind == core.DoRenew) {
		s.w.hit(OldAnchor)
		l.anchor(&r.reply.Lease, e)
		e.Expires = max(e.Expires, before) // a copy that comes late makes nothing shorter
	}
	return true
}

// anchor puts the lease onto one that was refreshed a while ago.
func (l *raft) anchor(lease *backend.Lease, e *record.Entry) {
	age := l.s.w.serverDice.upTo(l.s.arg[OldAnchor])
	e.Expires -= age
	lease.AnchorAge = time.Duration(age + age/100) // by the holder's clock
}

func (l *raft) strike(o *Occurrence) {
	if o.Kind == LeaderChange {
		l.s.w.hit(LeaderChange)
		l.s.dropWatches()
		return
	}
	l.linear.strike(o)
}

func (l *raft) heal(o *Occurrence) {
	if o.Kind != LeaderChange {
		return
	}
	now := l.clock()
	for i := range l.s.entries {
		if e := &l.s.entries[i]; e.Live(now) {
			e.Expires = now.Now + int64(e.TTL)
			l.s.w.quiet = max(l.s.w.quiet, l.s.w.now+int64(e.TTL))
		}
	}
}
