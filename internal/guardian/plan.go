package guardian

import (
	"math"
	"time"
)

// never is a moment that does not come.
const never BootTime = math.MaxInt64

// step is what to do to the command now. A greater step includes the lesser.
type step int

const (
	stepNone step = iota
	stepTerm
	stepKill
)

// plan decides when a command has to end. It knows neither clocks nor
// processes. Guardian and wrapper each keep one.
type plan struct {
	soft, hard BootTime
	cutoff     BootTime // when a grace period ends
	cause      Reason   // why the ending began; empty while it has not
	termed     bool     // stepTerm was returned
}

func newPlan(soft, hard BootTime) plan {
	return plan{soft: soft, hard: max(soft, hard), cutoff: never}
}

// extend moves the deadlines forward. After the soft deadline the term is over,
// and a late message must not revive it.
func (p *plan) extend(now, soft, hard BootTime) {
	if now >= p.soft || now >= p.hard {
		return
	}
	p.soft = max(p.soft, soft)
	p.hard = max(p.hard, hard, p.soft)
}

// end begins the ending. The first cause stands; a later call can only shorten
// the grace period.
func (p *plan) end(now BootTime, cause Reason, grace time.Duration) {
	if p.cause == "" {
		p.cause = cause
	}
	p.cutoff = min(p.cutoff, now.Add(max(grace, 0)))
}

// due says what has to be done at now. It returns stepTerm once.
func (p *plan) due(now BootTime) step {
	if now >= p.hard {
		p.cause = HardDeadline
		return stepKill
	}
	if now >= p.cutoff {
		return stepKill
	}
	if now >= p.soft && p.cause == "" {
		p.cause = SoftDeadline
	}
	if p.cause != "" && !p.termed {
		p.termed = true
		return stepTerm
	}
	return stepNone
}

// next is the earliest moment at which due may return something new.
func (p *plan) next(now BootTime) BootTime {
	at := min(p.hard, p.cutoff)
	if now < p.soft {
		at = min(at, p.soft)
	}
	return at
}

const (
	// lookEvery is the longest time between two looks at the boot clock. Timers
	// stand still while the machine is suspended, so none may be longer.
	lookEvery = 100 * time.Millisecond
	// shortest keeps a due moment in the past from turning into a busy loop.
	shortest = time.Millisecond
)

// nap is how long to sleep before the next look at the clock.
func (p *plan) nap(now BootTime) time.Duration {
	return min(lookEvery, max(shortest, p.next(now).Sub(now)))
}
