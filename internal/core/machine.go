package core

import (
	"encoding/binary"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/clock"
)

// Config is what a machine needs to know; all durations are resolved and valid.
type Config struct {
	Election       string
	Candidate      backend.Candidate
	TTL            time.Duration
	RenewInterval  time.Duration
	AttemptTimeout time.Duration
	DrainTimeout   time.Duration
	Cooldown       time.Duration // after a lost term
	Spread         time.Duration // wake-ups are spread over this
	Margins        Margins
	Guards         int
}

// State is where the machine stands; see the package comment.
type State uint8

// States.
const (
	Following State = iota
	Campaigning
	Sealing
	Leading
	Draining
	Lost
	Overrun
	Releasing
	Quarantined
)

var stateNames = [...]string{"following", "campaigning", "sealing", "leading", "draining", "lost", "overrun", "releasing", "quarantined"}

// String returns the state's name.
func (s State) String() string { return stateNames[s] }

// never is a time that doesn't come.
const never = int64(1<<63 - 1)

// Shared is what the machines of one loop have in common: their configuration, and the step that is under way. Like them it is not safe for concurrent use.
type Shared struct {
	cfg  Config
	now  clock.Reading // of the latest step, whosever it was
	rand [2]uint64
	out  []Action

	permits permits

	// What machines have in place of a campaign or term that they don't have: thousands of them would be costly. It is read, and never becomes anything but zero.
	noCampaign campaign
	noTerm     term
}

// Share returns what machines of one configuration share. Its election is not looked at.
func Share(cfg Config) *Shared { return &Shared{cfg: cfg} }

// Machine returns a machine that follows an election.
func (s *Shared) Machine(election string) Machine {
	return Machine{Shared: s, election: election, campaign: &s.noCampaign, term: &s.noTerm}
}

// Machine is the state of one election. It is not safe for concurrent use: one loop owns it.
type Machine struct {
	*Shared
	election string
	caller   uint64 // who wants to lead
	state    State
	mode     Mode
	closed   bool
	permit   bool
	waits    bool  // it is counted among those kept waiting
	rivals   uint8 // grows with races lost after a wake-up, see spread
	refused  int32 // grants in a row that a guard called stale
	crashes  int32 // terms in a row whose work failed, see Serve

	requests uint64 // numbers of requests
	terms    uint64 // numbers of terms
	floor    int64  // the highest token seen
	counter  int64  // the store's, as last seen
	barred   int64  // no look before this: the store has lost the record

	lastAnchor clock.Reading // of the last lease
	lastHard   time.Duration

	leader leader

	campaign *campaign // noCampaign while none was begun
	term     *term     // noTerm while none goes on
	watch    watch

	orphans        []orphan
	orphanNext     int64 // no release of them before this: however many there are, the store is asked no more often
	orphanFailures int32 // in a row
}

// leader is who leads, as far as was seen.
type leader struct {
	id    string
	token int64
	ttl   time.Duration
}

// New returns a machine of its own.
func New(cfg Config) *Machine {
	m := Share(cfg).Machine(cfg.Election)
	return &m
}

// State tells where the machine stands, for people and tests.
func (m *Machine) State() State { return m.state }

// Idle reports that nothing is wanted, under way or owed: the machine can be left alone until the next Want.
func (m *Machine) Idle() bool {
	return m.state == Following && m.mode == None && len(m.orphans) == 0 && m.campaign.request == 0 && m.watch.state == watchClosed
}

// Step takes one event in and returns what to do about it, in order.
func (m *Machine) Step(in Input) []Action {
	m.out = nil
	if m.now != (clock.Reading{}) {
		m.noteJump(in.Now)
	}
	m.now, m.rand = in.Now, in.Rand
	m.passTime()
	m.take(in.Event)
	m.advance()
	m.settlePermit()
	return m.out
}

func (m *Machine) take(e Event) {
	switch e.Kind {
	case Tick:
		switch m.state {
		case Leading, Draining, Lost:
			m.believe()
		}
	case Want:
		m.onWant(e.Mode, e.Caller)
	case Unwant:
		if e.Caller == m.caller {
			m.onUnwant(e.Err)
		}
	case Beat:
		m.onBeat()
	case Permit:
		m.onPermit()
	case Resign:
		m.onResign(e)
	case WorkReturned:
		m.onWorkReturned(e.Term, e.Err)
	case Overdue:
		m.onOverdue(e.Term)
	case Close:
		m.closed = true
		m.onUnwant(ErrClosed)
	case GotRecord:
		m.onRecord(e)
	case Acquired:
		m.onAcquired(e)
	case Renewed:
		m.onRenewed(e)
	case Released:
		m.onReleased(e)
	case Sealed:
		m.onSealed(e)
	case WatchOpened, Woken, WatchClosed:
		m.onWatch(e)
	}
}

// advance starts what is due; what it starts may lead to another state, which has work of its own.
func (m *Machine) advance() {
	for before := m.state; ; before = m.state {
		switch m.state {
		case Campaigning:
			m.advanceCampaign()
		case Quarantined:
			if m.now.Mono >= m.campaign.next {
				m.startCampaign(0)
			}
		case Sealing:
			m.advanceSeals()
		case Leading, Draining:
			m.advanceRenewal()
		case Releasing:
			m.advanceRelease()
		case Following, Lost, Overrun:
		}
		if m.state == before {
			break
		}
	}
	m.advanceOrphans()
}

// Due is the reading of the monotonic clock at which the machine wants a Tick, if any.
func (m *Machine) Due() (mono int64, ok bool) {
	due := min(m.dueCampaign(), m.dueTerm(), m.dueOrphans())
	return due, due != never
}

// in is the reading of the monotonic clock after d, however long that is.
func (m *Machine) in(d time.Duration) int64 { return m.now.Mono + min(int64(d), never-m.now.Mono) }

func (m *Machine) do(a Action) { m.out = append(m.out, a) }

// request numbers a request and tells the shell to send it.
func (m *Machine) request(a Action, timeout time.Duration) uint64 {
	m.requests++
	a.Request, a.Timeout = m.requests, int64(timeout)
	m.do(a)
	return m.requests
}

func (m *Machine) notify(n Notice) { m.do(Action{Kind: DoNotify, Notice: n}) }

func (m *Machine) setState(s State) { m.state = s }

func (m *Machine) noteJump(now clock.Reading) {
	if jump := clock.Jump(m.now, now); max(jump, -jump) > m.cfg.Margins.Safety {
		m.notify(Notice{Kind: NoteClockJump, Token: m.term.lease.Token})
	}
}

// draw returns the next random number of this step.
func (m *Machine) draw() uint64 {
	// splitmix64 (Steele, Lea, Flood 2014): one random word per step is stretched to as many as it takes.
	m.rand[0] += 0x9e3779b97f4a7c15
	z := m.rand[0]
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// jitter returns a random duration from 0 up to d.
func (m *Machine) jitter(d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	return time.Duration(m.draw() % uint64(d))
}

// drawAttempt returns a fresh attempt.
func (m *Machine) drawAttempt() backend.Attempt {
	var a backend.Attempt
	binary.LittleEndian.PutUint64(a[:8], m.rand[0])
	binary.LittleEndian.PutUint64(a[8:], m.rand[1])
	m.rand[0], m.rand[1] = m.draw(), m.draw()
	if a.IsZero() {
		a[0] = 1
	}
	return a
}

// backoff is the wait after the n-th failure in a row: full jitter, growing, never above most.
func (m *Machine) backoff(n int, most time.Duration) time.Duration {
	return m.jitter(Ceiling(n, most))
}

// Ceiling is the longest wait after the n-th failure in a row, counted from 0: it doubles up to most.
func Ceiling(n int, most time.Duration) time.Duration {
	return min(25*time.Millisecond<<min(n, 20), most)
}

// Patience is how many wake-ups in a row are believed although they told nothing.
const Patience = 4
