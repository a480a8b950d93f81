package sim

import (
	"errors"
	"time"

	"github.com/tenure-go/tenure/fence"
)

// guards is how many protected resources there are: terms are sealed at the first World.guards of them.
const guards = 2

// resource is what leaders write to, of one election: guarded, guarded without a look at attempts, and not guarded at all.
type resource struct {
	marks [guards]fence.Token
	bare  int64       // compares token values only
	twin  fence.Token // the last write that bare let pass
	open  int64       // the highest token that has written without a guard
}

func (w *run) wall() time.Time { return time.Unix(0, epoch+w.now) }

// seal is a guard's answer to a term that begins.
func (w *run) seal(r *request) error {
	s := &w.resources[r.m.election]
	mark, err := fence.Admit(s.marks[r.guard], r.lease.Fence(), w.wall())
	s.marks[r.guard] = mark
	if err == nil {
		w.check.sealed(r.m.election, r.guard, mark)
	}
	return err
}

// admit is a write's arrival at all resources.
func (w *run) admit(x *write) {
	s := &w.resources[x.election]
	for g := range s.marks {
		mark, err := fence.Admit(s.marks[g], x.token, w.wall())
		s.marks[g] = mark
		if err == nil {
			w.check.effect(x, g)
			continue
		}
		w.refusals++
		if errors.Is(err, fence.ErrStale) {
			w.note(x.from, "its write is refused by a guard: stale")
		}
	}
	if x.token.Value >= s.bare {
		if x.token.Value == s.bare && x.token.Attempt != s.twin.Attempt {
			w.see(TwinPassed, x.from)
		}
		s.bare, s.twin = x.token.Value, x.token
	}
	if x.token.Value < s.open {
		w.see(StalePassed, x.from)
	}
	s.open = max(s.open, x.token.Value)
}

// write sends an effect off.
func (m *member) write(x *write) {
	w, s := m.p.w, m.p.slot
	k, cut := s.isolated()
	if !cut {
		k, cut = GuardsCut, s.has(GuardsCut)
	}
	if cut {
		w.hit(k)
		return
	}
	d := m.p.latency()
	if s.has(LateWrites) {
		w.hit(LateWrites)
		d += m.p.net.upTo(s.arg[LateWrites])
	}
	w.schedule(d, event{kind: evAdmit, w: x})
}
