package sim

import (
	"errors"
	"fmt"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/core"
)

// clockText writes a virtual time as minutes and seconds.
func clockText(ns int64) string {
	d := time.Duration(ns)
	return fmt.Sprintf("%02d:%06.3f", int(d/time.Minute), (d % time.Minute).Seconds())
}

// note adds a line to the trace.
func (w *run) note(m *member, text string) {
	if !w.o.Trace {
		return
	}
	who := ""
	if m != nil {
		who = m.p.id + " "
		if w.elections > 1 {
			who = m.p.id + "/" + m.cfg.Election + " "
		}
	}
	w.trace = append(w.trace, clockText(w.now)+"  "+who+text)
}

func (w *run) noteStore(text string) { w.note(nil, "the store: "+text) }

func (w *run) noteFault(o *Occurrence, slot *slot) {
	if !w.o.Trace {
		return
	}
	spec := &specs[o.Kind]
	text := "the store "
	switch spec.where {
	case aProcess:
		text = slot.id() + " "
	case everybody:
		text = ""
	case theStore:
	}
	text += spec.text
	if o.For > 0 && !spec.whole {
		text += fmt.Sprintf(", for %v", time.Duration(o.For).Round(time.Millisecond))
	}
	switch {
	case o.Arg == 0:
	case o.Kind == RateTurned || o.Kind == RateBeyond || o.Kind == StoreRateTurned:
		text += fmt.Sprintf(", %+d ppm", o.Arg)
	case o.Kind == MixedTTL:
		text += fmt.Sprintf(", %d/4 of theirs", o.Arg)
	case o.Kind == Raised:
		text += fmt.Sprintf(", by %d", o.Arg)
	default:
		text += fmt.Sprintf(", by %v", time.Duration(o.Arg).Round(time.Millisecond))
	}
	w.note(nil, "FAULT: "+text)
}

func (s *slot) id() string {
	if s.process == nil {
		return fmt.Sprintf("p%d", s.number)
	}
	return s.process.id
}

var requestNames = [...]string{core.DoGet: "look", core.DoAcquire: "claim", core.DoRenew: "renewal", core.DoRelease: "release", core.DoSeal: "seal"}

func (w *run) noteRequest(r *request, text string) {
	if w.o.Trace {
		w.note(r.m, fmt.Sprintf("its %s #%d %s", requestNames[r.kind], r.number, text))
	}
}

// noteAnswer tells errors that matter: not being the leader is what followers hear all the time.
func (w *run) noteAnswer(r *request, err error) {
	if w.o.Trace && !errors.Is(err, backend.ErrHeld) {
		w.note(r.m, fmt.Sprintf("its %s #%d ends with: %v", requestNames[r.kind], r.number, err))
	}
}

func (w *run) noteLoss(m *member, n *core.Notice) {
	if w.o.Trace {
		w.note(m, fmt.Sprintf("steps down: %v", n.Err))
	}
}
