package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tenure-go/tenure/internal/clock"
	"github.com/tenure-go/tenure/internal/worklog"
)

// cluster is three tenure processes that compete. Their commands keep one work log.
type cluster struct {
	*trial
	setting
	ttl    time.Duration
	toStop time.Duration // how long a command takes to stop
	path   string
	all    []*process

	offset int64          // how far the log was read
	starts []worklog.Line // what it said of new shifts
}

func startCluster(r *trial, url string, ttl, toStop time.Duration) *cluster {
	c := &cluster{trial: r, setting: released(r, url), ttl: ttl, toStop: toStop, path: filepath.Join(r.TempDir(), "work")}
	for range 3 {
		c.all = append(c.all, c.start(r, c.line()...))
	}
	return c
}

func (c *cluster) line() []string {
	return command([]string{"--election", c.election, "--ttl", seconds(c.ttl), "--json", "--verbose"}, child("work", c.path, c.toStop.String())...)
}

// shift waits for the nth shift to begin and returns its first line.
func (c *cluster) shift(n int) worklog.Line {
	c.Helper()
	eventuallyWithin(c, c.ttl+patience, "the next shift", func() bool {
		c.read()
		return len(c.starts) >= n
	})
	return c.starts[n-1]
}

// read reads what the log has more than last time.
func (c *cluster) read() {
	f, err := os.Open(c.path)
	if errors.Is(err, os.ErrNotExist) {
		return
	}
	if err != nil {
		c.Fatal(err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.NewSectionReader(f, c.offset, 1<<30))
	if err != nil {
		c.Fatal(err)
	}
	b = b[:bytes.LastIndexByte(b, '\n')+1]
	c.offset += int64(len(b))
	for text := range strings.Lines(string(b)) {
		if !strings.Contains(text, string(worklog.Start)) {
			continue
		}
		l, err := worklog.Parse(strings.TrimSuffix(text, "\n"))
		if err != nil {
			c.Fatal(err)
		}
		c.starts = append(c.starts, l)
	}
}

// leader finds the process whose command has begun a shift.
func (c *cluster) leader(l worklog.Line) (*process, family) {
	c.Helper()
	var p *process
	var f family
	eventually(c, "the leader's own report", func() bool {
		for _, p = range c.all {
			for _, e := range p.entries("started") {
				if e.PID == l.PID && e.Token == l.Token {
					f = family{hold(c, e.GuardianPID), hold(c, e.PID)}
					return true
				}
			}
		}
		return false
	})
	return p, f
}

// seen waits until all others have seen who leads the shift.
func (c *cluster) seen(l worklog.Line) {
	c.Helper()
	leader, _ := c.leader(l)
	for _, p := range c.others(leader) {
		eventually(c, "a look at the leader", func() bool {
			return slices.ContainsFunc(p.entries("elector: leader"), func(e entry) bool { return e.Token == l.Token })
		})
	}
}

// others are all but one.
func (c *cluster) others(p *process) []*process {
	return slices.DeleteFunc(slices.Clone(c.all), func(o *process) bool { return o == p })
}

// reported is when the leader of a shift logged something: "elector: started" is its election, "started" that its command runs.
func (c *cluster) reported(l worklog.Line, msg string) time.Duration {
	c.Helper()
	p, _ := c.leader(l)
	for _, e := range p.entries(msg) {
		if e.Token == l.Token {
			return bootOf(e.Time)
		}
	}
	c.Fatalf("%q is not in the log under token %d", msg, l.Token)
	return 0
}

// check looks at the whole work log.
func (c *cluster) check() worklog.Report {
	lines, err := worklog.Read(c.path)
	if err != nil {
		c.Fatal(err)
	}
	report := worklog.Check(lines)
	for _, p := range report.Problems {
		c.wrong("%s: %s", p.Rule, p.Text)
	}
	return report
}

// running checks that no process has ended.
func (c *cluster) running() {
	for _, p := range c.all {
		select {
		case <-p.done:
			c.wrong("a tenure process has exited with %d", p.cmd.ProcessState.ExitCode())
		default:
		}
	}
}

// entry is a line of tenure's log.
type entry struct {
	Time        time.Time
	Msg         string
	Token       int64
	PID         int
	GuardianPID int `json:"guardian_pid"`
}

// entries are the lines of a process' log with a message.
func (p *process) entries(msg string) (found []entry) {
	for line := range strings.Lines(p.stderr.String()) {
		var e entry
		if strings.HasSuffix(line, "\n") && json.Unmarshal([]byte(line), &e) == nil && e.Msg == msg {
			found = append(found, e)
		}
	}
	return found
}

// boot is the clock of the work log.
func boot() time.Duration {
	now, _ := clock.Boot()
	return time.Duration(now)
}

func bootOf(t time.Time) time.Duration { return boot() - time.Since(t) }

// exiting tells when a process ends.
type exiting struct {
	t  testing.TB
	at chan time.Duration
}

func exitTime(t testing.TB, pid int) exiting {
	t.Helper()
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		t.Fatal(err)
	}
	e := exiting{t, make(chan time.Duration, 1)}
	go func() {
		defer unix.Close(fd)
		held{pid, fd}.ended(time.Hour)
		e.at <- boot()
	}()
	return e
}

// wait waits for the end.
func (e exiting) wait() time.Duration {
	e.t.Helper()
	select {
	case at := <-e.at:
		return at
	case <-time.After(patience):
		e.t.Fatal("the command of the last leader does not end")
		return 0
	}
}
