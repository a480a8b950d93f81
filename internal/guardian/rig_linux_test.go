package guardian

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// patience is how long a test waits for what has to come. It says nothing
// about how fast that should be.
const patience = 30 * time.Second

// far is a deadline that no test reaches by waiting.
const far = time.Hour

// line is the reading end of a pipe that processes of a test write lines to.
// Its end tells that all who held the other end are gone.
type line struct {
	r *bufio.Reader
}

func newLine(t *testing.T) (line, *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	t.Cleanup(func() { w.Close() })
	if err := r.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	return line{bufio.NewReader(r)}, w
}

// next returns the rest of the next line that starts with prefix.
func (l line) next(t *testing.T, prefix string) string {
	t.Helper()
	for {
		s, err := l.r.ReadString('\n')
		if rest, ok := strings.CutPrefix(strings.TrimSuffix(s, "\n"), prefix); ok && err == nil {
			return strings.TrimPrefix(rest, " ")
		}
		if err != nil {
			t.Fatalf("no line %q came: %v", prefix, err)
		}
	}
}

func (l line) pid(t *testing.T, prefix string) int {
	t.Helper()
	pid, err := strconv.Atoi(l.next(t, prefix))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// rest reads to the end, which comes when nobody holds the other side.
func (l line) rest(t *testing.T) string {
	t.Helper()
	b, err := io.ReadAll(l.r)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("somebody is still alive; until now they wrote %q", b)
	}
	return string(b)
}

// dial is a boot clock that a test can step, in all processes. The monotonic
// clock and its timers stay as they are.
type dial struct{ file string }

func newDial(t *testing.T) dial {
	t.Helper()
	d := dial{filepath.Join(t.TempDir(), "dial")}
	d.step(t, 0)
	return d
}

// step sets how far the clock is ahead.
func (d dial) step(t *testing.T, ahead time.Duration) {
	t.Helper()
	if err := os.WriteFile(d.file+".new", strconv.AppendInt(nil, int64(ahead), 10), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(d.file+".new", d.file); err != nil {
		t.Fatal(err)
	}
}

func (d dial) self() []string { return []string{"/proc/self/exe", Subcommand, d.file} }

func bootFrom(file string) func() BootTime {
	return func() BootTime {
		b, err := os.ReadFile(file)
		if err != nil {
			return Now() // the test is over
		}
		n, _ := strconv.ParseInt(string(b), 10, 64)
		return Now().Add(time.Duration(n))
	}
}

// eventually waits for what no event tells.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); !is(); <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("not so within %v: %s", patience, what)
		}
	}
}

// subject is a process that a test looks at. It is told from a later one with
// the same pid by its birth.
type subject struct {
	pid   int
	start uint64
}

// see notes a process and kills it at the end of the test, if it is still there.
func see(t *testing.T, pid int) subject {
	t.Helper()
	s := subject{pid, birth(pid)}
	if s.start == 0 {
		t.Fatalf("process %d is not there", pid)
	}
	t.Cleanup(func() {
		if s.alive() {
			syscall.Kill(pid, syscall.SIGKILL)
		}
	})
	return s
}

func (s subject) alive() bool {
	p, err := readProc(s.pid)
	return err == nil && p.start == s.start && !p.zombie
}

func (s subject) send(t *testing.T, sig syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(s.pid, sig); err != nil {
		t.Fatal(err)
	}
}

// freeze returns when the process stands still.
func (s subject) freeze(t *testing.T) {
	t.Helper()
	s.send(t, syscall.SIGSTOP)
	eventually(t, "stopped", func() bool {
		b, err := os.ReadFile("/proc/" + strconv.Itoa(s.pid) + "/stat")
		return err == nil && strings.Contains(string(b), ") T ")
	})
}

func gone(t *testing.T, ss ...subject) {
	t.Helper()
	for _, s := range ss {
		if s.alive() {
			t.Errorf("process %d is still alive", s.pid)
		}
	}
}

func toJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
