package redis

import (
	"fmt"
	"math"
	"strconv"
	"testing"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/testenv"
)

// R13, PE26, PE32: nothing that a candidate sends is read from its own wall clock.
func TestNoClockOfTheCandidateIsSent(t *testing.T) {
	srv := testenv.Redis(t)
	server := raw(t, srv.URL())
	var sent recorder
	server.AddHook(&sent)
	s := must[*Store](t)(New(server, Options{}))
	defer s.Close()
	c := claim("e", "a")
	l := acquire(t, s, c)
	renew(t, s, l)
	if err := s.Release(deadline(t, ample), l, backend.Handover{To: "b", For: time.Second}); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	for _, call := range sent.calls {
		for _, arg := range call {
			n, err := strconv.ParseFloat(fmt.Sprint(arg), 64)
			if err != nil || fmt.Sprint(arg) == strconv.FormatInt(l.Token, 10) {
				continue // no number, or the token, which is the server's
			}
			for _, unit := range []time.Duration{time.Second, time.Millisecond, time.Microsecond, time.Nanosecond} {
				if at := n * unit.Seconds(); math.Abs(at-float64(now.Unix())) < (24 * time.Hour).Seconds() {
					t.Errorf("%v sends %v, a time of today", call[0], arg)
				}
			}
		}
	}
}
