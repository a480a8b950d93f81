package custombackend

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/elector"
)

const (
	roleVar  = "TENURE_FOLDER_TEST_ROLE" // makes the test binary play a part in another process
	election = "invoices"
	patience = time.Minute
	hour     = time.Hour
)

var roles = map[string]func(folder string) error{"compete": compete, "lead": lead, "lock": holdLock}

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVar); role != "" {
		if err := roles[role](os.Args[1]); err != nil {
			fmt.Println("error:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// process is another process that plays a part in a folder.
type process struct {
	t     *testing.T
	cmd   *exec.Cmd
	lines *bufio.Scanner
}

func start(t *testing.T, role, folder string) *process {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	t.Cleanup(cancel)
	p := &process{t: t, cmd: exec.CommandContext(ctx, os.Args[0], folder)}
	p.cmd.Env = append(os.Environ(), roleVar+"="+role)
	p.cmd.Stderr = os.Stderr
	in, err := p.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.lines = bufio.NewScanner(out)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		p.kill()
	})
	return p
}

// next is the next line that the process prints; false when it has ended.
func (p *process) next() (string, bool) { ok := p.lines.Scan(); return p.lines.Text(), ok }

func (p *process) expect(prefix string) string {
	p.t.Helper()
	line, _ := p.next()
	rest, ok := strings.CutPrefix(line, prefix)
	if !ok {
		p.t.Fatalf("the process said %q, want %q", line, prefix)
	}
	return rest
}

// kill is kill -9.
func (p *process) kill() {
	if err := p.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		p.t.Error(err)
	}
	_ = p.cmd.Wait()
}

func claim(i int) backend.Claim {
	return backend.Claim{
		Election: election, TTL: hour, Candidate: backend.Candidate{ID: strconv.Itoa(os.Getpid())},
		Attempt: backend.Attempt{1, byte(i), byte(i >> 8), byte(os.Getpid()), byte(os.Getpid() >> 8), byte(os.Getpid() >> 16)},
	}
}

// compete acquires and releases 100 times, and prints its tokens. While it holds the lease it makes a file that must not be there.
func compete(folder string) error {
	s, err := Open(folder)
	if err != nil {
		return err
	}
	defer s.Close()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for got := 0; got < 100; {
		l, err := s.Acquire(ctx, claim(got))
		if errors.Is(err, backend.ErrHeld) {
			continue
		} else if err != nil {
			return err
		}
		got++
		if err := beAlone(folder); err != nil {
			return err
		}
		fmt.Println("token", l.Token)
		if err := s.Release(ctx, l, backend.Handover{}); err != nil {
			return err
		}
	}
	return nil
}

func beAlone(folder string) error {
	name := filepath.Join(folder, "at-work")
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("two hold the lease: %w", err)
	}
	return errors.Join(f.Close(), os.Remove(name))
}

func TestTwoProcessesCompete(t *testing.T) {
	folder := t.TempDir()
	a, b := start(t, "compete", folder), start(t, "compete", folder)
	seen := map[string]bool{}
	for _, p := range []*process{a, b} {
		last := ""
		for line, ok := p.next(); ok; line, ok = p.next() {
			token, found := strings.CutPrefix(line, "token ")
			if !found || seen[token] || token <= last { // all tokens have 16 digits: microseconds
				t.Fatalf("got %q after token %s (granted before: %v)", line, last, seen[token])
			}
			seen[token], last = true, token
		}
	}
	if len(seen) != 200 {
		t.Errorf("%d terms, want 200", len(seen))
	}
}

// holdLock is a process in the middle of a write.
func holdLock(folder string) error {
	s, err := Open(folder)
	if err != nil {
		return err
	}
	return s.locked(context.Background(), election, func(entry, time.Time) error {
		fmt.Println("locked")
		_, err := io.Copy(io.Discard, os.Stdin)
		return err
	})
}

func TestAKilledWriterBlocksNobody(t *testing.T) {
	folder := t.TempDir()
	s, err := Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	p := start(t, "lock", folder)
	p.expect("locked")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := s.Acquire(ctx, claim(0)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("acquire beside a writer: %v", err)
	}
	if err := os.WriteFile(s.file(election)+".next", []byte(`{"Elec`), 0o600); err != nil { // what it may leave
		t.Fatal(err)
	}
	p.kill()
	if _, err := s.Acquire(t.Context(), claim(0)); err != nil {
		t.Errorf("acquire after the writer was killed: %v", err)
	}
}

// lead leads until it is killed.
func lead(folder string) error {
	s, err := Open(folder)
	if err != nil {
		return err
	}
	e, err := elector.New(elector.Config{Store: s, Election: election})
	if err != nil {
		return err
	}
	return e.Run(context.Background(), func(ctx context.Context, term *elector.Term) error {
		fmt.Println("token", term.Token().Value)
		<-ctx.Done()
		return context.Cause(ctx)
	})
}

func TestAKilledLeaderIsSucceeded(t *testing.T) {
	folder := t.TempDir()
	p := start(t, "lead", folder)
	first := p.expect("token ")
	q := start(t, "lead", folder)
	p.kill()
	if second := q.expect("token "); second <= first {
		t.Errorf("token %s after %s", second, first)
	}
}
