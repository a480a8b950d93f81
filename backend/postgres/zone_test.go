package postgres

import (
	"fmt"
	"testing"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/testenv"
)

// PE29: sessions may be in any time zone, and a lease may outlast a change to or from summer time, as one of these does at any time of the year: neither moves its end.
func TestTimeZones(t *testing.T) {
	t.Parallel()
	srv := testenv.Postgres(t, testenv.Options{Own: true})
	admin := raw(t, srv.URL())
	within := func(what string, got, want time.Duration) {
		if got > want || got < want-5*time.Minute {
			t.Errorf("%s: %v left of %v", what, got, want)
		}
	}
	for _, days := range []int{120, 240} {
		ttl := time.Duration(days) * 24 * time.Hour
		election := fmt.Sprint(ttl)
		l := acquire(t, client(t, srv.URL()), claim(election, "a", ttl))
		for _, zone := range []string{"America/New_York", "Asia/Kathmandu", "Pacific/Apia"} {
			exec(t, admin, "ALTER ROLE ALL SET timezone = '"+zone+"'")
			s := client(t, srv.URL())
			within("before a renewal in "+zone, get(t, s, election).Remaining, ttl)
			renew(t, s, l)
			within("after a renewal in "+zone, get(t, s, election).Remaining, ttl)
			if err := s.Release(deadline(t, ample), l, backend.Handover{To: "a", For: ttl}); err != nil {
				t.Error(err)
			}
			within("a reservation in "+zone, get(t, s, election).Reserved.For, ttl)
			l = acquire(t, s, claim(election, "a", ttl))
			within("a grant in "+zone, get(t, s, election).Remaining, ttl)
		}
	}
}
