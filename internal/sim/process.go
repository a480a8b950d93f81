package sim

import (
	"strconv"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/clock"
	"github.com/tenure-go/tenure/internal/core"
)

// slot is a place where processes run one after the other: its faults stay when a process is replaced.
type slot struct {
	number  int
	process *process
	depth   [kinds]int8 // windows of each kind that are open
	arg     [kinds]int64
	births  int
	cut     int64  // nothing gets through before this, see CutAtGrant
	name    string // the ID that is used again, see CrashSameID
}

func (s *slot) has(k Kind) bool { return s.depth[k] > 0 }

// process is one incarnation of a participant: clocks, and a machine for each election.
type process struct {
	clocks
	w       *run
	slot    *slot
	id      string
	asleep  int64 // it runs nothing before this
	dead    bool
	dying   bool // its work has panicked: it ends with the campaign
	closing bool
	beating bool          // its machines are asked to renew together
	beaten  int64         // when they were last asked
	looked  clock.Reading // when all machines were last told how late it is
	rand    dice
	net     dice
	work    dice
	members []*member
	seen    []sighting // what the driver of a store without expiry has seen, by election
}

func (w *run) spawn(s *slot) {
	s.births++
	name := "p" + strconv.Itoa(s.number)
	if s.births > 1 {
		name += "." + strconv.Itoa(s.births)
	}
	p := &process{w: w, slot: s, id: name}
	if s.name != "" {
		p.id = s.name
	}
	p.rand, p.net, p.work = newDice(w.seed, "step "+name), newDice(w.seed, "net "+name), newDice(w.seed, "work "+name)
	p.start(w, w.rates[s.number])
	if p.bootless = s.has(NoBootClock); p.bootless {
		w.hit(NoBootClock)
	}
	p.seen = make([]sighting, w.elections)
	s.process = p
	w.alive = append(w.alive, p)
	for e := range w.elections {
		m := &member{p: p, election: e, cfg: w.config(p, e)}
		m.machine = w.o.New(m.cfg)
		p.members = append(p.members, m)
		m.mode = p.mode()
		w.schedule(p.rand.upTo(int64(20*time.Millisecond)), event{kind: evWant, m: m})
	}
}

func (p *process) mode() core.Mode {
	switch {
	case p.w.alone && p.slot.number > 0:
		return core.Try
	case p.slot.has(Beside):
		p.w.hit(Beside)
		return core.Campaign
	case p.slot.has(Tries):
		p.w.hit(Tries)
		return core.Try
	}
	if p.slot.has(Serves) {
		p.w.hit(Serves)
		return core.Serve
	}
	return core.Run
}

func (w *run) config(p *process, election int) core.Config {
	ttl := w.ttl
	if p.slot.has(MixedTTL) {
		w.hit(MixedTTL)
		ttl = ttl * time.Duration(p.slot.arg[MixedTTL]) / 4
	}
	c := core.Config{
		Election: electionNames[election], Candidate: backend.Candidate{ID: p.id}, TTL: ttl, RenewInterval: ttl / 3,
		AttemptTimeout: max(ttl/8, ttl/4-w.world.step/2), DrainTimeout: 30 * time.Second, Spread: 5 * time.Millisecond,
		Margins: w.world.margins(ttl), Guards: w.guards,
	}
	if p.slot.has(MixedInterval) {
		w.hit(MixedInterval)
		c.RenewInterval = ttl / 5
	}
	if p.slot.has(Cooldown) {
		w.hit(Cooldown)
		c.Cooldown = time.Duration(p.slot.arg[Cooldown])
	}
	return c
}

var electionNames = [...]string{"orders", "billing", "reports"}

// kill ends the process at once.
func (w *run) kill(p *process) {
	p.dead = true
	for i, q := range w.alive {
		if q == p {
			w.alive = append(w.alive[:i], w.alive[i+1:]...)
			break
		}
	}
	for _, m := range p.members {
		w.check.died(m)
	}
}

// sleep lets the process run nothing for d.
func (p *process) sleep(d int64) { p.asleep = max(p.asleep, p.w.now+d) }

func (p *process) runs() bool { return !p.dead && p.w.now >= p.asleep }

// latency is how long a message takes one way.
func (p *process) latency() int64 {
	d := int64(500*time.Microsecond) + p.net.upTo(int64(4*time.Millisecond))
	if p.slot.has(SlowLink) {
		p.w.hit(SlowLink)
		d += p.slot.arg[SlowLink]
	}
	return d
}

// delayed is for how long the process doesn't get to an event.
func (p *process) delayed(e *event) int64 {
	w := p.w
	switch s := p.slot; {
	case w.now < p.asleep:
		return p.asleep - w.now
	case s.has(Starved) && !e.late && e.kind != evWatchOpened:
		w.hit(Starved)
		e.late = true
		return p.net.upTo(s.arg[Starved])
	case s.has(Stutter) && w.now/s.arg[Stutter]%2 == 0:
		w.hit(Stutter)
		return s.arg[Stutter] - w.now%s.arg[Stutter]
	}
	return 0
}
