//go:build linux

package main

import (
	"testing"
	"time"

	"github.com/tenure-go/tenure/internal/testenv"
	"github.com/tenure-go/tenure/internal/testenv/proxy"
	"github.com/tenure-go/tenure/internal/worklog"
)

// outage is a way to take the store away and to bring it back.
type outage struct {
	name       string
	url        string
	away, back func()
}

// outages are a server that is frozen, and one that is cut off by the network.
func outages(r *trial) []outage {
	frozen, cut := testenv.Redis(r, testenv.Options{Own: true}), testenv.Redis(r)
	through, p := throughProxy(r, cut)
	return []outage{
		{"frozen", frozen.URL(), frozen.Freeze, frozen.Thaw},
		{"cut off", through, func() { p.BlackHole(proxy.Both) }, p.Heal},
	}
}

// A second without the store costs no leadership: same token, same command.
func TestTrialShortOutage(t *testing.T) {
	t.Parallel()
	repeat(t, trials(t), func(r *trial) {
		const ttl = 5 * time.Second
		var kept []func()
		for _, o := range outages(r) {
			c := startCluster(r, o.url, ttl, 0)
			_, f := c.leader(c.shift(1))
			kept = append(kept, func() {
				c.running()
				if c.read(); len(c.starts) != 1 || f.child.ended(0) {
					r.wrong("%s: the leadership was lost", o.name)
				}
				c.check()
			})
			o.away()
			<-wait(r, time.Second).Done()
			o.back()
		}
		<-wait(r, ttl+ttl/2).Done() // a lease that was not renewed would have ended
		for _, check := range kept {
			check()
		}
	})
}

// Without the store for long, the leader steps down in time; nobody gives up; with the store comes a leader.
func TestTrialLongOutage(t *testing.T) { //nolint:tparallel // its parts would only take the processors from each other
	t.Parallel()
	t.Run("away 8 s", func(t *testing.T) {
		repeat(t, trials(t), func(r *trial) { longOutage(r, 2*time.Second, 8*time.Second) })
	})
	if many(t) {
		t.Run("away 30 s", func(t *testing.T) { repeat(t, 1, func(r *trial) { longOutage(r, 5*time.Second, 30*time.Second) }) })
	}
}

func longOutage(r *trial, ttl, away time.Duration) {
	type run struct {
		outage
		*cluster
		first worklog.Line
		ended exiting
		since time.Duration
	}
	var runs []*run
	for _, o := range outages(r) {
		x := &run{outage: o, cluster: startCluster(r, o.url, ttl, 20*time.Millisecond)}
		x.first = x.shift(1)
		_, f := x.leader(x.first)
		x.ended = exitTime(r, f.child.pid)
		x.since = boot()
		o.away()
		runs = append(runs, x)
	}
	<-wait(r, away).Done()
	for _, x := range runs {
		r.within(x.name+": outage to the end of the command", x.ended.wait()-x.since, ttl)
		x.running()
		back := boot()
		x.back()
		next := x.shift(2)
		r.within(x.name+": return to the next leader's first line", next.At-back, ttl+ceiling)
		var last time.Duration
		for _, p := range x.all {
			eventually(r, "contact", func() bool { return len(p.entries("the store answers again")) > 0 })
			last = max(last, bootOf(p.entries("the store answers again")[0].Time)-back)
		}
		r.within(x.name+": return to contact of all", last, 2*ttl)
		x.running()
		x.check()
	}
}
