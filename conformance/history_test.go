package conformance

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/tenure-go/tenure/backend"
)

// story builds a history by hand: each call lasts from one tick to another.
type story struct {
	history
	start time.Time
}

func (s *story) call(from, to int, c call) {
	at := func(tick int) instant { return instant{int64(tick), s.start.Add(time.Duration(tick) * time.Second)} }
	c.sent, c.replied, c.election = at(from), at(to), "e"
	s.calls = append(s.calls, c)
}

func attempt(n byte) backend.Attempt { return backend.Attempt{n} }

func (s *story) acquire(from, to int, id byte, token int64, ttl int, change ...func(*call)) {
	c := call{op: "acquire", claim: backend.Claim{Candidate: backend.Candidate{ID: string(rune('A' + id))}, Attempt: attempt(id)}}
	c.granted = backend.Lease{Token: token, Attempt: attempt(id), TTL: time.Duration(ttl) * time.Second}
	for _, f := range change {
		f(&c)
	}
	s.call(from, to, c)
}

func (s *story) renew(from, to int, id byte, token int64, ttl int) {
	l := backend.Lease{Token: token, Attempt: attempt(id), TTL: time.Duration(ttl) * time.Second}
	s.call(from, to, call{op: "renew", lease: l, granted: l})
}

func (s *story) release(from, to int, id byte, err error) {
	s.call(from, to, call{op: "release", lease: backend.Lease{Attempt: attempt(id)}, err: err})
}

func TestHistoryReportsOnlyWhatIsCertain(t *testing.T) {
	lost := errors.New("lost")
	cases := []struct {
		name string
		tell func(*story)
		want []string // slugs of the rules
	}{
		{"one after the other", func(s *story) { s.acquire(1, 2, 1, 1, 10); s.release(3, 4, 1, nil); s.acquire(5, 6, 2, 2, 10) }, nil},
		{"two at once", func(s *story) { s.acquire(1, 2, 1, 1, 10); s.acquire(3, 4, 2, 2, 10) }, []string{"S1"}},
		{"the second after the first TTL", func(s *story) { s.acquire(1, 2, 1, 1, 10); s.acquire(10, 12, 2, 2, 10) }, nil},
		{"the first may have ended just before", func(s *story) { s.acquire(1, 9, 1, 1, 10); s.acquire(9, 11, 2, 2, 10) }, nil},
		{"the second after a renewal's TTL has begun", func(s *story) { s.acquire(1, 2, 1, 1, 10); s.renew(8, 9, 1, 1, 10); s.acquire(13, 14, 2, 2, 10) }, []string{"S1"}},
		{"a release whose reply was lost may have ended the first", func(s *story) { s.acquire(1, 2, 1, 1, 10); s.release(3, 4, 1, lost); s.acquire(5, 6, 2, 2, 10) }, nil},
		{"a refused release has not ended the first", func(s *story) {
			s.acquire(1, 2, 1, 1, 10)
			s.release(3, 4, 1, backend.ErrNotHeld)
			s.acquire(5, 6, 2, 2, 10)
		}, []string{"S1"}},
		{"both at once with the release under way", func(s *story) { s.acquire(1, 2, 1, 1, 10); s.release(3, 7, 1, nil); s.acquire(4, 5, 2, 2, 10) }, nil},
		{"the first was passed over as abandoned", func(s *story) {
			s.acquire(1, 2, 1, 1, 10)
			s.acquire(3, 4, 2, 2, 10, func(c *call) { c.claim.Candidate.ID, c.claim.Abandoned = "B", []backend.Attempt{attempt(1)} })
		}, nil},
		{"tokens fell", func(s *story) { s.acquire(1, 2, 1, 5, 1); s.acquire(5, 6, 2, 4, 1) }, []string{"S2"}},
		{"calls that overlap may be in either order", func(s *story) { s.acquire(1, 9, 1, 5, 1); s.acquire(8, 10, 2, 4, 1) }, nil},
		{"an earlier copy may have been granted before", func(s *story) {
			s.acquire(1, 2, 2, 0, 1, func(c *call) { c.err = lost })
			s.acquire(3, 4, 1, 5, 1)
			s.acquire(5, 6, 2, 4, 1)
		}, []string{"S3"}}, // but then it can't be extended after the later term began
		{"one token for two", func(s *story) { s.acquire(1, 2, 1, 5, 1); s.acquire(5, 6, 2, 5, 1) }, []string{"S2"}},
		{"two tokens for one", func(s *story) { s.acquire(1, 2, 1, 5, 10); s.acquire(3, 4, 1, 6, 10) }, []string{"S3"}},
		{"below the floor", func(s *story) { s.acquire(1, 2, 1, 5, 1, func(c *call) { c.claim.Floor = 5 }) }, []string{"S2"}},
		{"below what was raised", func(s *story) { s.call(1, 2, call{op: "raise", raised: 7}); s.acquire(3, 4, 1, 7, 1) }, []string{"S2"}},
		{"renewed after its release", func(s *story) { s.acquire(1, 2, 1, 1, 10); s.release(3, 4, 1, nil); s.renew(5, 6, 1, 1, 10) }, []string{"S4"}},
		{"renewed while the release is under way", func(s *story) { s.acquire(1, 2, 1, 1, 10); s.release(3, 6, 1, nil); s.renew(4, 5, 1, 1, 10) }, nil},
		{"renewed after a later grant", func(s *story) { s.acquire(1, 2, 1, 1, 2); s.acquire(5, 6, 2, 2, 1); s.renew(8, 9, 1, 1, 1) }, []string{"S4"}},
		{"granted again after its release", func(s *story) { s.acquire(1, 2, 1, 1, 10); s.release(3, 4, 1, nil); s.acquire(5, 6, 1, 1, 10) }, []string{"S3"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := &story{start: time.Now()}
			c.tell(s)
			var got []string
			for _, f := range s.check(backend.Limits{}) {
				got = append(got, f.Rule.Slug)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("found violations of %v, want %v", got, c.want)
			}
		})
	}
}
