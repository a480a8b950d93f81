package consul

import (
	"time"

	"github.com/tenure-go/tenure/backend"
)

// grip is what a lease carries in Opaque: the election's keys as this store last wrote them, so that a renewal needs no read. It is a cache; what it
// says is compared by every transaction.
type grip struct {
	leader      leader
	leaderIndex uint64
	session     string
	beat        beat
	beatIndex   uint64
}

// grasp returns the view that a lease carries, or nil when it carries none of its own term.
func grasp(l backend.Lease) *view {
	g, ok := l.Opaque.(grip)
	if !ok {
		return nil
	}
	v := &view{election: l.Election, leader: g.leader, leaderIndex: g.leaderIndex, session: g.session, beat: g.beat, beatIndex: g.beatIndex}
	if l.Token == 0 || !v.is(l) {
		return nil
	}
	return v
}

// lease is what a holder gets of a view that it has just written.
func (v *view) lease() backend.Lease {
	return backend.Lease{
		Election: v.election, Holder: v.leader.Holder, Token: v.leader.Token, Attempt: backend.Attempt(v.leader.Attempt), TTL: v.beat.TTL.span(),
		Opaque: grip{v.leader, v.leaderIndex, v.session, v.beat, v.beatIndex},
	}
}

// renewed is the beat after this one by a renewal.
func (b beat) renewed(ttl time.Duration) beat {
	b.TTL = inMillis(ttl)
	b.Renewals++
	return b
}

// repeated is the beat after this one by a repeat of the claim.
func (b beat) repeated(ttl time.Duration) beat {
	b.TTL = inMillis(ttl)
	b.Repeats++
	return b
}
