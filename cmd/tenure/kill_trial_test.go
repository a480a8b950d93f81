//go:build linux

package main

import (
	"syscall"
	"testing"
	"time"

	"github.com/tenure-go/tenure/internal/testenv"
)

// PE13: a host that dies takes tenure, guardian and command with it.
func TestTrialAllKilled(t *testing.T) {
	t.Parallel()
	url := testenv.Redis(t).URL()
	repeat(t, trials(t), func(r *trial) {
		const ttl = 2 * time.Second
		c := startCluster(r, url, ttl, 0)
		p, f := c.leader(c.shift(1))
		killed := boot()
		p.send(syscall.SIGKILL)
		f.guardian.kill()
		f.child.kill()
		next := c.shift(2)
		gone(r, "all killed", f.guardian, f.child)
		r.within("kill to the next leader's first line", next.At-killed, ttl+ceiling)
		r.figure("the same, beyond the TTL", next.At-killed-ttl)
		c.check()
	})
}

func TestTrialTenureKilled(t *testing.T) {
	t.Parallel()
	url := testenv.Redis(t).URL()
	repeat(t, trials(t), func(r *trial) {
		const ttl = 2 * time.Second
		c := startCluster(r, url, ttl, 20*time.Millisecond)
		p, f := c.leader(c.shift(1))
		ended := exitTime(r, f.child.pid)
		killed := boot()
		p.send(syscall.SIGKILL)
		next := c.shift(2)
		gone(r, "tenure killed", f.guardian, f.child)
		r.figure("kill to the end of the command", ended.wait()-killed)
		r.within("kill to the next leader's first line", next.At-killed, ttl+ceiling)
		c.check()
	})
}

func TestTrialGuardianKilled(t *testing.T) {
	t.Parallel()
	url := testenv.Redis(t).URL()
	repeat(t, trials(t), func(r *trial) {
		const ttl = 2 * time.Second
		c := startCluster(r, url, ttl, 20*time.Millisecond)
		_, f := c.leader(c.shift(1))
		ended := exitTime(r, f.child.pid)
		killed := boot()
		f.guardian.kill()
		next := c.shift(2)
		gone(r, "guardian killed", f.guardian, f.child)
		r.figure("kill to the end of the command", ended.wait()-killed)
		r.within("kill to the next leader's first line", next.At-killed, ttl+ceiling)
		c.check()
		c.running()
	})
}
