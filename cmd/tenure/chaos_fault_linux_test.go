package main

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// blow is what is done to one process.
type blow struct {
	signal syscall.Signal // zero: nothing
	after  time.Duration  // so long after the fault's begin
	frozen time.Duration  // with SIGSTOP
}

func (b blow) String() string {
	switch {
	case b.signal == 0:
		return "-"
	case b.signal == syscall.SIGSTOP && b.frozen >= chaosTTL:
		return "frozen for long"
	case b.signal == syscall.SIGSTOP:
		return "frozen"
	}
	return strings.TrimPrefix(unix.SignalName(b.signal), "SIG")
}

// down: the process does nothing for its family, for a while or ever.
func (b blow) down() bool { return b.signal == syscall.SIGKILL || b.signal == syscall.SIGSTOP }

func (a *arena) blow() blow {
	b := blow{after: a.between(0, 30*time.Millisecond)}
	if a.IntN(4) == 0 {
		b.after = a.between(0, chaosTTL)
	}
	switch a.IntN(8) {
	case 0, 1:
		b.signal = syscall.SIGKILL
	case 2, 3:
		b.signal, b.frozen = syscall.SIGSTOP, a.between(time.Millisecond, chaosMost)
		if a.IntN(2) == 0 {
			b.frozen = a.between(time.Millisecond, chaosTTL/4)
		}
	case 4:
		b.signal = []syscall.Signal{syscall.SIGTERM, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGUSR1}[a.IntN(5)]
	}
	return b
}

// double: wrapper and guardian are out of action at the same time, which only a command without descendants is protected from, and only if the guardian is killed.
func double(c *candidate, blows []blow) bool {
	return blows[0].down() && blows[1].down() && (c.family() || blows[1].signal != syscall.SIGKILL)
}

// afflict chooses what is done to each process of a candidate.
func (a *arena) afflict(c *candidate) fault {
	if a.IntN(8) == 0 {
		return a.stutter(c)
	}
	blows := make([]blow, len(chaosRoles))
	for hurt := false; !hurt || double(c, blows); {
		hurt = false
		for i := range blows {
			blows[i] = a.blow()
			hurt = hurt || blows[i].signal != 0
		}
	}
	name := fmt.Sprintf("wrapper %v, guardian %v, command %v, worker %v", blows[0], blows[1], blows[2], blows[3])
	return fault{name, func() { a.deal(c, blows) }}
}

// deal carries blows out, and returns when nobody is frozen any more and none of a dead guardian's processes is left.
func (a *arena) deal(c *candidate, blows []blow) {
	all := a.tribe(c)
	defer func() {
		for _, k := range all {
			unix.Close(k.fd)
		}
	}()
	a.note("%v: %v", c, all)
	type moment struct {
		at     time.Duration
		signal syscall.Signal
		kin    kin
	}
	var moments []moment
	for i, k := range all {
		b := blows[slices.Index(chaosRoles, k.role)]
		if b.signal == 0 {
			continue
		}
		if i == 0 && b.signal == syscall.SIGKILL {
			c.killed.Store(true)
		}
		moments = append(moments, moment{b.after, b.signal, k})
		if b.signal == syscall.SIGSTOP {
			moments = append(moments, moment{b.after + b.frozen, syscall.SIGCONT, k})
		}
	}
	slices.SortFunc(moments, func(x, y moment) int { return int(x.at - y.at) })
	begin := time.Now()
	for _, m := range moments {
		a.rest(time.Until(begin.Add(m.at)))
		m.kin.send(m.signal)
		a.note("%v to %s %d", m.signal, m.kin.role, m.kin.pid)
	}
	a.orphans(all)
}

// orphans checks that a dead guardian's processes don't stay.
func (a *arena) orphans(all []kin) {
	if len(all) < 2 || !all[1].gone(0) {
		return
	}
	for _, k := range all[2:] {
		if !k.gone(chaosGone) {
			a.Errorf("%s %d outlives its guardian", k.role, k.pid)
		}
	}
}

// stutter freezes a candidate again and again for moments, so that one lies inside of each thing that it does.
func (a *arena) stutter(c *candidate) fault {
	pauses := make([]time.Duration, 40)
	for i := range pauses {
		pauses[i] = a.between(time.Microsecond, 50*time.Millisecond)
	}
	return fault{"stutter", func() {
		all := a.tribe(c)
		for i, pause := range pauses {
			if len(all) == 0 {
				return
			}
			all[0].send([]syscall.Signal{syscall.SIGSTOP, syscall.SIGCONT}[i%2])
			a.rest(pause)
		}
		for _, k := range all {
			unix.Close(k.fd)
		}
	}}
}
