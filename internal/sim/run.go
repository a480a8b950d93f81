package sim

import (
	"time"

	"github.com/tenure-go/tenure/internal/core"
	"github.com/tenure-go/tenure/internal/record"
)

// run is one simulation: true time, and everything that happens in it.
type run struct {
	seed       uint64
	o          Options
	world      *World
	now        int64
	end, calm  int64 // no faults from calm on
	q          queue
	slots      []*slot
	alive      []*process
	rates      []int64
	elections  int
	guards     int  // at which terms are sealed
	alone      bool // only one process wants to lead all the time; the others try now and then
	ttl        time.Duration
	longest    time.Duration // of all TTLs that anybody has
	server     server
	serverDice dice
	resources  []resource
	plan       []Occurrence
	targets    []int // the processes that the plan's faults have hit
	check      checker
	quiet      int64 // since then no fault has been at work
	noSpawn    int64
	travelling int // requests that have not reached the store

	fired    [kinds]int
	hash     uint64
	steps    int
	refusals int
	peak     int // of requests of one candidate in ten seconds
	done     bool
	trace    []string
}

// noFault marks an event of kind evBegin that brings a process back.
const noFault = 1 << 32

// calmFor is how long the end of a run is free of faults: the longest fail-over, and time to see it hold.
const calmFor = 75 * time.Second

func newRun(seed uint64, o Options) *run {
	w := &run{seed: seed, o: o, world: worldOf(seed, o.World), hash: seed}
	w.end = int64(o.Minutes) * int64(time.Minute)
	w.calm = w.end - int64(calmFor) - int64(w.world.slower)
	d := newDice(seed, "setting")
	w.ttl = [...]time.Duration{5 * time.Second, 5 * time.Second, 10 * time.Second, 4 * time.Second}[d.upTo(4)]
	w.longest = 2*w.ttl + 7*time.Second
	w.elections = 1
	if d.oneIn(4) {
		w.elections = 2
	}
	w.guards = int(d.upTo(guards + 1))
	w.alone = d.oneIn(8)
	w.slots = make([]*slot, 3+d.upTo(3)+d.upTo(3))
	w.rates = make([]int64, len(w.slots))
	storeRate := d.either(d.upTo(1900))
	for i := range w.slots {
		w.slots[i] = &slot{number: i}
		w.rates[i] = d.either(d.upTo(1900))
		if w.world.marginless {
			w.rates[i], storeRate = -1900, 1900
		}
	}
	w.serverDice = newDice(seed, "server")
	w.resources = make([]resource, w.elections)
	w.server = server{
		w: w, osc: oscillator{reading: int64(time.Hour), ppm: storeRate},
		entries: make([]record.Entry, w.elections), past: make([]history, w.elections),
	}
	w.server.since[StoreClockSet] = -int64(time.Hour)
	w.server.model = w.world.build(&w.server)
	w.check = newChecker(w)
	w.plan = o.Plan
	if w.plan == nil {
		w.plan = w.drawPlan()
	}
	w.targets = make([]int, len(w.plan))
	return w
}

// schedule adds an event d from now.
func (w *run) schedule(d int64, e event) {
	e.at = w.now + max(d, 0)
	if e.kind == evArrive && e.r.kind != core.DoSeal {
		w.travelling++
	}
	w.q.push(e)
}

func (w *run) loop() {
	w.note(nil, w.world.Name+": "+w.world.Text)
	for i := range w.plan {
		o := &w.plan[i]
		if w.o.Without[o.Kind] {
			continue
		}
		if specs[o.Kind].whole {
			w.begin(i) // before the processes are there
			continue
		}
		w.schedule(o.At, event{kind: evBegin, n: uint64(i)})
		if o.For > 0 {
			w.schedule(o.At+o.For, event{kind: evEnd, n: uint64(i)})
		}
	}
	for _, s := range w.slots {
		w.spawn(s)
	}
	w.schedule(int64(time.Second), event{kind: evInspect})
	for len(w.q.events) > 0 && !w.done {
		e := w.q.pop()
		if e.at > w.end {
			break
		}
		w.now = e.at
		w.handle(e)
	}
	w.now = min(w.now, w.end)
	if !w.done {
		w.check.final()
	}
}

// handle lets an event happen, or wait for a process that doesn't run.
func (w *run) handle(e event) {
	if e.m != nil {
		p := e.m.p
		if p.dead {
			return
		}
		if d := p.delayed(&e); d > 0 {
			e.at = w.now + d
			w.q.push(e)
			return
		}
		w.happen(e)
		return
	}
	switch e.kind {
	case evArrive:
		if e.r.kind != core.DoSeal {
			w.travelling--
		}
		w.arrive(e.r)
	case evAdmit:
		w.admit(e.w)
	case evBegin:
		if e.n >= noFault {
			w.respawn(w.slots[e.n-noFault], e)
			return
		}
		w.begin(int(e.n))
	case evEnd:
		w.endFault(int(e.n))
	case evInspect:
		w.check.inspect()
		w.schedule(int64(time.Second), event{kind: evInspect})
	default:
	}
}

// respawn starts a process in the place of a dead one. After a loss of all records it waits until nobody believes in what was lost: it could not know whom to wait for.
func (w *run) respawn(s *slot, e event) {
	switch {
	case !s.process.dead:
	case w.now < w.noSpawn:
		w.quiet = max(w.quiet, w.noSpawn)
		w.schedule(w.noSpawn-w.now, e)
	default:
		w.spawn(s)
	}
}

// happen is an event at a process.
func (w *run) happen(e event) {
	m := e.m
	switch e.kind {
	case evTick:
		if e.n == m.timer {
			m.tickAt = 0
			m.p.tick()
			m.due()
		}
	case evTimeout:
		w.expire(e.r)
	case evReply:
		if w.server.model.received(e.r, &e.r.reply) {
			w.deliver(e.r, e.r.reply)
		}
	case evWatchOpened:
		m.watchOpened(e)
	case evWoken:
		if e.n == 0 && m.watching {
			w.hit(WakeFlood)
			e.n = m.watch
		}
		m.step(core.Event{Kind: core.Woken, Request: e.n})
	case evWatchClosed:
		m.step(core.Event{Kind: core.WatchClosed, Request: e.n})
	case evWant:
		m.want()
	case evLook:
		m.look(e.n)
	case evWrite:
		m.write(e.w)
	case evReturned:
		m.returned(e.n)
	case evFinished:
		w.ended(m.p)
	case evPost:
		m.post(core.EventKind(e.n))
	default:
	}
}

// hit notes that a fault had something to act on.
func (w *run) hit(k Kind) { w.fired[k]++ }

// mix adds to the run's hash.
func (w *run) mix(x uint64) {
	h := (w.hash ^ x) * 0x9e3779b97f4a7c15
	w.hash = h ^ h>>29
}

func (w *run) result() Result {
	return Result{
		Seed: w.seed, World: w.world, Violations: w.check.violations, Seen: w.check.seen, Fired: w.fired, Hash: w.hash, Outcome: w.check.outcome(),
		Plan: w.plan, Trace: w.trace, Processes: len(w.slots), Steps: w.steps, Requests: w.check.requests,
		Terms: w.check.terms, Losses: w.check.losses, Overruns: w.check.overruns, Refusals: w.refusals, Peak: w.peak, Minutes: w.o.Minutes,
	}
}
