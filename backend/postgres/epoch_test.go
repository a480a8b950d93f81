package postgres

import (
	"errors"
	"testing"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/testenv"
)

// settled waits until the server, which was started again, answers this store.
func settled(t *testing.T, s backend.LeaseStore) {
	t.Helper()
	eventually(t, "the server answers", func() bool { _, err := s.Get(deadline(t, ample), "-"); return err == nil })
}

// free waits until c is granted.
func free(t *testing.T, s backend.LeaseStore, c backend.Claim) {
	t.Helper()
	eventually(t, c.Election+" is granted", func() bool {
		_, err := s.Acquire(deadline(t, ample), c)
		if err != nil && !errors.Is(err, backend.ErrHeld) {
			t.Fatalf("acquire: %v", err)
		}
		return err == nil
	})
}

// DX18: after a crash of the server, a row that is held, expired or free is out of reach until it was seen unchanged for the longer of its TTL and the challenger's, also for a
// candidate that is new. The holder goes on, and what it writes counts at once.
func TestQuarantine(t *testing.T) {
	t.Parallel()
	srv := testenv.Postgres(t, testenv.Options{Own: true})
	s := client(t, srv.URL())
	const ttl, long = 500 * time.Millisecond, time.Minute
	release(t, s, acquire(t, s, claim("free", "a", ttl)))
	release(t, s, acquire(t, s, claim("free, with a longer TTL", "a", 2*ttl)))
	release(t, s, acquire(t, s, claim("free for a longer TTL", "a", ttl/2)))
	acquire(t, s, claim("expired", "a", ttl))
	abandoned := acquire(t, s, claim("abandoned", "b", ttl))
	spent := claim("spent", "b", ttl)
	release(t, s, acquire(t, s, spent))
	leader := acquire(t, s, claim("led", "a", long))
	eventually(t, "a lease is over", func() bool { return !get(t, s, "expired").Held() })
	srv.Kill()
	srv.Start()
	fresh := client(t, srv.URL()) // a candidate that starts after the crash
	settled(t, fresh)
	waits := map[string]time.Duration{"free": ttl, "free, with a longer TTL": 2 * ttl, "free for a longer TTL": ttl, "expired": ttl, "abandoned": ttl}
	for name, wait := range waits {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := claim(name, "b", ttl)
			c.Abandoned = []backend.Attempt{abandoned.Attempt}
			began := time.Now()
			_, err := fresh.Acquire(deadline(t, ample), c)
			held, ok := errors.AsType[*backend.HeldError](err)
			if !ok || held.Record.Wait("b") <= 0 || held.Record.Wait("b") > wait {
				t.Fatalf("got %v, want held with a wait of up to %v", err, wait)
			}
			free(t, fresh, c)
			if took := time.Since(began); took < wait {
				t.Errorf("granted after %v, want %v", took, wait)
			}
		})
	}
	_, err := fresh.Acquire(deadline(t, ample), spent)
	class(t, "an attempt that was spent before the crash", err, backend.NotHeld)

	eventually(t, "the leader's store has a connection again", func() bool { _, err := s.Renew(deadline(t, ample), leader); return err == nil })
	release(t, s, leader)
	acquire(t, fresh, claim("led", "b", ttl)) // at once: the record is of this epoch

	acquire(t, fresh, claim("new", "b", ttl)) // an election that the server didn't know
}

// A sign of life within the quarantine starts it anew.
func TestQuarantineSeesTheHolder(t *testing.T) {
	t.Parallel()
	srv := testenv.Postgres(t, testenv.Options{Own: true})
	s := client(t, srv.URL())
	l := acquire(t, s, claim("e", "a", time.Minute))
	srv.Kill()
	srv.Start()
	settled(t, s)
	c := claim("e", "b", time.Second)
	_, err := s.Acquire(deadline(t, ample), c)
	class(t, "acquire in quarantine", err, backend.Held)
	renew(t, s, l)
	for range 3 {
		_, err = s.Acquire(deadline(t, ample), c)
		class(t, "acquire while the holder lives", err, backend.Held)
	}
	renew(t, s, l)
}

// DX18: after a loss of writes, on a server whose clock is behind, the row of an attempt whose outcome was never heard may look live although the lease has ended and another was granted.
// Its repeat waits like everybody else.
func TestQuarantineOfAnUnheardAttempt(t *testing.T) {
	t.Parallel()
	srv := testenv.Postgres(t, testenv.Options{Own: true})
	s := client(t, srv.URL())
	const ttl = time.Second
	c := claim("e", "a", ttl)
	l := acquire(t, s, c)
	exec(t, raw(t, srv.URL()), "UPDATE tenure_lease SET server_epoch = 'earlier', lease_until = lease_until + interval '1 hour'")
	began := time.Now()
	_, err := s.Acquire(deadline(t, ample), c)
	class(t, "a repeat on a row of another epoch", err, backend.Held)
	free(t, s, c)
	if took := time.Since(began); took < ttl {
		t.Errorf("the repeat was granted after %v, want %v", took, ttl)
	}
	if again := acquire(t, s, c); again.Token != l.Token {
		t.Errorf("the repeat has token %d, the grant %d", again.Token, l.Token)
	}
}
