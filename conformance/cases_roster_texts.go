package conformance

import (
	"fmt"
	"strings"

	"github.com/tenure-go/tenure/backend"
)

func rosterOrder(t *trial) {
	t.needRoster()
	var all []backend.Entry
	for i, id := range names("c" + t.suffix) {
		e := t.entry("", fmt.Sprint("note of candidate ", i))
		e.Candidate = backend.Candidate{ID: id, Description: backend.Description{App: id}}
		all = append(all, e)
		t.enlist(t.client(i), e)
	}
	t.listed(t.a, t.election, "enlisting candidates with any IDs", all...)
	for i := 0; i < len(all); i += 2 {
		t.delist(t.client(i), all[i])
	}
	var rest []backend.Entry
	for i := 1; i < len(all); i += 2 {
		rest = append(rest, all[i])
	}
	t.listed(t.b, t.election, "delisting every second candidate", rest...)
}

// rosterNames enlists candidates whose IDs complete one election's name to another's, so that a key which joins the two would be one for both.
func rosterNames(t *trial) {
	t.needRoster()
	elections := names("r" + t.suffix)
	entries := make([]backend.Entry, len(elections))
	for i, name := range elections {
		e := t.entry("P", fmt.Sprint("note in election ", i))
		e.Election = name
		entries[i] = e
		t.enlist(t.client(i), e)
	}
	u := elections[0]
	for _, separator := range []string{"/", ":", "%2F", "\x00", " ", ".", "//"} {
		outer, inner := t.entry("", "outer"), t.entry("", "inner")
		outer.Election, outer.Candidate.ID = u+"joined", "b"+separator+"c"
		inner.Election, inner.Candidate.ID = u+"joined"+separator+"b", "c"
		t.enlist(t.a, outer, inner)
		t.listed(t.b, outer.Election, "enlisting in two elections", outer)
		t.listed(t.b, inner.Election, "enlisting in two elections", inner)
		t.delist(t.b, outer)
		t.listed(t.a, inner.Election, "delisting in another election", inner)
	}
	for i, e := range entries {
		t.listed(t.client(i+1), e.Election, "enlisting in elections with any names", e)
	}
	for i, e := range entries {
		t.delist(t.client(i), e)
		t.listed(t.client(i+1), e.Election, "delisting")
		if i+1 < len(entries) {
			t.listed(t.client(i), entries[i+1].Election, "delisting in another election", entries[i+1])
		}
	}
}

// texts lists notes that mean something to some encoding, of the greatest size too.
func texts() []string {
	list := []string{"", " ", "\x00", "null", "{}", `{"a":"b"}`, `\`, `"`, "'", "'; DROP TABLE leases; --", "$1", "%s", "\n", "a\r\nb\r\n", "\ufeff", "\ufffd", "\u2028\u2029", "<&>", "世界🗳", "e\u0301", "1e3", "007", " a ", "\x7f\x1b[0m"}
	for _, fill := range []string{"x", "\x00", `"`, `\`, "<", "\u2028", "é", "🗳", "\ufffd"} {
		list = append(list, strings.Repeat(fill, backend.MaxNote/len(fill)))
	}
	return list
}

func rosterTexts(t *trial) {
	t.needRoster()
	for i, text := range texts() {
		short := text[:min(len(text), 200)]
		if len(text) > len(short) { // not cut within a character
			short = strings.ToValidUTF8(short, "")
		}
		e := t.entry("P", text)
		e.Candidate.Description = backend.Description{App: short, Host: short, Port: 65535 - i, Version: short, Address: short}
		t.enlist(t.client(i), e)
		t.listed(t.client(i+1), t.election, fmt.Sprintf("enlisting with the text %.20q", text), e)
	}
	full := t.entry("", strings.Repeat("🗳", backend.MaxNote/4))
	full.Election = t.election + strings.Repeat("e", backend.MaxName-len(t.election))
	full.Candidate.ID = strings.Repeat("c", backend.MaxName)
	t.enlist(t.a, full)
	t.listed(t.b, full.Election, "enlisting with everything at its greatest size", full)
	full.Note = ""
	t.enlist(t.b, full)
	t.listed(t.a, full.Election, "enlisting without a note after a long one", full)
}
