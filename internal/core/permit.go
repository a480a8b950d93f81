package core

import "errors"

// permits bound how many elections the machines of a loop hold. A machine has one from its claim on until it is certain to hold nothing. most is never exceeded; target is
// what balance among candidates asks for, and gives way where an election would stay without a leader.
type permits struct {
	most, target int // zero: no bound; most below zero: none at all
	taken        int
	waiting      int  // machines that are kept waiting
	freed        bool // one was given back, or there are more of them, since the loop last asked
}

// ErrIneligible says that this candidate may not lead at present.
var ErrIneligible = errors.New("elector: this candidate may not lead at present")

// Bound sets how many elections may be held at most, and how many should be; zero: no bound, a most below zero: none. What is held already stays so.
func (s *Shared) Bound(most, target int) {
	s.permits.freed = s.permits.freed || most == 0 || most > s.permits.most || target == 0 || target > s.permits.target
	s.permits.most, s.permits.target = most, target
}

// Freed reports, once, that machines which are kept waiting may try again.
func (s *Shared) Freed() bool {
	freed := s.permits.freed && s.permits.waiting > 0
	s.permits.freed = false
	return freed
}

// Taken is how many elections are held, or may be.
func (s *Shared) Taken() int { return s.permits.taken }

// KeptWaiting reports that the machine would claim its election if it had a permit.
func (m *Machine) KeptWaiting() bool { return m.state == Campaigning && m.campaign.kept }

// mayClaim takes a permit if there is one.
func (m *Machine) mayClaim() bool {
	c, p := m.campaign, &m.permits
	over := p.target > 0 && p.taken >= p.target
	switch {
	case m.permit:
		return true
	case p.most < 0 && m.mode == Try:
		m.finish(ErrIneligible)
		return false
	case p.most < 0, p.most > 0 && p.taken >= p.most:
	case over && (!c.kept || m.now.Mono-c.keptSince < int64(m.cfg.TTL/10)):
	default:
		m.permit, c.kept = true, false
		p.taken++
		return true
	}
	if !c.kept {
		c.kept, c.keptSince = true, m.now.Mono
	}
	c.next = m.in(m.cfg.TTL/20 + m.jitter(m.cfg.TTL/10))
	return false
}

// settlePermit gives the permit back when nothing is held and no claim is under way whose outcome isn't known.
func (m *Machine) settlePermit() {
	if waits := m.KeptWaiting(); waits != m.waits {
		m.waits = waits
		if waits {
			m.permits.waiting++
		} else {
			m.permits.waiting--
		}
	}
	if !m.permit || m.campaign.asked || m.state != Following && m.state != Campaigning && m.state != Quarantined {
		return
	}
	m.permit = false
	m.permits.taken--
	m.permits.freed = true
}

// onPermit tries again at once.
func (m *Machine) onPermit() {
	if m.KeptWaiting() && m.campaign.request == 0 {
		m.campaign.next = m.now.Mono
	}
}
