package main

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// chaosSQLite is one file.
type chaosSQLite struct {
	*arena
	path string
	busy atomic.Bool
}

func faultySQLite(a *arena) faulty {
	return &chaosSQLite{arena: a, path: filepath.Join(filepath.Dir(a.path), "tenure.db")}
}

func (l *chaosSQLite) url(int) string { return "sqlite://" + l.path }

func (l *chaosSQLite) strike() fault {
	if !l.busy.CompareAndSwap(false, true) {
		return fault{}
	}
	d := l.between(time.Millisecond, chaosMost)
	if l.IntN(2) == 0 {
		d = l.between(time.Millisecond, chaosTTL/2)
	}
	free := func(run func()) func() { return func() { defer l.busy.Store(false); run() } }
	faults := []fault{
		{"file: locked", func() { l.hold(d, "BEGIN IMMEDIATE") }},
		{"file: locked and written", func() { l.hold(d, "BEGIN IMMEDIATE", "UPDATE tenure_lease SET counter = counter") }},
		{"file: read", func() { l.hold(d, "BEGIN", "SELECT count(*) FROM tenure_lease") }},
		{"file: locked again and again", func() {
			for end := time.Now().Add(d); time.Now().Before(end); {
				l.hold(20*time.Millisecond, "BEGIN IMMEDIATE")
			}
		}},
		{"file: checkpoint", func() { l.hold(0, "PRAGMA wal_checkpoint(TRUNCATE)") }},
	}
	if s := l.leading(); l.IntN(6) == 0 && s != nil && s.busy.CompareAndSwap(false, true) { // it writes
		c := s.candidate
		return fault{"file: the leader is frozen in its transaction", free(func() { defer s.busy.Store(false); l.catch(c, d) })}
	}
	f := faults[l.IntN(len(faults))]
	return fault{f.name, free(f.run)}
}

// hold executes statements on one connection and keeps them for a while. They may fail: what they ask for may be taken.
func (l *chaosSQLite) hold(d time.Duration, statements ...string) {
	ctx := context.WithoutCancel(l.Context())
	db, err := sql.Open("sqlite", "file:"+l.path+"?_pragma=busy_timeout(3000)")
	if err != nil {
		l.Error(err)
		return
	}
	defer db.Close()
	conn, err := db.Conn(ctx)
	if err != nil {
		l.note("file: %v", err)
		return
	}
	defer conn.Close()
	for _, s := range statements {
		if _, err := conn.ExecContext(ctx, s); err != nil {
			l.note("file: %s: %v", s, err)
			break
		}
	}
	l.rest(d)
	_, _ = conn.ExecContext(ctx, "ROLLBACK") // nothing may be begun
}

// catch waits until a candidate is in a transaction, and freezes it there.
func (l *chaosSQLite) catch(c *candidate, d time.Duration) {
	all := l.tribe(c)
	if len(all) == 0 {
		return
	}
	defer func() {
		for _, k := range all {
			unix.Close(k.fd)
		}
	}()
	for end := time.Now().Add(chaosTTL); time.Now().Before(end); {
		if l.writes(all[0].pid) {
			all[0].send(syscall.SIGSTOP)
			if l.writes(all[0].pid) {
				l.tally("file: it was caught")
				l.rest(d)
				end = time.Now()
			}
			all[0].send(syscall.SIGCONT)
		}
	}
}

// writes reports that a process has the write lock, byte 120 of the index.
func (l *chaosSQLite) writes(pid int) bool {
	locks, err := os.ReadFile("/proc/locks")
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(locks)) {
		if f := strings.Fields(line); len(f) == 8 && f[3] == "WRITE" && f[4] == strconv.Itoa(pid) && f[6] == "120" {
			return true
		}
	}
	return false
}

// lose removes what belongs to the file, or a part of it.
func (l *chaosSQLite) lose() (fault, bool) {
	remove := func(ends ...string) func() {
		return func() {
			for _, end := range ends {
				_ = os.Remove(l.path + end)
			}
		}
	}
	losses := []fault{
		{"loss: all removed", remove("", "-wal", "-shm")},
		{"loss: the file removed", remove("")},
		{"loss: the shm removed", remove("-shm")},
		{"loss: the row removed", func() { l.hold(0, "DELETE FROM tenure_lease") }},
	}
	return losses[l.IntN(len(losses))], true
}
