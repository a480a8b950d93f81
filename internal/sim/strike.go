package sim

import (
	"strconv"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/core"
)

// begin lets a fault of the plan happen.
func (w *run) begin(i int) {
	o := &w.plan[i]
	spec := &specs[o.Kind]
	w.targets[i] = w.target(o)
	slot := w.slots[w.targets[i]]
	w.noteFault(o, slot)
	if spec.long[1] > 0 || spec.whole {
		w.open(o, slot, 1)
	}
	if !spec.whole {
		w.quiet = max(w.quiet, w.now+o.For)
	}
	switch {
	case spec.where == theStore:
		w.strikeStore(o)
	case o.Kind == Herd:
		w.herd()
	default:
		w.strikeProcess(o, slot)
	}
}

// target is the place of the process that a fault hits.
func (w *run) target(o *Occurrence) int {
	if o.Who != Leader {
		return o.Who
	}
	for _, p := range w.alive {
		for _, m := range p.members {
			if m.belief.Leading {
				return p.slot.number
			}
		}
	}
	return int(uint64(o.At) % uint64(len(w.slots)))
}

// open changes the number of open windows of a kind.
func (w *run) open(o *Occurrence, slot *slot, n int8) {
	if specs[o.Kind].where == theStore {
		w.server.depth[o.Kind] += n
		if n > 0 {
			w.server.arg[o.Kind], w.server.since[o.Kind] = o.Arg, w.now
		}
		return
	}
	slot.depth[o.Kind] += n
	if n > 0 {
		slot.arg[o.Kind] = o.Arg
	}
}

func (w *run) endFault(i int) {
	o, slot := &w.plan[i], w.slots[w.targets[i]]
	w.open(o, slot, -1)
	switch o.Kind {
	case Partition, StoreCut, Swizzled, HalfOpen:
		if p := slot.process; !p.dead {
			p.reconnected()
		}
	case Suspended:
		if p := slot.process; !p.dead && !slot.has(Suspended) {
			p.resume()
		}
	case WallStrobe:
		if p := slot.process; !slot.has(WallStrobe) {
			p.strobe = 0
		}
	case LeaderChange, Promotion:
		w.server.model.heal(o)
	default:
	}
}

func (w *run) strikeProcess(o *Occurrence, slot *slot) {
	p := slot.process
	if p == nil || p.dead {
		return
	}
	switch o.Kind {
	case Paused:
		w.hit(Paused)
		p.sleep(o.For)
	case Suspended:
		w.hit(Suspended)
		p.sleep(o.For + 1)
		p.suspend()
	case Crashed:
		w.crash(o, p)
	case CrashedSameID:
		if w.crash(o, p) {
			slot.name = p.id
		}
	case Deployed:
		w.hit(Deployed)
		p.all(core.Unwant)
	case HandedOver, KeptFree:
		w.handOver(o, p)
	case Leaves:
		p.all(core.Unwant)
	case Closed:
		w.close(p)
	case WatchCloses:
		for _, m := range p.members {
			if m.watching {
				w.hit(WatchCloses)
				m.drop()
			}
		}
	case WakeFlood:
		w.flood(p, o)
	default:
		p.turn(o)
	}
}

// handOver resigns in favour of another process, or of nobody.
func (w *run) handOver(o *Occurrence, p *process) {
	for _, m := range p.members {
		if !m.work.active {
			continue
		}
		h := backend.Handover{For: time.Duration(o.Arg)}
		if o.Kind == HandedOver {
			to := w.slots[(p.slot.number+1)%len(w.slots)].process
			h = backend.Handover{To: to.id, For: m.cfg.TTL}
		}
		w.hit(o.Kind)
		if m.works() {
			m.step(core.Event{Kind: core.Resign, Term: m.work.term, Handover: h})
		}
	}
}

// turn is what befalls a process's clocks.
func (p *process) turn(o *Occurrence) {
	w := p.w
	switch o.Kind {
	case RateTurned, RateBeyond:
		w.hit(o.Kind)
		p.osc.turn(w.now, o.Arg)
		w.rates[p.slot.number] = o.Arg
		for _, m := range p.members { // the timers were set at the old rate
			m.arm(p.read().Mono)
		}
	case WallForward:
		w.hit(WallForward)
		p.wall += o.Arg
	case WallBack:
		if !p.bootless { // the only clock that would count a suspend
			w.hit(WallBack)
			p.wall -= o.Arg
		}
	case WallStrobe:
		if !p.bootless {
			w.hit(WallStrobe)
			p.strobe, p.every = o.Arg, o.Arg%int64(time.Second)+int64(4*time.Millisecond)
		}
	default:
	}
}

func (p *process) all(kind core.EventKind) {
	for _, m := range p.members {
		p.w.schedule(0, event{kind: evPost, m: m, n: uint64(kind)})
	}
}

// crash ends a process; another comes in its place.
func (w *run) crash(o *Occurrence, p *process) bool {
	if w.now < w.noSpawn {
		return false
	}
	w.hit(o.Kind)
	w.kill(p)
	w.schedule(o.Arg, event{kind: evBegin, n: noFault + uint64(p.slot.number)})
	w.quiet = max(w.quiet, w.now+o.Arg)
	return true
}

func (w *run) herd() {
	if w.now < w.noSpawn {
		return
	}
	w.hit(Herd)
	for _, s := range w.slots {
		if !s.process.dead {
			w.kill(s.process)
			w.spawn(s)
		}
	}
}

func (w *run) close(p *process) {
	if w.now < w.noSpawn || p.closing || p.dying {
		return
	}
	w.hit(Closed)
	p.closing = true
	p.all(core.Close)
	for _, m := range p.members {
		w.schedule(int64(time.Second), event{kind: evFinished, m: m})
	}
}

// ended replaces a process which has panicked or closed.
func (w *run) ended(p *process) {
	if p.dead {
		return
	}
	for _, m := range p.members {
		if p.closing && !p.dying && (m.wants || m.work.active) {
			w.schedule(int64(time.Second), event{kind: evFinished, m: m})
			return
		}
	}
	w.kill(p)
	w.schedule(int64(100*time.Millisecond), event{kind: evBegin, n: noFault + uint64(p.slot.number)})
}

// flood wakes a process for nothing, up to 200 times a second.
func (w *run) flood(p *process, o *Occurrence) {
	d := newDice(w.seed, "flood "+strconv.FormatInt(o.At, 10))
	for at := int64(0); at < min(o.For, int64(4*time.Second)); at += d.between(5*time.Millisecond, 40*time.Millisecond) {
		w.schedule(at, event{kind: evWoken, m: p.members[0], n: 0})
	}
}
