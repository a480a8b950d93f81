package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/tenure-go/tenure/internal/worklog"
)

// last is the last line of the work log.
func (a *arena) last() (worklog.Line, bool) {
	const most = 400
	f, err := os.Open(a.path)
	if err != nil {
		return worklog.Line{}, false
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return worklog.Line{}, false
	}
	b := make([]byte, most)
	n, _ := f.ReadAt(b, max(0, info.Size()-most))
	text := string(b[:n])
	text = text[:strings.LastIndexByte(text, '\n')+1]
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	l, err := worklog.Parse(lines[len(lines)-1])
	return l, err == nil
}

// leading is the slot whose candidate's command is at work, nil if there is none.
func (a *arena) leading() *slot {
	l, ok := a.last()
	if !ok || l.Kind == worklog.Stop || boot()-l.At > time.Second {
		return nil
	}
	for _, s := range a.slots {
		if token, _ := s.candidate.knows(); s.candidate.alive() && token == l.Token && s.candidate.leads(l.Token) {
			return s
		}
	}
	return nil
}

// leads reports that the candidate was elected under a token.
func (c *candidate) leads(token int64) bool {
	log := c.says()
	i := strings.LastIndex(log, `"elector: started"`)
	return i >= 0 && strings.Contains(log[i:], fmt.Sprintf(`"token":%d,`, token)) || i >= 0 && strings.Contains(log[i:], fmt.Sprintf(`"token":%d}`, token))
}

// calm waits until no fault is under way, somebody is at work, all are there, know of that leader and reach the store. It reports false where that doesn't come.
func (a *arena) calm() bool {
	a.faults.Wait()
	a.note("calm")
	began := time.Now()
	why := ""
	for tick := time.NewTicker(20 * time.Millisecond); time.Since(began) < chaosRecovery+max(0, time.Until(a.barred)); <-tick.C {
		a.replace()
		if why = a.unsettled(boot() - 500*time.Millisecond); why == "" {
			a.recoveries = append(a.recoveries, time.Since(began))
			a.note("calm after %v", time.Since(began))
			a.atWork()
			return !a.Failed()
		}
	}
	a.Errorf("seed %d, at %v: no calm within %v: %s", a.seed, time.Since(a.began), chaosRecovery, why)
	for _, s := range a.slots {
		token, contact := s.candidate.knows()
		a.Logf("%v: alive %v, knows of token %d, contact %v, process %d", s.candidate, s.candidate.alive(), token, contact, s.candidate.cmd.Process.Pid)
	}
	return false
}

// unsettled is what isn't in order yet.
func (a *arena) unsettled(since time.Duration) string {
	l, ok := a.last()
	if !ok || l.Kind == worklog.Stop || l.At < since {
		return "nobody is at work"
	}
	for _, s := range a.slots {
		token, contact := s.candidate.knows()
		switch {
		case !s.candidate.alive():
			return fmt.Sprintf("%v has ended", s.candidate)
		case !contact:
			return fmt.Sprintf("the store doesn't answer %v", s.candidate)
		case token != l.Token:
			return fmt.Sprintf("%v knows of token %d, but %d leads", s.candidate, token, l.Token)
		}
	}
	return ""
}

// atWork checks the work log so far.
func (a *arena) atWork() worklog.Report {
	lines, err := worklog.Read(a.path)
	if err != nil {
		a.Fatal(err)
	}
	return worklog.Check(lines)
}

// finish ends the candidates in good order, the leader first: each of them gets to lead or has ended by itself.
func (a *arena) finish() {
	for began := time.Now(); !a.Failed(); {
		living := slices.DeleteFunc(slices.Clone(a.slots[:]), func(s *slot) bool { return !s.candidate.alive() })
		if len(living) == 0 {
			return
		}
		if s := a.leading(); s != nil {
			a.note("%v leads and is told to end", s.candidate)
			_ = s.candidate.cmd.Process.Signal(syscall.SIGTERM)
			select {
			case <-s.candidate.done:
			case <-time.After(chaosGone):
				a.Errorf("%v does not end", s.candidate)
			}
			began = time.Now()
		}
		if time.Since(began) > chaosRecovery {
			a.Errorf("seed %d: %d candidates are left, and none of them leads", a.seed, len(living))
		}
		a.rest(10 * time.Millisecond)
	}
}

// verify is the judgement of a round in which the machine stood still for a while.
func (a *arena) verify(stall time.Duration) {
	report := a.atWork()
	overlap := report.LongestOverlap()
	for _, p := range report.Problems {
		if p.Rule == worklog.Exclusion && overlap < stall && stall > longestStall {
			a.Logf("undecided, the machine stalled for %v: %s: %s", stall, p.Rule, p.Text)
			continue
		}
		a.Errorf("seed %d: %s: %s", a.seed, p.Rule, p.Text)
	}
	if !a.Failed() {
		eventuallyWithin(a, chaosGone, "the end of all processes", func() bool { return len(a.left()) == 0 })
	}
	for _, pid := range a.left() {
		b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		a.Errorf("process %d is left: %q", pid, b)
	}
	for _, c := range a.candidates {
		a.verifyEnd(c)
	}
	a.Logf("seed %d: %d terms, %d candidates, longest gap %v, longest stall %v, recoveries %v", a.seed, len(report.Shifts), len(a.candidates), report.LongestGap(), stall, a.recoveries)
}

// verifyEnd looks for a candidate that has ended as none should.
func (a *arena) verifyEnd(c *candidate) {
	log := c.says()
	checkSecret(a, "the output of "+c.String(), log)
	for _, sign := range []string{"panic: ", "fatal error: ", "DATA RACE", "child: "} {
		if strings.Contains(log, sign) {
			a.Errorf("seed %d: %v says %s", a.seed, c, sign)
		}
	}
	if c.alive() {
		return
	}
	if code := c.cmd.ProcessState.ExitCode(); code > 0 && code < 128 && code != chaosCode {
		a.Errorf("seed %d: %v has exited with %d", a.seed, c, code)
	}
}

// sum prints what was done, and all there is to know where it went wrong.
func (a *arena) sum() {
	a.mu.Lock()
	defer a.mu.Unlock()
	total := 0
	for _, n := range a.count {
		total += n
	}
	a.Logf("seed %d: %d faults of %d kinds: %v", a.seed, total, len(a.count), a.count)
	if !a.Failed() {
		return
	}
	a.Log("\n" + strings.Join(a.events, "\n"))
	for _, c := range a.candidates {
		a.Logf("%v, a %s, wrote:\n%s", c, c.kind, c.says())
	}
	if dir := os.Getenv("TENURE_CHAOS_KEEP"); dir != "" {
		b, _ := os.ReadFile(a.path)
		_ = os.WriteFile(fmt.Sprintf("%s/work-%s-%d", dir, strings.ReplaceAll(a.Name(), "/", "-"), a.seed), b, 0o600)
	}
}
