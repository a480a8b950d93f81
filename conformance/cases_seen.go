package conformance

import "github.com/tenure-go/tenure/backend"

var seenCases = []Case{
	{Name: "a claim that has seen the present counter is granted", Rule: s3, run: seenPresent},
	{Name: "a claim that has seen an older counter is outdated and grants nothing", Rule: s3, run: seenOlder},
	{Name: "a repeat of a live attempt is granted though its counter was seen before the grant", Rule: s3, run: seenRepeated},
	{Name: "a late copy of a claim after other terms is outdated", Rule: s3, Covers: []string{"DX10"}, run: seenLateCopy},
}

func (t *trial) seen(name string, counter int64) backend.Claim {
	c := t.claim(name)
	c.Seen = backend.SeenAt(counter)
	return c
}

func seenPresent(t *trial) {
	l := t.grant(t.a, t.seen("P", t.get(t.a).Counter)) // zero: never used
	t.release(t.a, l, backend.Handover{})
	t.grant(t.b, t.seen("Q", t.get(t.b).Counter))
}

func seenOlder(t *trial) {
	first := t.next(t.a, "P", 0)
	second := t.next(t.b, "Q", 0)
	for _, counter := range []int64{0, first.Token, second.Token - 1, second.Token + 1} {
		if counter == second.Token {
			continue
		}
		_, err := t.a.Acquire(t.ctx, t.seen("P", counter))
		t.refused("acquire that has seen another counter", err, backend.ErrOutdated)
	}
	t.isFree(t.b, "outdated claims")
	if r := t.get(t.b); r.Counter != second.Token {
		t.Errorf("the counter is %d after outdated claims, want %d", r.Counter, second.Token)
	}
}

func seenRepeated(t *trial) {
	c := t.seen("P", t.get(t.a).Counter)
	first := t.grant(t.a, c)
	again, err := t.b.Acquire(t.ctx, c)
	if err != nil || again.Token != first.Token {
		t.Errorf("a repeat of a live attempt that has seen the counter before its grant: got token %d and %v, want token %d", again.Token, orSuccess(err), first.Token)
	}
}

// seenLateCopy: the record remembers the last attempt only; older ones are refused by what they have seen.
func seenLateCopy(t *trial) {
	l := newLink(t.a)
	first := t.grant(l, t.seen("P", t.get(t.a).Counter))
	late := l.lateCopy()
	t.release(l, first, backend.Handover{})
	t.next(t.b, "Q", 0)
	t.refused("a late copy of an acquire after another's term", late(t.ctx), backend.ErrOutdated)
	t.isFree(t.b, "a late copy of an acquire")
}
