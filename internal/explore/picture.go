package explore

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/clock"
)

// picture is what a state looks like: the same for all states that will go on alike. Times are told from the present, tokens by their order, attempts and requests by whether they
// are the same, candidates in an order of their own.
type picture struct {
	words    []uint64
	tokens   []int // positions in words
	sorted   []uint64
	attempts []backend.Attempt
	requests []uint64
	order    [mostCandidates]int // candidates as they come in the picture
	place    [mostCandidates]int // the reverse
	lives    [mostCandidates]uint8
	mono     int64
	pace     int64
}

func (p *picture) reset() {
	p.words, p.tokens, p.attempts = p.words[:0], p.tokens[:0], append(p.attempts[:0], backend.Attempt{})
}

// turn turns to the machine of process i.
func (p *picture) turn(s *state, i int) {
	p.mono, p.pace = s.now(i).Mono, pace(s.processes[i].rate)
	p.requests = append(p.requests[:0], 0)
}

func (p *picture) Number(n int64) { p.words = append(p.words, uint64(n)) }

// Due is in quanta: nobody looks in between.
func (p *picture) Due(mono int64) {
	p.Number(quanta(mono-p.mono, p.pace))
}

// quanta is after how many steps a clock has gone on by a wait; never, after very many.
func quanta(wait, pace int64) int64 {
	wait = min(max(wait, 0), int64(time.Hour))
	return (wait + pace - 1) / pace
}

func (p *picture) Since(mono int64, enough time.Duration) {
	p.Number(min(p.mono-mono, int64(enough)+1))
}

func (p *picture) Token(token int64) {
	p.tokens = append(p.tokens, len(p.words))
	p.Number(token)
}

func (p *picture) Attempt(a backend.Attempt) {
	n := slices.Index(p.attempts, a)
	if n < 0 {
		n = len(p.attempts)
		p.attempts = append(p.attempts, a)
	}
	p.Number(int64(n))
}

func (p *picture) Request(number uint64) {
	n := slices.Index(p.requests, number)
	if n < 0 {
		n = len(p.requests)
		p.requests = append(p.requests, number)
	}
	p.Number(int64(n))
}

func (p *picture) Candidate(id string) {
	if id == "" {
		p.Number(0)
		return
	}
	i, age := int(id[0]-'a'), p.lives[id[0]-'a']-(id[1]-'0')
	p.Number(int64(1 + p.place[i] + 8*int(age)))
}

// sum closes the picture: tokens are replaced by their ranks, and everything by one number.
func (p *picture) sum() uint64 {
	p.sorted = append(p.sorted[:0], 0)
	for _, at := range p.tokens {
		p.sorted = append(p.sorted, p.words[at])
	}
	slices.Sort(p.sorted)
	p.sorted = slices.Compact(p.sorted)
	for _, at := range p.tokens {
		n, _ := slices.BinarySearch(p.sorted, p.words[at])
		p.words[at] = uint64(n)
	}
	h := uint64(len(p.words))
	for _, w := range p.words {
		h = mix(h + golden ^ w)
	}
	return h
}

// of returns the number of a state: alike states have the same one. Candidates are put in the order of what they look like alone, so that it doesn't matter which is which.
func (p *picture) of(s *state) uint64 {
	var looks [mostCandidates]uint64
	n := s.w.Candidates
	for i := range n {
		p.lives[i] = s.processes[i].life
		p.order[i] = i
	}
	for i := range n {
		looks[i] = look(s, i)
	}
	slices.SortStableFunc(p.order[:n], func(a, b int) int { return cmp.Compare(looks[a], looks[b]) })
	return p.least(s, &looks, 0)
}

// least is the smallest of the sums in all orders of those who look the same, from the k-th on.
func (p *picture) least(s *state, looks *[mostCandidates]uint64, k int) uint64 {
	order := p.order[:s.w.Candidates]
	if k == len(order)-1 {
		return p.whole(s, order)
	}
	best, same := uint64(math.MaxUint64), looks[order[k]]
	for j := k; j < len(order) && looks[order[j]] == same; j++ {
		order[k], order[j] = order[j], order[k]
		best = min(best, p.least(s, looks, k+1))
		order[k], order[j] = order[j], order[k]
	}
	return best
}

func (p *picture) whole(s *state, order []int) uint64 {
	for k, i := range order {
		p.place[i] = k
	}
	p.reset()
	p.Number(int64(s.storeRate))
	p.Number(int64(s.crashes) | int64(s.pauses)<<8 | int64(s.losses)<<16 | int64(s.copies)<<24)
	p.Token(s.begun)
	p.store(s)
	for _, i := range order {
		p.process(s, i)
	}
	return p.sum()
}

// look is what tells candidates apart at a glance.
func look(s *state, i int) (n uint64) {
	p := &s.processes[i]
	due, _ := p.m.Due()
	for f := range s.flights {
		if int(s.flights[f].who) == i {
			n += mix(uint64(s.flights[f].asked.Kind)<<16 | uint64(s.flights[f].stage)<<8 | uint64(flags(s.flights[f].awaited)))
		}
	}
	for _, word := range [...]int64{
		int64(p.rate), int64(p.m.State()), flags(p.paused, p.wake, p.term != 0, p.told, s.entry.Holder.ID == name(i, p.life), s.entry.Attempt == p.attempt),
		quanta(due-s.now(i).Mono, pace(p.rate)),
	} {
		n = mix(n + golden ^ uint64(word))
	}
	return n
}

func (p *picture) store(s *state) {
	now := reading(s.at, s.storeRate).Mono
	e := &s.entry
	p.Token(e.Counter)
	p.Attempt(e.Attempt)
	p.Number(max(e.Expires-now, 0))
	p.Candidate(e.Holder.ID)
	p.Token(e.Token)
	p.Number(flags(e.Released))
}

func (p *picture) process(s *state, i int) {
	c := &s.processes[i]
	p.turn(s, i)
	p.Number(int64(c.rate))
	p.Number(flags(c.paused, c.wake, c.term != 0, c.told, c.watch != 0))
	c.m.Snapshot(p)
	p.Token(c.token)
	p.Attempt(c.attempt)
	p.Number(max(c.belief.Hard-int64(clock.Elapsed(c.belief.Anchor, s.now(i))), 0))
	p.flights(s, i)
}

func flags(set ...bool) (n int64) {
	for i, is := range set {
		if is {
			n |= 1 << i
		}
	}
	return n
}
