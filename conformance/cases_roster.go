package conformance

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tenure-go/tenure/backend"
)

var rosterCases = []Case{
	{Name: "a candidate that enlists is listed through any client as soon as the call has returned", Rule: roster, run: rosterFresh},
	{Name: "an entry is listed for its TTL and is gone soon after, and the others stay", Rule: roster, Waits: true, run: rosterEnds},
	{Name: "a repeated entry replaces the first and begins its time anew", Rule: roster, Waits: true, run: rosterRenewed},
	{Name: "a candidate that delists is gone at once, and delisting nobody is no error", Rule: roster, run: rosterDelists},
	{Name: "many candidates that enlist and delist at once lose nobody's entry", Rule: roster, run: rosterAtOnce},
	{Name: "candidates with any IDs are listed, in the order of the IDs' bytes", Rule: roster, run: rosterOrder},
	{Name: "elections with any names have lists of their own", Rule: roster, run: rosterNames},
	{Name: "descriptions and notes of any text and the greatest size come back as they were", Rule: roster, run: rosterTexts},
	{Name: "a list neither makes an election's record nor changes it", Rule: roster, run: rosterLeavesRecord},
	{Name: "grants, renewals, releases and ended leases do not change a list", Rule: roster, Waits: true, run: rosterLeases},
	{Name: "entries with unusable names, notes and TTLs are refused", Rule: roster, run: rosterRefused},
}

// entry lists the named candidate for longer than the case.
func (t *trial) entry(name, note string) backend.Entry {
	c := backend.Candidate{ID: t.id(name), Description: backend.Description{App: "conformance"}}
	return backend.Entry{Election: t.election, Candidate: c, Note: note, TTL: min(t.long, 24*time.Hour)}
}

func (t *trial) enlist(s *recorder, entries ...backend.Entry) {
	for _, e := range entries {
		if err := s.Enlist(t.ctx, e); err != nil {
			t.Fatalf("enlist of %q in %q: %v", e.Candidate.ID, e.Election, err)
		}
	}
}

func (t *trial) delist(s *recorder, e backend.Entry) {
	if err := s.Delist(t.ctx, e.Election, e.Candidate.ID); err != nil {
		t.Fatalf("delist of %q in %q: %v", e.Candidate.ID, e.Election, err)
	}
}

func (t *trial) candidates(s *recorder, election string) []backend.Entry {
	entries, err := s.Candidates(t.ctx, election)
	if err != nil {
		t.Fatalf("candidates of %q: %v", election, err)
	}
	return entries
}

// listed checks that exactly want is listed, in the order of the IDs. How a store tells the TTL of an entry is its own business.
func (t *trial) listed(s *recorder, election, after string, want ...backend.Entry) {
	got := t.candidates(s, election)
	want = slices.Clone(want)
	slices.SortFunc(want, func(a, b backend.Entry) int { return strings.Compare(a.Candidate.ID, b.Candidate.ID) })
	same := func(a, b backend.Entry) bool {
		return a.Election == b.Election && a.Candidate == b.Candidate && a.Note == b.Note
	}
	if !slices.EqualFunc(got, want, same) {
		t.Errorf("after %s %q lists %s, want %s", after, election, shown(got), shown(want))
	}
}

// shown is a list in a length that people read.
func shown(entries []backend.Entry) string {
	var texts []string
	for _, e := range entries {
		texts = append(texts, fmt.Sprintf("%q of %q (note of %d bytes, %.40q)", e.Candidate.ID, e.Election, len(e.Note), e.Note))
	}
	return "[" + strings.Join(texts, ", ") + "]"
}

func rosterFresh(t *trial) {
	t.needRoster()
	t.listed(t.a, t.election, "nothing")
	var all []backend.Entry
	for i := range 10 {
		e := t.entry(fmt.Sprint("P", i), fmt.Sprint("note ", i))
		t.enlist(t.client(i), e)
		all = append(all, e)
		t.listed(t.client(i+1), t.election, "enlisting through another client", all...)
		t.listed(t.client(i), t.election, "enlisting", all...)
		t.delist(t.client(i+1), all[0])
		all = all[1:]
		t.listed(t.client(i), t.election, "delisting through another client", all...)
		t.enlist(t.client(i), e)
		all = append(all[:0:0], e)
	}
}

// rosterEnds looks until the entry is gone. Looks that were answered before its TTL had passed since the call must have shown it.
func rosterEnds(t *trial) {
	t.needRoster()
	stays := t.entry("S", "stays")
	t.enlist(t.a, stays)
	e := t.entry("P", "goes")
	e.TTL = t.ttl
	sent := time.Now()
	t.enlist(t.a, e)
	until := time.Now().Add(e.TTL + backend.RosterLag + generous)
	t.listedUntil(e, sent)
	for {
		late := time.Now().After(until)
		got := t.candidates(t.b, t.election)
		if !contains(got, stays) {
			t.Fatalf("the end of another's entry took an entry for %v with it: %s", stays.TTL, shown(got))
		}
		if !contains(got, e) {
			break
		}
		if late {
			t.Fatalf("an entry for %v is still listed %v later", e.TTL, time.Since(sent))
		}
		t.wait(10 * t.step())
	}
	t.listed(t.a, t.election, "the end of an entry", stays)
	t.delist(t.a, e) // it is gone already
	e.TTL = stays.TTL
	t.enlist(t.b, e)
	t.listed(t.a, t.election, "enlisting anew after the end of an entry", stays, e)
}

func contains(entries []backend.Entry, e backend.Entry) bool {
	return slices.ContainsFunc(entries, func(x backend.Entry) bool { return x.Candidate.ID == e.Candidate.ID })
}

// listedUntil looks for as long as e, which was enlisted at sent, must be listed.
func (t *trial) listedUntil(e backend.Entry, sent time.Time) {
	end := sent.Add(e.TTL - tolerance(e.TTL) - t.limits.ClockStep)
	for time.Now().Before(end) {
		got := t.candidates(t.b, e.Election)
		if replied := time.Now(); replied.Before(end) && !contains(got, e) {
			t.Fatalf("an entry for %v is gone %v after it was enlisted", e.TTL, replied.Sub(sent))
		}
		t.wait(t.step())
	}
}

func rosterRenewed(t *trial) {
	t.needRoster()
	e := t.entry("P", "first")
	e.TTL = t.ttl
	t.enlist(t.a, e)
	for _, note := range []string{"second", "third", ""} {
		t.wait(t.ttl / 2)
		e.Note, e.Candidate.Address = note, "host:"+note
		sent := time.Now()
		t.enlist(t.a, e)
		got := t.candidates(t.b, t.election)
		if time.Since(sent) < e.TTL/2 && (len(got) != 1 || got[0].Note != note || got[0].Candidate != e.Candidate) {
			t.Fatalf("after a repeat with the note %q the list is %s, want that entry alone", note, shown(got))
		}
	}
	sent := time.Now()
	t.enlist(t.b, e) // through another client
	t.listedUntil(e, sent)
	shorter := t.entry("Q", "long")
	t.enlist(t.a, shorter)
	shorter.TTL = t.ttl
	t.enlist(t.a, shorter)
	until := time.Now().Add(shorter.TTL + backend.RosterLag + generous)
	for len(t.candidates(t.b, t.election)) > 0 {
		if time.Now().After(until) {
			t.Fatalf("an entry that was repeated with the shorter TTL %v is listed longer than that", shorter.TTL)
		}
		t.wait(10 * t.step())
	}
}

func rosterDelists(t *trial) {
	t.needRoster()
	p, q := t.entry("P", "p"), t.entry("Q", "q")
	t.delist(t.a, p) // of an election that nobody knows
	t.enlist(t.a, p, q)
	t.delist(t.b, p)
	t.listed(t.a, t.election, "delisting one of two", q)
	t.delist(t.a, p)
	t.listed(t.b, t.election, "delisting it again", q)
	t.enlist(t.a, p)
	t.listed(t.b, t.election, "enlisting it again", p, q)
	t.delist(t.a, q)
	t.delist(t.a, p)
	t.listed(t.b, t.election, "delisting the last one")
}

func rosterAtOnce(t *trial) {
	t.needRoster()
	const many = 40
	stay, go1 := make([]backend.Entry, many), make([]backend.Entry, many)
	for i := range many {
		stay[i], go1[i] = t.entry(fmt.Sprint("S", i), "stays"), t.entry(fmt.Sprint("G", i), "goes")
	}
	t.together(many, func(i int) {
		s := t.client(i)
		err := s.Enlist(t.ctx, go1[i])
		if err == nil {
			err = s.Enlist(t.ctx, stay[i])
		}
		if err == nil {
			err = s.Delist(t.ctx, go1[i].Election, go1[i].Candidate.ID)
		}
		if err != nil {
			t.Errorf("enlisting and delisting beside others: %v", err)
		}
	})
	t.listed(t.a, t.election, "enlisting and delisting of many at once", stay...)
	t.listed(t.b, t.election, "enlisting and delisting of many at once", stay...)
}

func rosterRefused(t *trial) {
	t.needRoster()
	change := func(f func(*backend.Entry)) backend.Entry {
		e := t.entry("P", "n")
		f(&e)
		return e
	}
	for what, e := range map[string]backend.Entry{
		"an election without a name":  change(func(e *backend.Entry) { e.Election = "" }),
		"a candidate without an ID":   change(func(e *backend.Entry) { e.Candidate.ID = "" }),
		"an ID that is not UTF-8":     change(func(e *backend.Entry) { e.Candidate.ID = "\xff" }),
		"a note that is too long":     change(func(e *backend.Entry) { e.Note = strings.Repeat("x", backend.MaxNote+1) }),
		"a note that is not UTF-8":    change(func(e *backend.Entry) { e.Note = "\xff" }),
		"no time":                     change(func(e *backend.Entry) { e.TTL = 0 }),
		"a time below zero":           change(func(e *backend.Entry) { e.TTL = -1 }),
		"a time of more than one day": change(func(e *backend.Entry) { e.TTL = 24*time.Hour + 1 }),
	} {
		t.refused("enlist with "+what, t.a.Enlist(t.ctx, e), backend.ErrInvalid)
	}
	t.refused("delist without an ID", t.a.Delist(t.ctx, t.election, ""), backend.ErrInvalid)
	_, err := t.a.Candidates(t.ctx, "")
	t.refused("candidates of an election without a name", err, backend.ErrInvalid)
	t.listed(t.b, t.election, "refused entries")
	ended, cancel := context.WithCancel(t.ctx)
	cancel()
	if err := t.a.Enlist(ended, t.entry("P", "n")); err == nil {
		t.Errorf("enlist with an ended context succeeded")
	}
	s := t.open()
	if err := s.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	t.refused("enlist after Close", s.Enlist(t.ctx, t.entry("P", "n")), backend.ErrClosed)
}
