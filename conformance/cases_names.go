package conformance

import (
	"strings"

	"github.com/tenure-go/tenure/backend"
)

var nameCases = []Case{
	{Name: "elections with any names are held at once by holders of their own", Rule: s11, Covers: []string{"EC25", "R35", "R36", "PE22"}, run: isolatedNames},
	{Name: "elections with any names have watches of their own", Rule: s11, run: watchedNames},
	{Name: "candidates may have any names", Rule: s11, run: candidateNames},
	{Name: "names that are empty, too long or not UTF-8 are refused everywhere", Rule: s11, run: refusedNames},
}

// names lists names that mean something to some store, shell, path or parser, and pairs that some of them take for one name. Each has u in it, so that no other trial
// uses it.
func names(u string) []string {
	long := strings.Repeat("n", backend.MaxName-len(u)-1)
	list := []string{
		u, u + "/b", u + "%2Fb", u + "//b", u + "/./b", u + "/../b", u + "/b/", u + "/", "/" + u, // paths
		"{" + u + "}", "{}" + u, "{" + u, "{a}{" + u + "}", "{" + u + "}a", "{" + u + "}b", // hash tags
		u + "Aa", u + "BB", // equal under a hash that is often used
		u + ":token", u + ":counter", u + ".lock", u + "#", u + "?x=y", u + "&", u + "+", u + "%20", u + "%00", u + "%", u + "%s",
		u + "*", u + "[a-z]", u + "\\", u + "'; DROP TABLE leases; --", u + `"`, u + "`", u + "$(x)", u + "_", u + "b",
		u + " ", " " + u, u + ".", "." + u, ".." + u, u + "\n", u + "\r\n", u + "\t", u + "\x00", "\x00" + u, u + "\x00b", u + "\x7f",
		strings.ToUpper(u), u + "é", u + "e\u0301", u + "\u202e", u + "\ufffd", u + "世界", u + "🗳",
		u + long + "x", u + long + "y", long + u + "x", // all of their 256 bytes count
	}
	return list
}

func isolatedNames(t *trial) {
	list := names("u" + t.suffix)
	leases := make([]backend.Lease, len(list))
	for i, name := range list {
		c := t.claim("P")
		c.Election = name
		l, err := t.client(i).Acquire(t.ctx, c)
		if err != nil {
			t.Fatalf("acquire of the election %q while others are held: %v", name, err)
		}
		t.checkLease(l, c)
		leases[i] = l
	}
	for i, l := range leases {
		if r := t.read(t.client(i+1), l.Election); r.Election != l.Election {
			t.Errorf("get of %q tells %q", l.Election, r.Election)
		}
		t.stillHeld(t.client(i+1), l, "others were acquired")
		t.renew(t.client(i), l)
	}
	for i, l := range leases {
		t.release(t.client(i), l, backend.Handover{})
		if r := t.read(t.b, l.Election); r.Held() {
			t.Errorf("%q is %v after its release", l.Election, r)
		}
		if i+1 < len(leases) {
			t.stillHeld(t.b, leases[i+1], "the release of another election")
		}
	}
}

func watchedNames(t *trial) {
	t.needWakeUps()
	for _, name := range names("w" + t.suffix) {
		t.election = name
		ch := t.watch(t.ctx, t.b)
		t.settle(ch)
		l := t.grant(t.a, t.claim("P"))
		t.woken(ch, "a grant of its election")
		t.release(t.a, l, backend.Handover{})
	}
}

func candidateNames(t *trial) {
	for i, id := range names("c" + t.suffix) {
		c := t.claim("P")
		c.Candidate.ID = id
		c.Candidate.Description = backend.Description{App: id, Address: id}
		l := t.grant(t.client(i), c)
		if r := t.get(t.client(i + 1)); r.Holder != c.Candidate {
			t.Errorf("get tells the holder %+v, want %+v", r.Holder, c.Candidate)
		}
		t.renew(t.client(i), l)
		t.release(t.client(i), l, backend.Handover{To: id, For: t.long})
		t.reservedFor(t.b, "Q", id, t.long)
		c.Attempt = t.attempt()
		t.release(t.a, t.grant(t.a, c), backend.Handover{})
	}
}

func refusedNames(t *trial) {
	for _, name := range []string{"", strings.Repeat("x", backend.MaxName+1), t.election + "\xff", "\xc3\x28" + t.suffix, t.election + "\xed\xa0\x80"} {
		own := t.election
		t.election = name
		for op, call := range t.calls(t.a) {
			t.refused(op+" of an election with an unusable name", call(t.ctx), backend.ErrInvalid)
		}
		t.election = own
		c := t.claim("P")
		c.Candidate.ID = name
		_, err := t.a.Acquire(t.ctx, c)
		t.refused("acquire by a candidate with an unusable name", err, backend.ErrInvalid)
		if name != "" {
			l := t.grant(t.a, t.claim("P"))
			t.refused("a reservation for a candidate with an unusable name", t.a.Release(t.ctx, l, backend.Handover{To: name, For: t.ttl}), backend.ErrInvalid)
			t.release(t.a, l, backend.Handover{})
		}
	}
	t.isFree(t.b, "claims with unusable names")
}
