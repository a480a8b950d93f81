package redis

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/quick"

	"github.com/tenure-go/tenure/internal/testenv"
)

var awkward = []string{
	"{", "}", "{}", "a{b}c", "}{", "a:b", "a", "a/b", "a\nb", "a\x00b", "%", "%7B", "a%", " ", "*", "?", "[a]", `"`, `\`, "é", "\U0001F451",
	strings.Repeat("x", 256), strings.Repeat("\n", 256),
}

// S11: names that mean something to Redis, clusters or patterns are names like others.
func TestAwkwardNames(t *testing.T) {
	srv := testenv.Redis(t)
	s, server := client(t, srv.URL(), ""), raw(t, srv.URL())
	ctx, cancel := context.WithCancel(deadline(t, ample))
	defer cancel()
	for i, name := range awkward {
		wake := must[<-chan struct{}](t)(s.Watch(ctx, name))
		acquire(t, s, claim(name, fmt.Sprint("c", i)))
		<-wake
	}
	for i, name := range awkward {
		if r := get(t, s, name); r.Holder.ID != fmt.Sprint("c", i) || r.Election != name {
			t.Errorf("%q is held by %q, want c%d", name, r.Holder.ID, i)
		}
	}
	if n := must[int64](t)(server.DBSize(ctx).Result()); int(n) != len(awkward) {
		t.Errorf("%d keys for %d elections", n, len(awkward))
	}
}

// Prefixes part elections, whatever prefix and name are.
func TestKeysAreDistinct(t *testing.T) {
	f := func(p1, n1, p2, n2 string) bool {
		a, b := names{prefix: p1}, names{prefix: p2}
		same := p1 == p2 && n1 == n2
		return (a.key(n1) == b.key(n2)) == same && (a.channel(n1) == b.channel(n2)) == same && a.key(n1) != b.channel(n2)
	}
	if err := quick.Check(f, nil); err != nil {
		t.Error(err)
	}
	if !f("a", "b:c", "a:b", "c") || !f("a", "0:b", "a:0", "b") || !f("a}", "b", "a", "}b") {
		t.Error("a colon or brace in a name makes two elections one")
	}
	n := names{prefix: "p{", db: 3}
	if key := n.key("}x"); key != "{p%7B:3:%7Dx}:lease" {
		t.Errorf("key is %s", key)
	}
}

// Two databases of one server are two worlds, also for wake-ups, which Redis itself doesn't part.
func TestDatabasesAreIsolated(t *testing.T) {
	srv := testenv.Redis(t)
	zero := client(t, srv.URL(), "")
	one := client(t, strings.TrimSuffix(srv.URL(), "/0")+"/1", "")
	ctx, cancel := context.WithCancel(deadline(t, ample))
	defer cancel()
	wake0 := must[<-chan struct{}](t)(zero.Watch(ctx, "e"))
	wake1 := must[<-chan struct{}](t)(one.Watch(ctx, "e"))
	l := acquire(t, zero, claim("e", "a"))
	<-wake0
	if r := get(t, one, "e"); r.Held() {
		t.Errorf("database 1 sees %v", r)
	}
	release(t, zero, l)
	<-wake0
	// What database 0 has published was on its way before this, and would have woken first.
	acquire(t, one, claim("other", "b"))
	marker := must[<-chan struct{}](t)(one.Watch(ctx, "marker"))
	acquire(t, one, claim("marker", "b"))
	<-marker
	select {
	case <-wake1:
		t.Error("a change in database 0 woke a watch in database 1")
	default:
	}
	acquire(t, one, claim("e", "b"))
	<-wake1
}
