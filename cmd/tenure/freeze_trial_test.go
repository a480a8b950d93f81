//go:build linux

package main

import (
	"context"
	"syscall"
	"testing"
	"time"

	"github.com/tenure-go/tenure/internal/testenv"
)

// A frozen tenure neither renews nor ends its command: the guardian has to. Awake again, it campaigns.
func TestTrialTenureFrozen(t *testing.T) {
	t.Parallel()
	url := testenv.Redis(t).URL()
	repeat(t, trials(t), func(r *trial) {
		const ttl = 2 * time.Second
		c := startCluster(r, url, ttl, 20*time.Millisecond)
		p, f := c.leader(c.shift(1))
		ended := exitTime(r, f.child.pid)
		frozen := boot()
		p.send(syscall.SIGSTOP)
		asleep := wait(r, 3*ttl)
		next := c.shift(2)
		end := ended.wait()
		if next.At <= end {
			r.wrong("the next leader began %v before the command of the frozen one had ended", end-next.At)
		}
		r.within("freeze to the end of the command", end-frozen, ttl)
		r.within("freeze to the next leader's first line", next.At-frozen, ttl+ceiling)
		<-asleep.Done()
		p.send(syscall.SIGCONT)
		eventually(r, "another campaign of the one that was frozen", func() bool { return len(p.entries("elector: campaigning")) == 2 })
		// It is a candidate like all others: without them it leads.
		for _, o := range c.others(p) {
			o.send(syscall.SIGTERM)
		}
		for n := 3; ; n++ {
			if again, _ := c.leader(c.shift(n)); again == p {
				break
			}
		}
		gone(r, "a frozen tenure", f.guardian, f.child)
		c.check()
	})
}

// wait returns a context that ends after a time. Tests wait for it where the passing of time is what they are about.
func wait(r *trial, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(r.Context(), d)
	r.Cleanup(cancel)
	return ctx
}
