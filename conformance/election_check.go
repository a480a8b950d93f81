package conformance

import (
	"fmt"

	"github.com/tenure-go/tenure/backend"
)

// check tells what in the terms and sightings of a stage no elector may show, whatever the case was about. Only what is certain counts.
func (s *stage) check() []Failure {
	s.shown.Lock()
	defer s.shown.Unlock()
	var failures []Failure
	for i, a := range s.reigns {
		a.mu.Lock()
		failures = append(failures, a.failures...)
		a.mu.Unlock()
		failures = append(failures, s.checkReign(a)...)
		for _, b := range s.reigns[i+1:] {
			failures = append(failures, s.checkReigns(a, b)...)
		}
	}
	for _, w := range s.watchers {
		failures = append(failures, s.checkSightings(w)...)
	}
	return failures
}

// checkReign compares a term with what its client asked of the store.
func (s *stage) checkReign(r *reign) []Failure {
	var failures []Failure
	for _, c := range s.history.of(r.player.client, r.token.Attempt) {
		switch {
		case c.op == "acquire" && c.err == nil && c.granted.Token != r.token.Value:
			failures = append(failures, Failure{e2, fmt.Sprintf("%s leads under token %d, the store granted %d", r.player.id, r.token.Value, c.granted.Token)})
		case c.op == "release" && (r.returned.seq == 0 || c.sent.before(r.returned)):
			failures = append(failures, Failure{e4, fmt.Sprintf("%s gave its lease under token %d back before its work had returned", r.player.id, r.token.Value)})
		}
	}
	return failures
}

// checkReigns compares two terms, the first of which began first.
func (s *stage) checkReigns(a, b *reign) []Failure {
	var failures []Failure
	fail := func(rule Rule, format string) {
		failures = append(failures, Failure{rule, fmt.Sprintf(format, a.player.id, a.token.Value, b.player.id, b.token.Value)})
	}
	if a.player != b.player && a.leading.overlaps(&b.leading) {
		fail(e1, "Leading was true at one instant in %s (token %d) and in %s (token %d)")
	}
	if a.valid.overlaps(&b.valid) {
		fail(e1, "Valid was true at one instant in the terms of %s (token %d) and of %s (token %d)")
	}
	asked := s.history.firstAsked(b.token.Attempt)
	switch {
	case a.token.Value == b.token.Value:
		fail(e2, "%s led under token %d, and so did %s under %d")
	case asked.seq != 0 && a.began.before(asked) && a.token.Value > b.token.Value:
		fail(e2, "%s led under token %d, later %s under %d")
	}
	if b.token.Value > a.token.Value && b.began.before(a.alive) {
		fail(e3, "the context of %s's term (token %d) had not ended when %s began to lead (token %d)")
	}
	return failures
}

// checkSightings checks what an observer was told.
func (s *stage) checkSightings(w *watcher) []Failure {
	w.mu.Lock()
	defer w.mu.Unlock()
	var failures []Failure
	for i, now := range w.seen {
		if !now.Nobody() && !s.history.wasGranted(now.Candidate.ID, now.Token) {
			failures = append(failures, Failure{e8, fmt.Sprintf("an observer was told of %s under token %d, which was never granted", now.Candidate.ID, now.Token)})
		}
		if i == 0 {
			continue
		}
		switch last := w.seen[i-1]; {
		case now.Token < last.Token:
			failures = append(failures, Failure{e8, fmt.Sprintf("an observer was told of token %d after token %d", now.Token, last.Token)})
		case now.Token == last.Token && last.Nobody() && !now.Nobody():
			failures = append(failures, Failure{e8, fmt.Sprintf("an observer was told that %s leads under token %d after it was told that nobody does any more", now.Candidate.ID, now.Token)})
		}
	}
	return failures
}

// of lists one client's calls for one attempt.
func (h *history) of(client int, a backend.Attempt) []call {
	h.mu.Lock()
	defer h.mu.Unlock()
	var calls []call
	for _, c := range h.calls {
		if c.client == client && (c.claim.Attempt == a || c.lease.Attempt == a) {
			calls = append(calls, c)
		}
	}
	return calls
}

// lastGrant is the client's latest call that made or extended the attempt's lease.
func (h *history) lastGrant(client int, a backend.Attempt) *call {
	var last *call
	for _, c := range h.of(client, a) {
		if c.err == nil && (c.op == "acquire" || c.op == "renew") && (last == nil || last.sent.before(c.sent)) {
			last = &c
		}
	}
	return last
}

// firstAsked is when an attempt was first claimed.
func (h *history) firstAsked(a backend.Attempt) instant {
	h.mu.Lock()
	defer h.mu.Unlock()
	var first instant
	for _, c := range h.calls {
		if c.op == "acquire" && c.claim.Attempt == a && (first.seq == 0 || c.sent.before(first)) {
			first = c.sent
		}
	}
	return first
}

func (h *history) wasGranted(holder string, token int64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, c := range h.calls {
		if c.op == "acquire" && c.claim.Candidate.ID == holder && (c.err == nil && c.granted.Token == token || mayHaveApplied(c.err) && c.err != nil) {
			return true
		}
	}
	return false
}
