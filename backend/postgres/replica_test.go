package postgres

import (
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/testenv"
)

// caughtUp waits until the replica has what the primary has written.
func caughtUp(t *testing.T, primary, replica *pgx.Conn) {
	t.Helper()
	lsn := scan[string](t, primary, "SELECT pg_current_wal_lsn()::text")
	eventually(t, "the replica has caught up", func() bool {
		return scan[bool](t, replica, "SELECT pg_last_wal_replay_lsn() >= $1::text::pg_lsn", lsn)
	})
}

// DX18: an asynchronous replica that lacks the last writes is promoted. A grant that was lost ends with its holder's next renewal, nobody is granted its election within a TTL, and tokens
// grow on. A lease that the replica knows goes on.
func TestPromotedReplica(t *testing.T) {
	t.Parallel()
	primary := testenv.Postgres(t, testenv.Options{Own: true})
	replica := testenv.PostgresReplica(t, primary)
	s := client(t, primary.ReplicatedURL(replica))
	const ttl = time.Second
	kept := acquire(t, s, claim("kept", "a", 2*time.Minute))
	release(t, s, acquire(t, s, claim("lost", "a", ttl)))
	p, r := raw(t, primary.URL()), raw(t, replica.URL())
	caughtUp(t, p, r)
	exec(t, r, "ALTER SYSTEM SET primary_conninfo = ''")
	exec(t, r, "SELECT pg_reload_conf()")
	eventually(t, "the replica is cut off", func() bool { return scan[int](t, p, "SELECT count(*) FROM pg_stat_replication") == 0 })
	lost := acquire(t, s, claim("lost", "b", ttl))
	renew(t, s, lost)
	primary.Kill()

	_, err := client(t, replica.URL()).Acquire(deadline(t, ample), claim("lost", "c", ttl))
	class(t, "acquire at a replica", err, backend.Unknown)
	_, err = client(t, replica.URL()).Get(deadline(t, ample), "kept")
	if !errors.Is(err, errReplica) {
		t.Errorf("get at a replica, which may be behind: got %v", err)
	}
	replica.Promote()
	settled(t, s)
	renew(t, s, kept)
	_, err = s.Renew(deadline(t, ample), lost)
	class(t, "renewal of a grant that was lost", err, backend.NotHeld)
	began := time.Now()
	free(t, s, claim("lost", "c", ttl/2))
	if took := time.Since(began); took < ttl {
		t.Errorf("granted %v after the promotion, within the TTL of %v of a grant that was lost", took, ttl)
	}
	if now := get(t, s, "lost"); now.Token <= lost.Token {
		t.Errorf("token %d after %d", now.Token, lost.Token)
	}
	renew(t, s, kept)
	release(t, s, kept)
	acquire(t, s, claim("kept", "b", ttl))
}
