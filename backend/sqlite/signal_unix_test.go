//go:build unix

package sqlite_test

import (
	"context"
	"syscall"
	"testing"
	"time"

	"github.com/tenure-go/tenure/backend"
)

func (p *process) signal(s syscall.Signal) { _ = p.cmd.Process.Signal(s) }

// disturb freezes a process for longer than a TTL now and then, and kills one of three in the end.
func disturb(t *testing.T, p *process, i int) {
	for t.Context().Err() == nil {
		<-time.After(time.Duration(100+37*i) * time.Millisecond)
		p.signal(syscall.SIGSTOP)
		<-time.After(2 * hammerTTL)
		p.signal(syscall.SIGCONT)
		if i%3 == 0 {
			<-time.After(300 * time.Millisecond)
			_ = p.cmd.Process.Kill()
			return
		}
	}
}

func TestFrozenHolderLosesItsLease(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s := open(t, path)
	p := start(t, "candidate", path, "e", short.String())
	p.expect("token")
	p.tell("renew")
	p.expect("renew ok")
	p.signal(syscall.SIGSTOP)
	var l backend.Lease
	eventually(t, "the lease is free", func() (ok bool) {
		var err error
		l, err = s.Acquire(t.Context(), claim("e", "b", long))
		return err == nil
	})
	p.signal(syscall.SIGCONT)
	p.tell("renew")
	p.expect("renew not held")
	p.tell("release")
	p.expect("release not held")
	if _, err := s.Renew(t.Context(), l); err != nil {
		t.Fatal(err)
	}
}

// A writer that is frozen in mid-transaction stops the other writers, and makes no second leader when it goes on.
func TestFrozenWriterStopsWritersUntilItGoesOn(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s := open(t, path)
	l := acquire(t, s, claim("e", "a", long))
	p := start(t, "lock", path, touch)
	p.expect("locked")
	p.signal(syscall.SIGSTOP)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	_, err := s.Renew(ctx, l)
	cancel()
	want(t, "renewal", err, backend.Unknown)
	p.signal(syscall.SIGCONT)
	p.tell("go on")
	p.expect("unlocked")
	if _, err := s.Renew(t.Context(), l); err != nil {
		t.Fatal(err)
	}
}
