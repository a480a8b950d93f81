package explore

import (
	"cmp"
	"slices"

	"github.com/tenure-go/tenure/backend"
)

// flights are the process's, in an order that doesn't depend on how they came about.
func (p *picture) flights(s *state, i int) {
	var of [12]*flight
	mine := of[:0]
	for n := range s.flights {
		if int(s.flights[n].who) == i {
			mine = append(mine, &s.flights[n])
		}
	}
	slices.SortStableFunc(mine, func(a, b *flight) int {
		return cmp.Or(cmp.Compare(a.asked.Kind, b.asked.Kind), cmp.Compare(a.stage, b.stage), cmp.Compare(a.sent, b.sent))
	})
	p.Number(int64(len(mine)))
	for _, f := range mine {
		p.flight(s, f)
	}
}

func (p *picture) flight(s *state, f *flight) {
	p.Number(int64(f.asked.Kind) | int64(f.stage)<<8 | flags(f.awaited)<<16)
	if f.awaited {
		p.Request(f.asked.Request)
		p.Number(min(s.at-f.sent, int64(s.w.TTL+1)*2))
		p.Number(f.asked.Timeout)
	}
	if f.stage == out {
		p.Candidate(f.asked.Claim.Candidate.ID)
		p.Attempt(f.asked.Claim.Attempt)
		p.Number(int64(len(f.asked.Claim.Abandoned)))
		for _, a := range f.asked.Claim.Abandoned {
			p.Attempt(a)
		}
		p.Number(flags(f.asked.Claim.Seen.Known))
		p.Token(f.asked.Claim.Seen.Counter)
		p.Token(f.asked.Claim.Floor)
		p.lease(&f.asked.Lease)
	}
	if f.stage == back {
		r := f.reply
		p.Number(int64(backend.ClassOf(r.Err)))
		p.lease(&r.Lease)
		record := &r.Record
		if held := heldBy(r.Err); held != nil {
			record = held
		}
		p.Candidate(record.Holder.ID)
		p.Token(record.Token)
		p.Token(record.Counter)
		p.Attempt(record.Attempt)
		p.Number(int64(record.Remaining))
	}
}

func (p *picture) lease(l *backend.Lease) {
	p.Token(l.Token)
	p.Attempt(l.Attempt)
	p.Candidate(l.Holder)
}
