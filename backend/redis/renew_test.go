package redis

import (
	"fmt"
	"slices"
	"testing"

	goredis "github.com/redis/go-redis/v9"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/testenv"
)

// leases acquires n elections.
func leases(t testing.TB, s backend.LeaseStore, n int) []backend.Lease {
	t.Helper()
	all := make([]backend.Lease, n)
	for i := range all {
		all[i] = acquire(t, s, claim(fmt.Sprint("e", i), "a"))
	}
	return all
}

// scripts counts the scripts that a server was asked to run by their digest.
func scripts(t testing.TB, server *goredis.Client) int64 {
	t.Helper()
	info := must[string](t)(server.Info(deadline(t, ample), "commandstats").Result())
	return count(info, "cmdstat_evalsha:calls=")
}

// E9: one script for each 100 leases, whatever their names.
func TestRenewAllIsOneRequest(t *testing.T) {
	srv := testenv.Redis(t)
	s, server := client(t, srv.URL(), ""), raw(t, srv.URL())
	all := leases(t, s, 2*batch+1)
	renew(t, s, all[0])
	for n, want := range map[int]int64{1: 1, batch: 1, batch + 1: 2, len(all): 3} {
		before := scripts(t, server)
		for i, r := range backend.RenewAll(deadline(t, ample), s, all[:n]) {
			if r.Err != nil || r.Lease != all[i] {
				t.Fatalf("renewal %d of %d: %+v, %v", i, n, r.Lease, r.Err)
			}
		}
		if got := scripts(t, server) - before; got != want {
			t.Errorf("%d leases were renewed by %d scripts, want %d", n, got, want)
		}
	}
	if r := get(t, s, "e0"); r.Renewals != 5 {
		t.Errorf("%d renewals of the first lease, want 5", r.Renewals)
	}
	if got := s.Limits().Batch; got != batch {
		t.Errorf("Limits.Batch = %d", got)
	}
}

// S13: each lease of a batch gets what Renew would have given it, wherever it stands among the others.
func TestRenewAllEqualsRenewingEach(t *testing.T) {
	srv := testenv.Redis(t)
	s, server := client(t, srv.URL(), ""), raw(t, srv.URL())
	ctx := deadline(t, ample)
	all := leases(t, s, 12)
	key := func(i int) string { return inner(t, s).names.key(all[i].Election) }
	release(t, s, all[0])
	release(t, s, all[2])
	acquire(t, s, claim(all[2].Election, "b"))
	server.Del(ctx, key(4))
	server.Del(ctx, key(5))
	server.Set(ctx, key(5), "an application's", 0)
	server.HSet(ctx, key(7), "counter", "1e15")
	all[8].Attempt = draw()
	all[11].Token++
	want := map[int]backend.Class{
		0: backend.NotHeld, 2: backend.NotHeld, 4: backend.NotHeld, 5: backend.NotHeld, 7: backend.Invalid, 8: backend.NotHeld, 11: backend.NotHeld,
	}
	for range 3 {
		for i, r := range backend.RenewAll(ctx, s, all) {
			_, single := s.Renew(ctx, all[i])
			class(t, fmt.Sprint("single ", i), single, backend.ClassOf(r.Err))
			expected, bad := want[i]
			if !bad {
				expected = backend.OK
			}
			class(t, fmt.Sprint("renewal ", i), r.Err, expected)
			if !bad && r.Lease != all[i] {
				t.Errorf("renewal %d: %+v", i, r.Lease)
			}
		}
		slices.Reverse(all)
		turned := map[int]backend.Class{}
		for i, c := range want {
			turned[len(all)-1-i] = c
		}
		want = turned
	}
}

// R7, S13: a server that lost its scripts gets them within the same call; one that refuses writes leaves every lease unknown.
func TestRenewAllOnATroubledServer(t *testing.T) {
	srv := testenv.Redis(t, testenv.Options{Own: true})
	s, server := client(t, srv.URL(), ""), raw(t, srv.URL())
	ctx := deadline(t, ample)
	all := leases(t, s, 5)
	if err := server.ScriptFlush(ctx).Err(); err != nil {
		t.Fatal(err)
	}
	for i, r := range backend.RenewAll(ctx, s, all) {
		class(t, fmt.Sprint("after SCRIPT FLUSH ", i), r.Err, backend.OK)
	}
	if err := server.ReplicaOf(ctx, "127.0.0.1", "1").Err(); err != nil {
		t.Fatal(err)
	}
	for i, r := range backend.RenewAll(ctx, s, all) {
		class(t, fmt.Sprint("on a replica ", i), r.Err, backend.Unknown)
	}
	srv.Kill()
	for i, r := range backend.RenewAll(ctx, s, all) {
		class(t, fmt.Sprint("without a server ", i), r.Err, backend.Unknown)
	}
}
