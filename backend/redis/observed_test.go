package redis

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/fence"
	"github.com/tenure-go/tenure/internal/testenv"
)

// brief is a claim for a lease whose end the test waits for.
func brief(election, candidate string) backend.Claim {
	c := claim(election, candidate)
	c.TTL = 300 * time.Millisecond
	return c
}

// leap makes the server's clock leap by d, as far as a record can tell: scripts only compare the times in it with that clock.
func leap(ctx context.Context, server goredis.UniversalClient, key string, d time.Duration) error {
	for _, field := range []string{"expires", "granted", "reserved_until"} {
		at, err := server.HGet(ctx, key, field).Int64()
		if errors.Is(err, goredis.Nil) || at == 0 {
			continue
		}
		if err == nil {
			err = server.HSet(ctx, key, field, strconv.FormatInt(at-d.Microseconds(), 10)).Err()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func step(t *testing.T, server *goredis.Client, key string, d time.Duration) {
	t.Helper()
	if err := leap(deadline(t, ample), server, key, d); err != nil {
		t.Fatal(err)
	}
}

// takenOver claims until granted, and fails when that was before the holder had been seen silent for its TTL.
func takenOver(t *testing.T, s backend.LeaseStore, c backend.Claim, silence time.Duration) backend.Lease {
	t.Helper()
	var l backend.Lease
	began := time.Now()
	eventually(t, "the lease is taken over", func() bool {
		var err error
		l, err = s.Acquire(deadline(t, ample), c)
		if err != nil {
			class(t, "acquire before", err, backend.Held)
		}
		return err == nil
	})
	if took := time.Since(began); took < silence {
		t.Errorf("taken over after %v, want a silence of %v", took, silence)
	}
	return l
}

// R15: the server's clock leaps by an hour. Leases that end by it end early, and the next token is greater; observed ones stay, and end by silence only.
func TestSteppedClock(t *testing.T) {
	srv := testenv.Redis(t)
	server := raw(t, srv.URL())
	native, observed := client(t, srv.URL(), ""), client(t, srv.URL(), "expiry=observed")
	for _, by := range []time.Duration{time.Hour, -time.Hour} {
		election := by.String()
		key := inner(t, observed).names.key(election)
		l := acquire(t, observed, claim(election, "holder"))
		step(t, server, key, by)
		_, err := native.Acquire(deadline(t, ample), claim(election, "challenger"))
		class(t, "acquire of an observed lease after a leap", err, backend.Held)
		renew(t, observed, l)
		if r := get(t, native, election); r.Mode != backend.Observed || r.Token != l.Token || r.Remaining > r.TTL || r.Remaining <= 0 {
			t.Errorf("after the leap there is %+v", r)
		}
		release(t, observed, l)
	}
	key := inner(t, native).names.key("native")
	l := acquire(t, native, claim("native", "holder"))
	step(t, server, key, time.Hour)
	next := acquire(t, native, claim("native", "challenger"))
	if next.Token <= l.Token {
		t.Errorf("token %d after %d", next.Token, l.Token)
	}
	_, err := native.Renew(deadline(t, ample), l)
	class(t, "renew after the leap", err, backend.NotHeld)
	guarded(t, l, next)
}

// guarded checks that a resource which has seen the later term refuses the earlier one.
func guarded(t *testing.T, earlier, later backend.Lease) {
	t.Helper()
	var guard fence.Memory
	write := func(l backend.Lease) error {
		return guard.Do(t.Context(), "e", l.Fence(), func() error { return nil })
	}
	for _, l := range []backend.Lease{earlier, later} {
		if err := write(l); err != nil {
			t.Errorf("a write under token %d: %v", l.Token, err)
		}
	}
	if err := write(earlier); !errors.Is(err, fence.ErrStale) {
		t.Errorf("a write under the earlier token %d: %v, want it refused", earlier.Token, err)
	}
}

// DX19: the server's clock leaps back. A dead leader's lease, or reservation, doesn't stay for as long as the leap, and a live one isn't taken.
func TestClockThatStepsBackKeepsNobodyOut(t *testing.T) {
	srv := testenv.Redis(t)
	s, server := client(t, srv.URL(), ""), raw(t, srv.URL())
	key := inner(t, s).names.key("e")
	l := acquire(t, s, brief("e", "dead"))
	step(t, server, key, -time.Hour)
	l = takenOver(t, s, claim("e", "next"), l.TTL)
	step(t, server, key, -time.Hour)
	_, err := s.Acquire(deadline(t, ample), claim("e", "challenger"))
	class(t, "acquire of a live lease after the leap", err, backend.Held)
	renew(t, s, l)
	if r := get(t, s, "e"); r.Mode != backend.Native {
		t.Errorf("a renewal after the leap left %+v", r)
	}
	if err := s.Release(deadline(t, ample), l, backend.Handover{To: "nobody", For: time.Minute}); err != nil {
		t.Fatal(err)
	}
	step(t, server, key, -time.Hour)
	acquire(t, s, claim("e", "after the reservation"))
}

// DX6: the record's mode and TTL rule, never the challenger's.
func TestModeOfTheRecordRules(t *testing.T) {
	srv := testenv.Redis(t)
	server := raw(t, srv.URL())
	native, observed := client(t, srv.URL(), ""), client(t, srv.URL(), "expiry=observed")

	// An observed holder, a native challenger with a shorter TTL: not by the clock, not after its own TTL, but after the holder's.
	l := acquire(t, observed, brief("e", "observed"))
	step(t, server, inner(t, observed).names.key("e"), time.Hour)
	c := claim("e", "native")
	c.TTL = 100 * time.Millisecond
	l = takenOver(t, native, c, l.TTL)

	// A native holder, an observed challenger that comes after the lease's end: at once, since the clock decides.
	eventually(t, "the native lease ends", func() bool { return !get(t, native, "e").Held() })
	late := client(t, srv.URL(), "expiry=observed")
	next := acquire(t, late, claim("e", "observed"))
	if next.Token <= l.Token {
		t.Errorf("token %d after %d", next.Token, l.Token)
	}

	// An observed holder with a long TTL, an observed challenger with a short one.
	watching := brief("e", "short")
	_, err := observed.Acquire(deadline(t, ample), watching)
	class(t, "first look", err, backend.Held)
	<-time.After(2 * watching.TTL)
	_, err = observed.Acquire(deadline(t, ample), watching)
	class(t, "acquire after the challenger's own TTL", err, backend.Held)
}

// DX3: a take-over succeeds only if the holder is as it was seen: every sign of life makes it fail, also one that looks as before to who counts renewals.
func TestTakeOverComparesTheSignOfLife(t *testing.T) {
	srv := testenv.Redis(t)
	s, server := client(t, srv.URL(), "expiry=observed"), raw(t, srv.URL())
	other := inner(t, client(t, srv.URL(), "expiry=observed"))
	ctx := deadline(t, ample)
	key := other.names.key("e")
	c := claim("e", "holder")
	c.TTL = 100 * time.Millisecond
	l := acquire(t, s, c)
	renew(t, s, l)
	seen := func() string {
		_, err := other.Acquire(ctx, claim("e", "challenger"))
		class(t, "look", err, backend.Held)
		<-time.After(2 * c.TTL)
		a, err := other.run(ctx, getScript, "e")
		if err != nil {
			t.Fatal(err)
		}
		return a.part(recordParts - 1)
	}
	for what, signal := range map[string]func(){
		"a renewal":             func() { renew(t, s, l) },
		"a repeat of the claim": func() { acquire(t, s, c) },
		"a renewal again, after the first was lost with its master": func() {
			renewals := must[string](t)(server.HGet(ctx, key, "renewals").Result())
			n := must[int](t)(strconv.Atoi(renewals))
			server.HSet(ctx, key, "renewals", strconv.Itoa(n-1)) // the replica that was promoted had missed it
			renew(t, s, l)
		},
		"a new term": func() { release(t, s, l); c.Attempt = draw(); l = acquire(t, s, c) },
	} {
		sign := seen()
		signal()
		_, _, err := other.acquire(ctx, claim("e", "challenger"), sign)
		class(t, "take-over with the sign from before "+what, err, backend.Held)
	}
	if _, _, err := other.acquire(ctx, claim("e", "challenger"), seen()); err != nil {
		t.Errorf("take-over of a silent holder: %v", err)
	}
	_, err := s.Renew(ctx, l)
	class(t, "renew after the take-over", err, backend.NotHeld)
}
