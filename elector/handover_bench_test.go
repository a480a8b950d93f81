package elector

import (
	"slices"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/testenv"
)

// BenchmarkHandOver is the time from Resign to the next candidate's term, from rest, on a real Redis; beside it the bare store's release, notice and acquire in the same run.
//
//	go test -run ^$ -bench HandOver -benchtime 200x ./elector
func BenchmarkHandOver(b *testing.B) {
	url := testenv.Redis(b).URL()
	electors := [2]*Elector{}
	for i, id := range []string{"a", "b"} {
		s, err := backend.Open(b.Context(), url)
		if err != nil {
			b.Fatal(err)
		}
		defer func() { _ = s.Close() }()
		if electors[i], err = New(config(s, id)); err != nil {
			b.Fatal(err)
		}
		defer func() { _ = electors[i].Close() }()
	}
	term, err := electors[0].Campaign(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	bare := newBareHandOver(b, url)
	var ours, theirs []time.Duration
	for i := 1; b.Loop(); i++ {
		next := make(chan *Term, 1)
		go func() {
			t, err := electors[i%2].Campaign(b.Context())
			if err != nil {
				b.Error(err)
			}
			next <- t
		}()
		pass(100 * time.Millisecond) // it waits by then, and all is at rest
		began := time.Now()
		if err := term.Resign(b.Context()); err != nil {
			b.Fatal(err)
		}
		term = <-next
		ours = append(ours, time.Since(began))
		theirs = append(theirs, bare.run(b))
	}
	_ = term.Resign(b.Context())
	middle := func(d []time.Duration) float64 {
		slices.Sort(d)
		return float64(d[len(d)/2]) / float64(time.Millisecond)
	}
	b.ReportMetric(middle(ours), "ms/hand-over")
	b.ReportMetric(middle(theirs), "ms/bare")
	b.ReportMetric(middle(ours)/middle(theirs), "times-bare")
	b.ReportMetric(0, "ns/op")
}

// bareHandOver is what a hand-over costs at the least.
type bareHandOver struct {
	leader, follower *goredis.Client
	sub              *goredis.PubSub
}

func newBareHandOver(b *testing.B, url string) *bareHandOver {
	b.Helper()
	o, err := goredis.ParseURL(url)
	if err != nil {
		b.Fatal("the test server's URL can't be read")
	}
	h := &bareHandOver{leader: goredis.NewClient(o), follower: goredis.NewClient(o)}
	h.sub = h.follower.Subscribe(b.Context(), "bare")
	b.Cleanup(func() { _, _, _ = h.sub.Close(), h.leader.Close(), h.follower.Close() })
	if _, err := h.sub.Receive(b.Context()); err != nil {
		b.Fatal(err)
	}
	return h
}

func (h *bareHandOver) run(b *testing.B) time.Duration {
	b.Helper()
	pass(100 * time.Millisecond)
	began := time.Now()
	err1 := h.leader.Del(b.Context(), "bare").Err()
	err2 := h.leader.Publish(b.Context(), "bare", "released").Err()
	_, err3 := h.sub.ReceiveMessage(b.Context())
	err4 := h.follower.SetNX(b.Context(), "bare", "holder", time.Minute).Err()
	for _, err := range []error{err1, err2, err3, err4} {
		if err != nil {
			b.Fatal(err)
		}
	}
	return time.Since(began)
}
