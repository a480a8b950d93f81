package redis

import (
	"fmt"
	"strings"
	"testing"

	goredis "github.com/redis/go-redis/v9"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/testenv"
)

// Before a cluster may stand a proxy, or a client that the store doesn't know as one of a cluster: a batch over several slots is refused, and each of its leases is renewed all the same.
func TestRenewAllWhereTheClusterIsHidden(t *testing.T) {
	set := testenv.RedisCluster(t)
	hidden := struct{ goredis.UniversalClient }{inner(t, client(t, set.URL(), "")).client}
	s := must[*Store](t)(New(hidden, Options{}))
	defer s.Close()
	all := leases(t, s, 12)
	release(t, s, all[3])
	for i, r := range backend.RenewAll(deadline(t, ample), s, all) {
		want := backend.OK
		if i == 3 {
			want = backend.NotHeld
		}
		class(t, fmt.Sprint("renewal ", i), r.Err, want)
	}
}

// One node of a cluster, taken for a server, has a part of the elections only.
func TestNodeOfAClusterIsNoServer(t *testing.T) {
	set := testenv.RedisCluster(t, testenv.Options{Settings: durable})
	at := "redis://:" + testenv.Password() + "@" + set.Members()[0].Addr()
	_, err := backend.Open(deadline(t, ample), at+"/0?strict=1")
	class(t, "strict open of a node", err, backend.Invalid)
	if err == nil || !strings.Contains(err.Error(), "node of a cluster") {
		t.Errorf("%v doesn't tell why", err)
	}
	s := must[backend.LeaseStore](t)(backend.Open(deadline(t, ample), set.URL()+"?strict=1"))
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// A client that NewFailoverClusterClient has made is a ClusterClient with a database that it doesn't tell: its store must see what others see in that database.
func TestDatabaseOfAClusterClientIsTheCallers(t *testing.T) {
	hidden := goredis.NewClusterClient(&goredis.ClusterOptions{Addrs: []string{"127.0.0.1:1"}})
	defer hidden.Close()
	s := must[*Store](t)(New(hidden, Options{DB: 5}))
	defer s.Close()
	if got, want := s.names.key("e"), inner(t, client(t, "redis://127.0.0.1:1/5", "")).names.key("e"); got != want {
		t.Errorf("it sees %s, others in the same database see %s", got, want)
	}
}

// strict can't pass what it can't see.
func TestStrictNeedsToKnowWhatIsWritten(t *testing.T) {
	srv := testenv.Redis(t, testenv.Options{Settings: durable})
	rules := policy(t, "redis.acl", "0")
	at := strings.Replace(srv.URL(), "://:", "://billing:", 1) + "?prefix=billing&strict=1"
	grant(t, raw(t, srv.URL()), rules)
	s := must[backend.LeaseStore](t)(backend.Open(deadline(t, ample), at))
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	grant(t, raw(t, srv.URL()), append(rules, "-config|get"))
	_, err := backend.Open(deadline(t, ample), at)
	class(t, "strict open without CONFIG GET", err, backend.Invalid)
	if err == nil || !strings.Contains(err.Error(), "CONFIG GET is refused") {
		t.Errorf("%v doesn't tell why", err)
	}
}
