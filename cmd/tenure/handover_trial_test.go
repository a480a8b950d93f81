//go:build linux

package main

import (
	"context"
	"slices"
	"syscall"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/tenure-go/tenure/internal/testenv"
)

const (
	toElected = "end of the command to the next election"
	toForked  = "end of the command to the next being started"
	toStarted = "end of the command to the next first line"
)

// handOver ends the leading tenure and measures from the end of its command, which takes a while to stop.
func handOver(r *trial, c *cluster, most time.Duration) {
	p, f := c.leader(c.shift(1))
	ended := exitTime(r, f.child.pid)
	told := boot()
	p.send(syscall.SIGTERM)
	next := c.shift(2)
	end := ended.wait()
	if next.At <= end {
		r.wrong("the next leader began %v before the command of the last one had ended", end-next.At)
	}
	r.figure("TERM to the end of the command", end-told)
	r.figure(toElected, c.reported(next, "elector: started")-end)
	r.figure(toForked, c.reported(next, "started")-end)
	r.within(toStarted, next.At-end, most)
	if code := p.code(); code != 0 {
		r.wrong("tenure has exited with %d, not with its command's code", code)
	}
	gone(r, "a hand-over", f.guardian, f.child)
	c.check()
}

func TestTrialHandOver(t *testing.T) {
	srv := testenv.Redis(t)
	for _, c := range []struct {
		name string
		ttl  time.Duration
		most time.Duration
	}{
		{"TTL 2 s", 2 * time.Second, 2*time.Second + ceiling},
		{"TTL 60 s", time.Minute, 5 * time.Second}, // by the wake-up, not by quick looks
	} {
		t.Run(c.name, func(t *testing.T) {
			all := repeat(t, trials(t), func(r *trial) {
				handOver(r, startCluster(r, srv.URL(), c.ttl, 50*time.Millisecond), c.most)
			})
			bare := bareHandOver(t, srv.URL())
			t.Logf("bare store: release + notify + acquire, median   %8.2f ms", bare)
			for _, name := range []string{toElected, toForked, toStarted} {
				t.Logf("%-48s %8.1f times the bare store", name, median(slices.Sorted(slices.Values(all[name])))/bare)
			}
		})
	}
}

// bareHandOver is the median time, in milliseconds, for a release and its notice on one connection and, when that has come, an acquire on another: what
// a hand-over costs without any process, election or fencing.
func bareHandOver(t *testing.T, url string) float64 {
	client := redisClient(t, url)
	sub := client.Subscribe(t.Context(), "bare")
	defer sub.Close()
	if _, err := sub.Receive(t.Context()); err != nil {
		t.Fatal(err)
	}
	pause := time.NewTicker(100 * time.Millisecond) // as in a hand-over, which comes out of the blue
	defer pause.Stop()
	var all []float64
	for range 11 {
		<-pause.C
		began := time.Now()
		released := client.Del(t.Context(), "bare lease").Err()
		published := client.Publish(t.Context(), "bare", "released").Err()
		_, err := sub.ReceiveMessage(t.Context())
		acquired := client.SetNX(t.Context(), "bare lease", "holder", time.Minute).Err()
		all = append(all, float64(time.Since(began))/float64(time.Millisecond))
		for _, err := range []error{released, published, err, acquired} {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	return median(slices.Sorted(slices.Values(all)))
}

func redisClient(t testing.TB, url string) *goredis.Client {
	t.Helper()
	o, err := goredis.ParseURL(url)
	if err != nil {
		t.Fatal("the URL of the test server is malformed")
	}
	client := goredis.NewClient(o)
	t.Cleanup(func() { client.Close() })
	return client
}

// Without notices the timer hands over, after at most the lease's time.
func TestTrialHandOverWithoutNotice(t *testing.T) { //nolint:tparallel // its parts share a server whose calls are counted
	t.Parallel()
	srv := testenv.Redis(t)
	admin := redisClient(t, srv.URL())
	// Neither publishing nor subscribing is allowed.
	if err := admin.Do(t.Context(), "ACL", "SETUSER", "deaf", "on", ">"+testenv.Password(), "~*", "resetchannels", "+@all").Err(); err != nil {
		t.Fatal(err)
	}
	url := "redis://deaf:" + testenv.Password() + "@" + srv.Addr() + "/0"
	ttl := 4 * time.Second
	t.Run("TTL 4 s", func(t *testing.T) {
		repeat(t, trials(t), func(r *trial) { handOver(r, startCluster(r, url, ttl, 50*time.Millisecond), ttl+ceiling) })
	})
	t.Run("idle", func(t *testing.T) {
		repeat(t, 1, func(r *trial) { idle(r, admin, startCluster(r, url, ttl, 0)) })
	})
	if !many(t) {
		return
	}
	t.Run("TTL 60 s", func(t *testing.T) {
		repeat(t, 1, func(r *trial) {
			handOver(r, startCluster(r, url, time.Minute, 50*time.Millisecond), time.Minute+ceiling)
		})
	})
}

// idle counts what an undisturbed election asks of the store in two TTLs: a leader renews three times a TTL, a follower looks at most 1.25 times.
func idle(r *trial, admin *goredis.Client, c *cluster) {
	c.shift(1)
	for _, p := range c.all {
		eventually(r, "an opinion of the store", func() bool { return len(p.entries("elector: leader"))+len(p.entries("elector: started")) > 0 })
	}
	before := scripts(r, admin)
	rest, cancel := context.WithTimeout(r.Context(), 2*c.ttl)
	defer cancel()
	<-rest.Done()
	asked := scripts(r, admin) - before
	if most := int64(2 * (3 + 2*1.25)); asked > most+3 { // one each may lie across the ends
		r.wrong("the store was asked %d times in two TTLs; %d would do", asked, most)
	}
	r.Logf("the store was asked %d times in two TTLs", asked)
}

// scripts is how many scripts the server has run.
func scripts(r *trial, admin *goredis.Client) int64 {
	stats, err := admin.InfoMap(r.Context(), "commandstats").Result()
	if err != nil {
		r.Fatal(err)
	}
	var n int64
	for name, text := range stats["Commandstats"] {
		if name == "cmdstat_evalsha" || name == "cmdstat_eval" {
			n += int64(fields(text, "calls")[0])
		}
	}
	return n
}
