package conformance

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tenure-go/tenure/backend"
)

var listerCases = []Case{
	{Name: "elections are listed page by page, in the order of their names", Rule: lister, run: listPages},
	{Name: "a page begins after any text, whether it is an election's name or not", Rule: lister, run: listAfter},
	{Name: "an election is listed through any client as soon as it was granted, and while it is free", Rule: lister, run: listFresh},
	{Name: "elections without a record are not listed", Rule: lister, run: listRecordsOnly},
	{Name: "elections with any names are listed once each", Rule: lister, run: listNames},
	{Name: "a limit that is not above zero is refused", Rule: lister, run: func(t *trial) {
		t.needLister()
		for _, limit := range []int{0, -1} {
			_, err := t.a.Elections(t.ctx, "", limit)
			t.refused(fmt.Sprintf("a list of %d names", limit), err, backend.ErrInvalid)
		}
	}},
}

// page reads one page and checks its form.
func (t *trial) page(s *recorder, after string, limit int) []string {
	got, err := s.Elections(t.ctx, after, limit)
	if err != nil {
		t.Fatalf("elections after %q: %v", after, err)
	}
	if len(got) > limit {
		t.Errorf("a page of at most %d names has %d", limit, len(got))
	}
	last := after
	for _, name := range got {
		if name <= last {
			t.Fatalf("the page after %q has %q after %q, want the order of the names' bytes", after, name, last)
		}
		last = name
	}
	return got
}

// seat gives an election a record.
func (t *trial) seat(s *recorder, election string) backend.Lease {
	c := t.claim("P")
	c.Election = election
	return t.grant(s, c)
}

// listPages names elections that begin with one text, which no other trial's do: they stand beside each other.
func listPages(t *trial) {
	t.needLister()
	const many = 25
	var want []string
	for i := range many {
		name := fmt.Sprintf("%s/%d", t.election, i)
		t.seat(t.client(i), name)
		want = append(want, name)
	}
	slices.Sort(want) // 0, 1, 10, 11, …
	for _, limit := range []int{1, 4, many} {
		after := t.election + "/"
		for rest := want; len(rest) > 0; {
			n := min(limit, len(rest))
			got := t.page(t.b, after, limit)
			if len(got) < n || !slices.Equal(got[:n], rest[:n]) {
				t.Fatalf("the page of %d after %q is %q, want %q", limit, after, got, rest[:n])
			}
			after, rest = rest[n-1], rest[n:]
		}
		if got := t.page(t.a, after, limit); len(got) > 0 && strings.HasPrefix(got[0], t.election+"/") {
			t.Errorf("after the last name %q comes %q", after, got[0])
		}
	}
	if got := t.page(t.a, t.election+"/", 10*many); len(got) < many || !slices.Equal(got[:many], want) {
		t.Errorf("a page with room for more is %q, want it to begin with %q", got, want)
	}
}

func listAfter(t *trial) {
	t.needLister()
	b, bb, d := t.election+"/b", t.election+"/bb", t.election+"/d"
	for _, name := range []string{d, bb, b} {
		t.seat(t.a, name)
	}
	for after, want := range map[string][]string{
		t.election:              {b, bb, d},
		t.election + "/a":       {b, bb, d},
		t.election + "/aé":      {b, bb, d},
		b:                       {bb, d},
		b + "\x00":              {bb, d},
		b + "a":                 {bb, d},
		bb:                      {d},
		bb + "🗳":                {d},
		t.election + "/c":       {d},
		t.election + "/c%_*?[]": {d},
		d:                       {},
		t.election + "/é":       {},
	} {
		got := t.page(t.b, after, 5)
		got = slices.DeleteFunc(got, func(name string) bool { return !strings.HasPrefix(name, t.election) })
		if !slices.Equal(got, want) {
			t.Errorf("after %q come %q, want %q", after, got, want)
		}
	}
}

// isListed looks for one name.
func (t *trial) isListed(s *recorder, election string) bool {
	before := election[:len(election)-1]
	for got := t.page(s, before, 100); ; got = t.page(s, got[len(got)-1], 100) {
		if slices.Contains(got, election) {
			return true
		}
		if len(got) < 100 || got[len(got)-1] > election {
			return false
		}
	}
}

func listFresh(t *trial) {
	t.needLister()
	check := func(after string) {
		for _, s := range []*recorder{t.a, t.b} {
			if !t.isListed(s, t.election) {
				t.Errorf("after %s the election is not listed", after)
			}
		}
	}
	l := t.grant(t.a, t.claim("P"))
	check("the first grant")
	t.renew(t.a, l)
	check("a renewal")
	t.release(t.a, l, backend.Handover{})
	check("a release")
	l = t.grant(t.b, t.claim("Q"))
	check("the next grant")
	t.release(t.b, l, backend.Handover{To: t.id("P"), For: t.long})
	check("a release with a reservation")
	s := t.open()
	if !t.isListed(s, t.election) {
		t.Errorf("a new client does not list the election")
	}
}

func listRecordsOnly(t *trial) {
	t.needLister()
	t.get(t.a)
	t.watch(t.ctx, t.a)
	if _, err := t.a.Renew(t.ctx, backend.Lease{Election: t.election, Holder: t.id("P"), Token: 1, Attempt: t.attempt(), TTL: t.long}); err == nil {
		t.Fatalf("renewal of what was never granted succeeded")
	}
	if implements[backend.Roster](t) {
		t.enlist(t.a, t.entry("P", "n"))
	}
	if t.isListed(t.b, t.election) {
		t.Errorf("an election that was looked at, watched and has candidates, and never had a holder, is listed")
	}
	t.seat(t.a, t.election+"/b")
	if t.isListed(t.b, t.election) {
		t.Errorf("an election without a record is listed beside one whose name goes on after it")
	}
}

// all lists every election in pages.
func (t *trial) all(s *recorder) []string {
	var all []string
	for after := ""; ; after = all[len(all)-1] {
		got := t.page(s, after, 50)
		all = append(all, got...)
		if len(got) < 50 {
			return all
		}
	}
}

func listNames(t *trial) {
	t.needLister()
	list := names("l" + t.suffix)
	for i, name := range list {
		t.seat(t.client(i), name)
	}
	for _, s := range []*recorder{t.a, t.b} {
		got := t.all(s)
		for _, name := range list {
			if _, found := slices.BinarySearch(got, name); !found { // the pages are in order, so each is there once
				t.Errorf("the election %q is not listed", name)
			}
		}
	}
}
