package sqlite_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/backend/sqlite"
	"github.com/tenure-go/tenure/internal/clock"
)

const hammerTTL = 150 * time.Millisecond

// playHammer acquires, renews and releases one election as fast as it can (arguments: path, log, duration), and writes what it believes into the log: a line for each
// moment, "token from to", with times of the host's boot clock. Belief is counted as an elector does: from the reply, to a TTL after the request.
func playHammer(args []string) error {
	ctx := context.Background()
	d, err := time.ParseDuration(args[2])
	if err != nil {
		return err
	}
	s, err := sqlite.Open(ctx, args[0], sqlite.Options{})
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	out, err := os.OpenFile(args[1], os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = out.Close() }()
	for end := time.Now().Add(d); time.Now().Before(end); {
		lead(ctx, s, out)
	}
	fmt.Println("done")
	return nil
}

// lead tries once to lead, renews a few times, and releases or just goes away.
func lead(ctx context.Context, s *sqlite.Store, out *os.File) {
	sent, _ := clock.Boot()
	l, err := s.Acquire(ctx, claim("e", fmt.Sprint(os.Getpid()), hammerTTL))
	if err != nil {
		<-time.After(rand.N(5 * time.Millisecond))
		return
	}
	got, _ := clock.Boot()
	for range rand.IntN(8) {
		<-time.After(rand.N(3 * time.Millisecond))
		next, _ := clock.Boot()
		if _, err := s.Renew(ctx, l); err != nil {
			_, _ = fmt.Fprintln(out, l.Token, got, min(next, sent+int64(hammerTTL)))
			return
		}
		_, _ = fmt.Fprintln(out, l.Token, got, min(next, sent+int64(hammerTTL)))
		sent, got = next, max(got, next)
	}
	if rand.IntN(4) == 0 {
		_, _ = fmt.Fprintln(out, l.Token, got, sent+int64(hammerTTL)) // as if it had crashed
		return
	}
	released, _ := clock.Boot()
	_, _ = fmt.Fprintln(out, l.Token, got, min(released, sent+int64(hammerTTL)))
	_ = s.Release(ctx, l, backend.Handover{})
}

// belief is a time in which a process believed to lead.
type belief struct{ token, from, to int64 }

func readBeliefs(t *testing.T, path string) []belief {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	var beliefs []belief
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var b belief
		if n, _ := fmt.Sscan(lines.Text(), &b.token, &b.from, &b.to); n == 3 && b.from < b.to {
			beliefs = append(beliefs, b)
		}
	}
	return beliefs
}

// Several processes on one file; some are killed, some are frozen for longer than a TTL.
func TestManyProcessesNeverLeadAtOnce(t *testing.T) {
	path := newPath(t)
	duration := 4 * time.Second
	var beliefs []belief
	var steady []*process
	logs := make([]string, 6)
	for i := range logs {
		logs[i] = filepath.Join(t.TempDir(), strconv.Itoa(i))
		p := start(t, "hammer", path, logs[i], duration.String())
		if i < 3 {
			steady = append(steady, p)
		} else {
			go disturb(t, p, i)
		}
	}
	for _, p := range steady {
		p.expect("done")
	}
	holders := make(map[int64]string)
	for _, log := range logs {
		for _, b := range readBeliefs(t, log) {
			if other, taken := holders[b.token]; taken && other != log {
				t.Errorf("token %d was given to two processes", b.token)
			}
			holders[b.token] = log
			beliefs = append(beliefs, b)
		}
	}
	slices.SortFunc(beliefs, func(a, b belief) int { return int(a.from - b.from) })
	for i := 1; i < len(beliefs); i++ {
		a, b := beliefs[i-1], beliefs[i]
		if a.token > b.token {
			t.Errorf("token %d came after %d", b.token, a.token)
		}
		if a.token != b.token && a.to > b.from {
			t.Errorf("two leaders for %v: %+v, %+v", time.Duration(a.to-b.from), a, b)
		}
	}
	t.Logf("%d terms", len(holders))
	if len(holders) < 10 {
		t.Errorf("only %d terms", len(holders))
	}
}
