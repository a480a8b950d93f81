package elector

import (
	"context"
	"errors"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/core"
)

// parting is how a term's end began on this side.
type parting uint8

const (
	goesOn  parting = iota
	parted          // its work has returned, or the user resigned
	yielded         // it made room for another candidate
)

// yielding is why a term made room. It is in the cause of the term's context, behind ErrResigned.
type yielding struct{ why string }

func (y *yielding) Error() string { return y.why }

// yield steps down so that another candidate can lead: the context ends, the lease is renewed until the work is over, and then handed over. It does nothing when the term is at its end already.
func (t *Term) yield(why string, h backend.Handover) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.parting != goesOn || t.cause != nil {
		return false
	}
	t.parting, t.handover = yielded, h
	l := t.member.loop
	events := []posted{{member: t.member, event: core.Event{Kind: core.Unwant, Caller: t.waiter.id, Err: &yielding{why}}}}
	if t.waiter.run && h.To != "" {
		events = append(events, posted{member: t.member, event: core.Event{Kind: core.Resign, Term: t.id, Handover: h}})
	}
	l.post(events...)
	return true
}

// part notes that the term ends by its own work or user. What was planned for the election meanwhile goes along with the release.
func (t *Term) part(h backend.Handover) backend.Handover {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.parting == goesOn:
		t.parting = parted
	case t.parting == yielded && h == (backend.Handover{}):
		h = t.handover
	}
	return h
}

// campaignsAgain reports that a run which has ended made room only, and is to campaign again.
func (e *Elector) campaignsAgain(ctx context.Context, last *Term, err error) bool {
	if _, made := errors.AsType[*yielding](err); !made || ctx.Err() != nil {
		return false
	}
	last.mu.Lock()
	defer last.mu.Unlock()
	return !last.resigned
}

// madeRoom is what Run returns of a run that doesn't campaign again after it has made room.
func madeRoom(ctx context.Context, err error) error {
	if _, made := errors.AsType[*yielding](err); !made {
		return err
	}
	return context.Cause(ctx) // nil: the user has resigned
}
