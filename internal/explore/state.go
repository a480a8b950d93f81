package explore

import (
	"fmt"
	"slices"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/clock"
	"github.com/tenure-go/tenure/internal/core"
	"github.com/tenure-go/tenure/internal/record"
)

const mostCandidates = 3

// process is a candidate, with what its shell would know.
type process struct {
	m        *core.Machine // never changed: a step makes another
	life     uint8         // how often it has begun
	rate     int16
	paused   bool
	watch    uint64 // zero: it has none
	wake     bool   // a change at the store that the watch has not told yet
	belief   core.Belief
	term     uint64 // of the work that runs, zero: none does
	token    int64
	attempt  backend.Attempt // of the latest term
	told     bool            // the work knows that it has to end
	finished bool            // the machine waits for a Want
}

// name is the candidate's ID: another one after a restart.
func name(i int, life uint8) string { return string([]byte{'a' + byte(i), '0' + life}) }

// state is all that there is at one moment. States share what they don't change.
type state struct {
	w         *World
	at        int64 // in quanta
	storeRate int16
	crashes   int8
	pauses    int8
	losses    int8
	copies    int8
	processes [mostCandidates]process
	entry     record.Entry
	flights   []flight
	begun     int64  // the token of the latest term
	drawn     uint64 // attempts
	trace     *step
	broken    string // which invariant doesn't hold
}

// step is how a state came about.
type step struct {
	before *step
	what   string
	who    int8
}

func (s *state) now(i int) clock.Reading { return reading(s.at, s.processes[i].rate) }

func (s *state) clock() record.Clock {
	now := reading(s.at, s.storeRate)
	return record.Clock{Now: now.Mono, Wall: time.Unix(0, now.Wall)}
}

func (s *state) breaks(format string, args ...any) {
	if s.broken == "" {
		s.broken = fmt.Sprintf(format, args...)
	}
}

// after returns a copy that a step may change.
func (s *state) after(what string, i int) *state {
	c := *s
	c.flights = slices.Clone(s.flights)
	c.trace = &step{s.trace, what, int8(i)}
	return &c
}

// begins are the states from which everything starts: one for each combination of rates.
func (w *World) begins() []*state {
	states := []*state{{w: w, crashes: int8(w.Crashes), pauses: int8(w.Pauses), losses: int8(w.Losses), copies: int8(w.Copies)}}
	for i := range w.Candidates + 1 {
		var more []*state
		for _, s := range states {
			for _, rate := range w.Rates {
				c := *s
				if i < w.Candidates {
					c.processes[i].rate = int16(rate)
				} else {
					c.storeRate = int16(rate)
				}
				more = append(more, &c)
			}
		}
		states = more
	}
	for _, s := range states {
		for i := range w.Candidates {
			s.start(i)
		}
	}
	return states
}

// start begins a process, whose caller wants to lead.
func (s *state) start(i int) {
	p := &s.processes[i]
	*p = process{m: core.New(s.w.config(name(i, p.life))), life: p.life, rate: p.rate, finished: true}
	s.want(i)
}

func (s *state) want(i int) {
	if s.processes[i].finished {
		s.processes[i].finished = false
		s.tell(i, core.Event{Kind: core.Want, Mode: core.Run, Caller: 1}, nil)
	}
}

// believes reports whether a process may believe now that it leads.
func (s *state) believes(i int) bool {
	b := &s.processes[i].belief
	return b.Term != 0 && int64(clock.Elapsed(b.Anchor, s.now(i))) < b.Hard
}
