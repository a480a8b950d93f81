package consul

import (
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/testenv"
)

// A prefix and a name of any characters reach the servers as they are, in transactions as in the paths of watches.
func TestOddNamesOnAServer(t *testing.T) {
	t.Parallel()
	srv := start(t)
	for _, prefix := range []string{"a/b c%?#ä", "%2F", "...", "x/../y", "a+b&c=d;e"} {
		s := over(t, raw(t, srv), prefix)
		for _, election := range []string{"../z", "e%2F?#", ".", "ü/"} {
			wake := watching(t, s, election)
			drain(wake)
			l := acquire(t, s, claim(election, "P"))
			woken(t, "a grant of "+election+" under "+prefix, wake)
			release(t, s, renew(t, s, l))
		}
	}
}

// The documented policy for observers is enough to look and to watch, and looks write nothing to the servers' logs.
func TestObserversOnlyRead(t *testing.T) {
	t.Parallel()
	srv := start(t, testenv.Options{Own: true})
	p, o := client(t, srv.URL(), ""), client(t, under(t, srv, "observer", `key_prefix "tenure/" { policy = "read" }`), "")
	wake := watching(t, o, "e")
	drain(wake)
	l := acquire(t, p, claim("e", "P"))
	woken(t, "a grant", wake)
	if r := get(t, o, "e"); r.Holder.ID != "P" {
		t.Errorf("an observer sees %+v", r)
	}
	_, err := o.Acquire(deadline(t, ample), claim("other", "O"))
	class(t, "acquire by an observer", err, backend.Denied)
	_, err = o.Renew(deadline(t, ample), l)
	class(t, "renewal by an observer", err, backend.Denied)
	const looks = 200
	before := renew(t, p, l)
	for range looks {
		get(t, o, "e")
	}
	after := renew(t, p, before)
	if n := grasp(after).beatIndex - grasp(before).beatIndex; n > looks/2 { // the servers write on their own now and then
		t.Errorf("%d looks moved the servers' index by %d", looks, n)
	}
}

// The holder's token is revoked in mid-term: it stops in time, another leads, tokens grow. A follower whose token is revoked doesn't storm the servers.
func TestATokenThatIsRevokedInMidTerm(t *testing.T) {
	t.Parallel()
	srv := start(t, testenv.Options{Own: true})
	const ttl = 2 * time.Second
	r := newRoll()
	acl := raw(t, srv).ACL()
	g := newGate(t)
	revoked := under(t, srv, "revoked", policy(t))
	_, secret, _ := strings.Cut(revoked, "?token=")
	r.join(t, "a", client(t, revoked, ""), ttl)
	r.term(t, 0)
	c := must[*api.Client](t)(api.NewClient(&api.Config{Address: srv.Addr(), Token: secret, Transport: transport(t), HttpClient: httpVia(g)}))
	r.join(t, "z", over(t, c, defaultPrefix), ttl)
	r.join(t, "b", client(t, srv.URL(), ""), ttl)
	<-time.After(ttl)
	self := must[*api.ACLToken](t)(func() (*api.ACLToken, error) {
		self, _, err := acl.TokenReadSelf(&api.QueryOptions{Token: secret})
		return self, err
	}())
	if _, err := acl.TokenDelete(self.AccessorID, nil); err != nil {
		t.Fatal(err)
	}
	cut := time.Now()
	next := r.term(t, 1)
	t.Logf("%s leads %v after the token was revoked", next.name, next.from.Sub(cut))
	g.requests()
	<-time.After(5 * ttl)
	n, paths := g.requests()
	t.Logf("a follower whose token was revoked: %d requests in five TTLs: %v", n, paths)
	if n > 100 {
		t.Errorf("a follower whose token was revoked made %d requests in five TTLs: %v", n, paths)
	}
	r.check(t)
}
