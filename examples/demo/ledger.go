package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/tenure-go/tenure/fence"
)

// ledger is what the leader writes to: a text file that all candidates share. It is its own guard: each line carries the token under which it was written, and a
// write under a token below that of the last line is refused. So a leader that was frozen, and wakes when another has taken over, can do no harm.
type ledger struct{ path string }

// entry is one line: the token, the last invoice that is settled and the sum in cents of the batch.
type entry struct {
	token fence.Token
	last  int
	cents int
}

// settled is what a batch has done.
type settled struct{ from, to, cents int }

func (s settled) String() string {
	sum := fmt.Sprintf("%d.%02d EUR", s.cents/100, s.cents%100)
	switch s.to - s.from {
	case -1:
		return "settled no invoice"
	case 0:
		return fmt.Sprintf("settled invoice %d: %s", s.from, sum)
	}
	return fmt.Sprintf("settled invoices %d to %d: %s", s.from, s.to, sum)
}

// Seal implements fence.Sealer: from now on nobody writes under a lower token.
func (l *ledger) Seal(_ context.Context, _ string, t fence.Token) error {
	return l.append(t, func(last entry) entry { return entry{token: t, last: last.last} })
}

// Settle books the next n invoices under a token.
func (l *ledger) Settle(t fence.Token, n int) (done settled, err error) {
	amounts := [...]int{4200, 12550, 899, 31000, 7625, 1999}
	err = l.append(t, func(last entry) entry {
		done = settled{from: last.last + 1, to: last.last + n}
		for i := done.from; i <= done.to; i++ {
			done.cents += amounts[i%len(amounts)]
		}
		return entry{token: t, last: done.to, cents: done.cents}
	})
	return done, err
}

// append writes one more line if t is not stale. Check and write are one step, under a lock on the file.
func (l *ledger) append(t fence.Token, next func(last entry) entry) error {
	f, err := os.OpenFile(l.path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer f.Close() // gives the lock back
	if err := lock(f); err != nil {
		return err
	}
	last, err := lastEntry(f)
	if err != nil {
		return err
	}
	if _, err := fence.Admit(last.token, t, time.Now()); err != nil {
		return err
	}
	e := next(last)
	_, err = fmt.Fprintf(f, "%s %d %d\n", e.token, e.last, e.cents)
	return err
}

// lastEntry reads a ledger to its end. The zero entry stands for an empty one.
func lastEntry(r io.Reader) (e entry, err error) {
	text, err := io.ReadAll(r)
	if err != nil || len(text) == 0 {
		return entry{}, err
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	var token string
	if _, err := fmt.Sscanf(lines[len(lines)-1], "%s %d %d", &token, &e.last, &e.cents); err != nil {
		return entry{}, fmt.Errorf("the ledger's last line: %w", err)
	}
	e.token, err = fence.Parse(token)
	return e, err
}
