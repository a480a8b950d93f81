package core

import (
	"container/heap"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"strconv"
	"testing"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/clock"
	"github.com/tenure-go/tenure/internal/record"
)

// PE16, PE24: TestSimulation runs candidates against one store under faults drawn from a seed: lost and late messages, store outages, paused, suspended and crashed
// processes, clocks of different rates, work that is slow to stop. Every run is checked on line. TENURE_SEEDS sets the number of seeds.
func TestSimulation(t *testing.T) {
	seeds := 400
	if s := os.Getenv("TENURE_SEEDS"); s != "" {
		seeds, _ = strconv.Atoi(s)
	}
	var terms, lost, late, overruns, forgot int
	for seed := range uint64(seeds) {
		s := newSim(seed, simMargins, 0.0019)
		s.run(10 * time.Minute)
		if len(s.violations) > 0 {
			t.Fatalf("seed %d: %s\nlast events:\n%s", seed, s.violations[0], s.tail())
		}
		terms, lost, late, overruns, forgot = terms+s.begun, lost+s.lost, late+s.late, overruns+s.overran, forgot+s.forgot
	}
	t.Logf("%d seeds: %d terms, %d lost, %d overrun, %d losses of the store's data, %d requests that reached the store after their sender gave up",
		seeds, terms, lost, overruns, forgot, late)
	if terms < seeds*5 || lost == 0 || late == 0 || overruns == 0 || forgot == 0 {
		t.Error("too little happened: the simulation tests nothing")
	}
}

// The checker must be able to see: with clocks whose rates differ by more than the margins allow for, two believe at once.
func TestSimulationSeesAMissingMargin(t *testing.T) {
	for seed := range uint64(2000) {
		s := newSim(seed, simMargins, 0.08)
		s.run(10 * time.Minute)
		if len(s.violations) > 0 {
			t.Logf("seen at seed %d: %s", seed, s.violations[0])
			return
		}
	}
	t.Error("2000 seeds without a violation")
}

// The same inputs give the same actions: what was recorded can be replayed.
func TestSimulationReplaysExactly(t *testing.T) {
	for seed := range uint64(20) {
		s := newSim(seed, simMargins, 0.0019)
		s.run(5 * time.Minute)
		for _, c := range s.candidates {
			m := New(c.machine.cfg)
			for i, in := range c.inputs {
				if got := m.Step(in); !reflect.DeepEqual(got, c.outputs[i]) {
					t.Fatalf("seed %d, step %d of %s: got %+v, recorded %+v", seed, i, c.machine.cfg.Candidate.ID, got, c.outputs[i])
				}
			}
		}
	}
}

const simTTL = 5 * time.Second

var simMargins = Margins{Safety: 250 * time.Millisecond, StepDown: 500 * time.Millisecond, DriftPPM: 2000}

type simEvent struct {
	at, seq int64
	do      func()
}

type simQueue []simEvent

func (q *simQueue) Len() int      { return len(*q) }
func (q *simQueue) Swap(i, j int) { (*q)[i], (*q)[j] = (*q)[j], (*q)[i] }
func (q *simQueue) Less(i, j int) bool {
	a, b := (*q)[i], (*q)[j]
	return a.at < b.at || a.at == b.at && a.seq < b.seq
}
func (q *simQueue) Push(x any) { *q = append(*q, x.(simEvent)) }
func (q *simQueue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

// sim is one run: true time, a store, candidates and a network between them.
type sim struct {
	rand       *rand.Rand
	now, seq   int64
	queue      simQueue
	entry      record.Entry
	clocked    bool  // the store's tokens are bound by its clock
	travelling int   // requests that have not reached the store
	lossKnown  int64 // from then on no candidate believes in what was lost
	outage     int64 // the store doesn't answer before this time
	candidates []*simCandidate
	calm       bool    // no more faults
	drift      float64 // of each candidate's clocks, at most
	lastToken  int64
	trace      []string
	violations []string

	begun, lost, late, overran, forgot int
}

// simCandidate is a process with one machine and clocks of its own.
type simCandidate struct {
	sim     *sim
	machine *Machine
	rate    float64
	skipped int64 // time spent in suspend, which the monotonic clock doesn't count
	asleep  int64 // runs nothing before this time
	dead    bool
	tickAt  int64
	belief  Belief
	term    uint64
	working bool
	started bool // notices alternate
	watch   uint64
	caller  uint64
	inputs  []Input
	outputs [][]Action
}

func newSim(seed uint64, margins Margins, drift float64) *sim {
	s := &sim{rand: rand.New(rand.NewPCG(seed, 7)), drift: drift, clocked: seed%2 == 1}
	for i := range 3 {
		s.add(i, margins)
	}
	s.after(int64(time.Second), s.fault)
	return s
}

func (s *sim) add(i int, margins Margins) {
	c := &simCandidate{sim: s, rate: 1 + (s.rand.Float64()*2-1)*s.drift}
	c.machine = New(Config{
		Election: "e", Candidate: backend.Candidate{ID: fmt.Sprintf("c%d-%d", i, s.now)}, TTL: simTTL, RenewInterval: simTTL / 3,
		AttemptTimeout: simTTL / 4, DrainTimeout: 30 * time.Second, Spread: 5 * time.Millisecond, Margins: margins,
	})
	s.candidates = append(s.candidates, c)
	c.want()
}

func (s *sim) after(d int64, do func()) {
	s.seq++
	heap.Push(&s.queue, simEvent{s.now + d, s.seq, do})
}

func (s *sim) upTo(d time.Duration) int64 { return s.rand.Int64N(int64(d)) }

func (s *sim) run(d time.Duration) {
	end := int64(d)
	calm := end - int64(60*time.Second)
	for len(s.queue) > 0 && len(s.violations) == 0 {
		e := heap.Pop(&s.queue).(simEvent)
		if e.at > end {
			break
		}
		s.now = e.at
		s.calm = s.now > calm
		e.do()
		s.check()
	}
	for _, c := range s.candidates {
		if shared := c.machine.Shared; shared.noCampaign != (campaign{}) || !reflect.ValueOf(shared.noTerm).IsZero() {
			s.violate("%s writes to what stands for nothing", c.id())
		}
	}
	if len(s.violations) == 0 && !s.someoneLeads() {
		s.violate("nobody leads a minute after the last fault")
	}
}

func (s *sim) someoneLeads() bool {
	for _, c := range s.candidates {
		if c.believes(true) {
			return true
		}
	}
	return false
}

func (s *sim) violate(format string, args ...any) {
	s.violations = append(s.violations, fmt.Sprintf("at %v: ", time.Duration(s.now))+fmt.Sprintf(format, args...))
}

func (s *sim) note(format string, args ...any) {
	s.trace = append(s.trace, fmt.Sprintf("%v ", time.Duration(s.now))+fmt.Sprintf(format, args...))
	if len(s.trace) > 400 {
		s.trace = s.trace[200:]
	}
}

func (s *sim) tail() (text string) {
	for _, line := range s.trace[max(0, len(s.trace)-60):] {
		text += line + "\n"
	}
	return text
}

// check: at no instant do two believe.
func (s *sim) check() {
	believers := 0
	for _, c := range s.candidates {
		if c.believes(false) {
			believers++
		}
	}
	if believers > 1 {
		s.violate("two believe")
	}
}

func (c *simCandidate) reading() clock.Reading {
	local := int64(float64(c.sim.now) * c.rate)
	return clock.Reading{Mono: local - c.skipped, Boot: local, Wall: local, HasBoot: true}
}

func (c *simCandidate) believes(leading bool) bool {
	if c.dead || c.belief.Term == 0 || leading && !c.belief.Leading {
		return false
	}
	return int64(clock.Elapsed(c.belief.Anchor, c.reading())) < c.belief.Hard
}

// fault breaks something and comes again.
func (s *sim) fault() {
	s.after(int64(time.Second)+s.upTo(20*time.Second), s.fault)
	if s.calm {
		return
	}
	i := s.rand.IntN(len(s.candidates))
	c := s.candidates[i]
	switch s.rand.IntN(7) {
	case 6:
		s.forget()
	case 0:
		s.outage = s.now + s.upTo(12*time.Second)
		s.note("store away until %v", time.Duration(s.outage))
	case 1, 2: // pause: SIGSTOP, a long collection
		c.sleep(s.upTo(3*simTTL), false)
	case 3: // suspend
		c.sleep(s.upTo(3*simTTL), true)
	case 4: // crash, and a new process in its place
		if s.now < s.lossKnown {
			return // a newcomer could not know of the leader
		}
		s.note("%s crashes", c.id())
		c.dead = true
		margins := c.machine.cfg.Margins
		s.candidates = append(s.candidates[:i], s.candidates[i+1:]...)
		s.add(i, margins)
	case 5: // deploy: stop, and run again
		c.input(Event{Kind: Unwant, Caller: c.caller, Err: context.Canceled})
	}
}

// forget loses all that the store knows, once every candidate has seen it: E1 holds for those.
func (s *sim) forget() {
	if !s.clocked || s.travelling > 0 {
		return // a newcomer's token would not be above the lost ones; an old claim would land in a store that doesn't remember why to refuse it
	}
	for _, c := range s.candidates {
		if c.machine.counter != s.entry.Counter {
			return
		}
	}
	s.note("the store forgets")
	s.forgot++
	s.entry = record.Entry{}
	s.lossKnown = s.now + int64(3*simTTL)
}

func (c *simCandidate) id() string { return c.machine.cfg.Candidate.ID }

func (c *simCandidate) sleep(d int64, suspend bool) {
	if c.asleep > c.sim.now {
		return
	}
	c.sim.note("%s sleeps for %v, suspend %v", c.id(), time.Duration(d), suspend)
	c.asleep = c.sim.now + d
	if suspend {
		c.skipped += d // seen from its first instruction after the suspend on
	}
}

// awake runs do when the process runs.
func (c *simCandidate) awake(do func()) {
	switch {
	case c.dead:
	case c.sim.now < c.asleep:
		c.sim.after(c.asleep-c.sim.now, func() { c.awake(do) })
	default:
		do()
	}
}

func (c *simCandidate) want() {
	c.caller++
	c.input(Event{Kind: Want, Mode: Run, Caller: c.caller})
}

func (c *simCandidate) input(e Event) {
	c.awake(func() {
		in := Input{Now: c.reading(), Rand: [2]uint64{c.sim.rand.Uint64(), c.sim.rand.Uint64()}, Event: e}
		out := c.machine.Step(in)
		c.inputs, c.outputs = append(c.inputs, in), append(c.outputs, out)
		for _, a := range out {
			c.perform(a)
		}
		c.schedule()
	})
}

func (c *simCandidate) schedule() {
	due, ok := c.machine.Due()
	if !ok {
		return
	}
	wait := max(0, int64(float64(due-c.reading().Mono)/c.rate)) + 1
	at := c.sim.now + wait
	c.tickAt = at
	c.sim.after(wait, func() {
		if c.tickAt == at {
			c.input(Event{Kind: Tick})
		}
	})
}

func (c *simCandidate) perform(a Action) {
	s := c.sim
	switch a.Kind {
	case DoGet, DoAcquire, DoRenew, DoRelease:
		if a.Kind == DoRelease && c.working && a.Lease.Token == c.machine.term.lease.Token {
			s.violate("%s releases token %d while its work goes on", c.id(), a.Lease.Token)
		}
		c.send(a)
	case DoOpenWatch:
		c.watch = a.Request
		s.after(s.upTo(20*time.Millisecond), func() { c.input(Event{Kind: WatchOpened, Request: a.Request}) })
	case DoCloseWatch:
		c.watch = 0
	case DoBelieve:
		c.belief = a.Belief
	case DoBegin:
		c.begin(a)
	case DoEndWork:
		stop := s.upTo(300 * time.Millisecond)
		if s.rand.IntN(20) == 0 {
			stop = s.upTo(20 * time.Second) // slow to stop
		}
		s.after(stop, func() { c.awake(func() { c.workReturned(a.Term) }) })
	case DoOverrun:
		s.overran++
	case DoFinish:
		if !errors.Is(a.Err, context.Canceled) {
			s.violate("%s: Run ended with %v", c.id(), a.Err)
		}
		s.after(s.upTo(5*time.Second), func() { c.awake(c.want) })
	case DoNotify:
		c.notice(a.Notice)
	}
}

func (c *simCandidate) begin(a Action) {
	s := c.sim
	s.begun++
	s.note("%s leads under %d", c.id(), a.Lease.Token)
	if a.Lease.Token <= s.lastToken {
		s.violate("%s leads under %d after %d", c.id(), a.Lease.Token, s.lastToken)
	}
	s.lastToken = a.Lease.Token
	if c.working {
		s.violate("%s begins a term while the work of an earlier one goes on", c.id())
	}
	c.working, c.term = true, a.Term
}

func (c *simCandidate) workReturned(term uint64) {
	if term == c.term && c.working {
		c.working = false
		c.input(Event{Kind: WorkReturned, Term: term})
	}
}

func (c *simCandidate) notice(n Notice) {
	if n.Err != nil || n.Kind == NoteStarted || n.Kind == NoteStopped {
		c.sim.note("%s: %s %d %v", c.id(), n.Kind, n.Token, n.Err)
	}
	switch n.Kind {
	case NoteStarted, NoteStopped:
		if c.started == (n.Kind == NoteStarted) {
			c.sim.violate("%s: %s twice in a row", c.id(), n.Kind)
		}
		c.started = n.Kind == NoteStarted
	case NoteLost:
		c.sim.lost++
	}
}

// send carries a request to the store and its reply back, if the network lets it.
func (c *simCandidate) send(a Action) {
	s := c.sim
	sent := c.reading()
	answered := false
	reply := func(e Event) {
		if !answered {
			answered = true
			e.Kind = map[ActionKind]EventKind{DoGet: GotRecord, DoAcquire: Acquired, DoRenew: Renewed, DoRelease: Released}[a.Kind]
			e.Request, e.Sent = a.Request, sent
			c.input(e)
		}
	}
	s.after(int64(float64(a.Timeout)/c.rate), func() { c.awake(func() { reply(Event{Err: context.DeadlineExceeded}) }) })
	if !s.calm && s.rand.IntN(25) == 0 {
		return // lost
	}
	there := int64(time.Millisecond) + s.upTo(20*time.Millisecond)
	if !s.calm && s.rand.IntN(25) == 0 {
		there += s.upTo(2 * simTTL) // stuck somewhere
	}
	s.travelling++
	s.after(there, func() {
		s.travelling--
		if s.now < s.outage {
			return
		}
		if answered {
			s.late++
		}
		e := s.serve(a)
		if !s.calm && s.rand.IntN(25) == 0 {
			return // the reply is lost
		}
		back := s.upTo(20 * time.Millisecond)
		if !s.calm && s.rand.IntN(10) == 0 {
			back += s.upTo(simTTL / 4)
		}
		s.after(back, func() { c.awake(func() { reply(e) }) })
	})
}

// serve is the store: the rules that the real ones share, on true time.
func (s *sim) serve(a Action) (e Event) {
	now := record.Clock{Now: s.now + 1, Wall: time.UnixMicro(1_790_000_000_000_000)}
	if s.clocked {
		now.Bound = s.now / int64(time.Microsecond)
	}
	changed := false
	switch a.Kind {
	case DoGet:
		e.Record = s.entry.Record("e", now)
	case DoAcquire:
		before := s.entry.Counter
		e.Lease, e.Err = s.entry.Acquire(a.Claim, now)
		changed = s.entry.Counter != before
	case DoRenew:
		e.Lease, e.Err = s.entry.Renew(a.Lease, now)
	case DoRelease:
		changed, e.Err = s.entry.Release(a.Lease, backend.Handover{}, now)
	}
	if changed {
		for _, c := range s.candidates {
			if c.watch != 0 && (s.calm || s.rand.IntN(10) != 0) {
				request := c.watch
				s.after(s.upTo(10*time.Millisecond), func() { c.input(Event{Kind: Woken, Request: request}) })
			}
		}
	}
	return e
}
