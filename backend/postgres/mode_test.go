package postgres

import (
	"testing"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/testenv"
)

// DX6, DX19: challengers obey the mode of the record. R15: a step of the server's clock ends no observed lease, and a dead holder's ends after a TTL.
func TestMixedModes(t *testing.T) {
	t.Parallel()
	srv := testenv.Postgres(t, testenv.Options{Own: true})
	native, observed, admin := client(t, srv.URL()), client(t, srv.URL(), "expiry", "observed"), raw(t, srv.URL())
	if l := observed.Limits(); l.Expiry != backend.Observed || l.ClockStep != 0 {
		t.Errorf("limits are %+v", l)
	}
	const ttl = 500 * time.Millisecond

	l := acquire(t, observed, claim("observed", "a", ttl))
	exec(t, admin, "UPDATE tenure_lease SET lease_until = lease_until - interval '1 hour' WHERE election = 'observed'") // as if the clock had stepped
	began := time.Now()
	_, err := native.Acquire(deadline(t, ample), claim("observed", "b", ttl/4))
	class(t, "first look of a native store at an observed lease", err, backend.Held)
	renew(t, observed, l)
	c := claim("observed", "b", ttl/4)
	free(t, native, c)
	if took := time.Since(began); took < ttl {
		t.Errorf("an observed lease of %v was taken after %v", ttl, took)
	}
	if r := get(t, native, "observed"); r.Mode != backend.Native {
		t.Errorf("the mode is %q after the grant of a native store", r.Mode)
	}
	_, err = observed.Renew(deadline(t, ample), l)
	class(t, "renewal after the take-over", err, backend.NotHeld)

	acquire(t, native, claim("native", "a", ttl))
	eventually(t, "the native lease is over", func() bool { return !get(t, native, "native").Held() })
	acquire(t, observed, claim("native", "b", time.Minute)) // at once: the record says native
}
