package conformance

import (
	"fmt"
	"math"
	"time"

	"github.com/tenure-go/tenure/backend"
)

// term is what a history says for certain about one granted attempt.
//
// Its lease lives for certain from the first reply that granted it (it began before that) until certain, the time before which it can't have ended: the latest start
// of a request that was granted, plus the TTL granted. Any call that may have ended it earlier, whatever it replied, moves its end to the start of that call.
type term struct {
	election  string
	holder    string
	attempt   backend.Attempt
	token     int64
	asked     instant   // the first request with this attempt: it was not granted before
	granted   instant   // the first reply that granted it: it was granted by then
	certain   time.Time // it doesn't expire before
	mayEnd    int64     // seq of the first call that may have ended it
	released  instant   // the first release that was confirmed; zero: none
	minFloor  int64
	confirmed bool
}

// check tells what in the history can't have happened in a store that keeps its contract. Only what is certain counts.
func (h *history) check(limits backend.Limits) []Failure {
	h.mu.Lock()
	defer h.mu.Unlock()
	terms, failures := h.terms(limits)
	for i, a := range terms {
		failures = append(failures, h.checkTerm(a)...)
		for _, b := range terms[i+1:] {
			if a.election == b.election {
				failures = append(failures, checkPair(a, b)...)
			}
		}
	}
	return append(failures, h.checkRevived(terms)...)
}

// key names a term while its token may be unknown.
type key struct {
	election string
	attempt  backend.Attempt
}

// terms collects the granted attempts, in the order of their first replies.
func (h *history) terms(limits backend.Limits) (order []*term, failures []Failure) {
	terms := make(map[key]*term)
	for _, c := range h.calls {
		if c.op != "acquire" {
			continue
		}
		t := terms[key{c.election, c.claim.Attempt}]
		if t == nil {
			t = &term{election: c.election, holder: c.claim.Candidate.ID, attempt: c.claim.Attempt, asked: c.sent, mayEnd: math.MaxInt64, minFloor: c.claim.Floor}
			terms[key{c.election, c.claim.Attempt}] = t
		}
		if c.sent.before(t.asked) {
			t.asked = c.sent
		}
		t.minFloor = min(t.minFloor, c.claim.Floor)
		if c.err != nil {
			continue
		}
		if !t.confirmed {
			t.confirmed, t.token, t.granted = true, c.granted.Token, c.replied
			order = append(order, t)
		} else if t.token != c.granted.Token {
			failures = append(failures, Failure{s3, fmt.Sprintf("attempt %s of %s was granted %q under token %d and under token %d", t.attempt, t.holder, c.election, t.token, c.granted.Token)})
		}
		t.extend(c, limits)
	}
	for _, c := range h.calls {
		c.apply(terms, limits)
	}
	return order, failures
}

// apply takes renewals, releases, removals and claims that pass over an abandoned attempt into account.
func (c call) apply(terms map[key]*term, limits backend.Limits) {
	t := terms[key{c.election, c.lease.Attempt}]
	switch {
	case c.op == "renew" && t != nil && c.err == nil && t.token == c.lease.Token:
		t.extend(c, limits)
	case c.op == "release" && t != nil && mayHaveApplied(c.err):
		t.mayEnd = min(t.mayEnd, c.sent.seq)
		if c.err == nil && (t.released.seq == 0 || c.replied.before(t.released)) {
			t.released = c.replied
		}
	case c.op == "remove":
		for _, t := range terms {
			if t.election == c.election {
				t.mayEnd = min(t.mayEnd, c.sent.seq)
			}
		}
	case c.op == "acquire" && mayHaveApplied(c.err):
		for _, abandoned := range c.claim.Abandoned {
			if t := terms[key{c.election, abandoned}]; t != nil && t.holder == c.claim.Candidate.ID {
				t.mayEnd = min(t.mayEnd, c.sent.seq)
			}
		}
	}
}

// mayHaveApplied reports whether a call with this result can have changed the store.
func mayHaveApplied(err error) bool {
	switch backend.ClassOf(err) {
	case backend.OK, backend.Unknown, backend.Denied:
		return true
	}
	return false
}

// extend moves the certain end of the lease.
func (t *term) extend(c call, limits backend.Limits) {
	if end := c.sent.at.Add(certain(c.granted, limits)); end.After(t.certain) {
		t.certain = end
	}
}

// certain is how long a lease lives at least, counted on the clock of this process from the start of the call that granted it.
func certain(l backend.Lease, limits backend.Limits) time.Duration {
	return l.TTL - l.AnchorAge - tolerance(l.TTL) - limits.ClockStep
}

// tolerance is by how much a store's clock may be faster than the one of this process: 0.2 % of the time passed.
func tolerance(ttl time.Duration) time.Duration { return ttl / 500 }

// lives reports whether the term lives at i for certain.
func (t *term) lives(i instant) bool {
	return !i.before(t.granted) && i.seq < t.mayEnd && i.at.Before(t.certain)
}

func checkPair(a, b *term) []Failure {
	var failures []Failure
	both := a.granted
	if a.granted.before(b.granted) {
		both = b.granted
	}
	if a.lives(both) && b.lives(both) {
		failures = append(failures, Failure{s1, fmt.Sprintf("%q was held twice at once: by %s and by %s", a.election, a, b)})
	}
	switch {
	case a.token == b.token:
		failures = append(failures, Failure{s2, fmt.Sprintf("%q was granted twice under one token: to %s and to %s", a.election, a, b)})
	case a.granted.before(b.asked) && a.token > b.token:
		failures = append(failures, Failure{s2, fmt.Sprintf("the tokens of %q fell: first %s, later %s", a.election, a, b)})
	case b.granted.before(a.asked) && b.token > a.token:
		failures = append(failures, Failure{s2, fmt.Sprintf("the tokens of %q fell: first %s, later %s", a.election, b, a)})
	}
	return failures
}

func (t *term) String() string {
	return fmt.Sprintf("%s (token %d, attempt %s)", t.holder, t.token, t.attempt)
}

// checkTerm checks a term against floors and raised counters.
func (h *history) checkTerm(t *term) []Failure {
	var failures []Failure
	if t.token <= t.minFloor {
		failures = append(failures, Failure{s2, fmt.Sprintf("%q was granted to %s, not above the floor %d", t.election, t, t.minFloor)})
	}
	for _, c := range h.calls {
		if c.op == "raise" && c.err == nil && c.election == t.election && c.replied.before(t.asked) && t.token <= c.raised {
			failures = append(failures, Failure{s2, fmt.Sprintf("%q was granted to %s, not above %d to which its counter had been raised", t.election, t, c.raised)})
		}
	}
	return failures
}

// checkRevived looks for terms that lived on after their release or after a later one began.
func (h *history) checkRevived(terms []*term) []Failure {
	var failures []Failure
	for _, c := range h.calls {
		rule, attempt := s4, c.lease.Attempt
		if c.op == "acquire" {
			rule, attempt = s3, c.claim.Attempt
		}
		if c.err != nil || c.op != "acquire" && c.op != "renew" {
			continue
		}
		asked := int64(0) // of a first claim: that its token is lower is checkPair's
		for _, t := range terms {
			if t.election == c.election && t.attempt == attempt && c.op == "acquire" {
				asked = t.asked.seq
			}
		}
		for _, t := range terms {
			switch {
			case t.election != c.election:
			case t.attempt == attempt && t.released.seq != 0 && t.released.before(c.sent):
				failures = append(failures, Failure{rule, fmt.Sprintf("%s of %q succeeded for %s after its release had been confirmed", c.op, c.election, t)})
			case t.attempt != attempt && t.granted.before(c.sent) && (asked == 0 || asked < t.granted.seq) && t.token > c.granted.Token:
				failures = append(failures, Failure{rule, fmt.Sprintf("%s of %q succeeded under token %d after the later term of %s had begun", c.op, c.election, c.granted.Token, t)})
			}
		}
	}
	return failures
}
