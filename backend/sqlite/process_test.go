package sqlite_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// roleVar tells the test binary which part to play when it runs as another process of a test.
const roleVar = "TENURE_SQLITE_TEST_ROLE"

// roles are the parts. Each gets the command line's arguments, prints lines for its parent and ends when its input does.
var roles = map[string]func(args []string) error{
	"candidate": playCandidate,
	"lock":      playLock,
	"open":      playOpen,
	"hammer":    playHammer,
}

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVar); role != "" {
		if err := roles[role](os.Args[1:]); err != nil {
			fmt.Println("error:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// process is a child of the test.
type process struct {
	t     *testing.T
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines chan string
}

// start runs the test binary in a role. The test's end kills it.
func start(t *testing.T, role string, args ...string) *process {
	t.Helper()
	p := &process{t: t, cmd: exec.CommandContext(t.Context(), os.Args[0], args...), lines: make(chan string, 100)}
	p.cmd.Env = append(os.Environ(), roleVar+"="+role)
	p.cmd.Stderr = os.Stderr
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		defer close(p.lines)
		for s := bufio.NewScanner(out); s.Scan(); {
			p.lines <- s.Text()
		}
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		go func() {
			for range p.lines { // lets the reader end
			}
		}()
		<-read
		_ = p.cmd.Wait()
	})
	return p
}

// tell sends the process a line.
func (p *process) tell(line string) {
	p.t.Helper()
	if _, err := io.WriteString(p.in, line+"\n"); err != nil {
		p.t.Fatal(err)
	}
}

// expect waits for the process's next line, which must begin with prefix, and returns the rest.
func (p *process) expect(prefix string) string {
	p.t.Helper()
	select {
	case line, ok := <-p.lines:
		rest, found := strings.CutPrefix(line, prefix)
		if !ok || !found {
			p.t.Fatalf("the process said %q, want %q", line, prefix)
		}
		return strings.TrimSpace(rest)
	case <-time.After(20 * time.Second):
		p.t.Fatalf("the process didn't say %q", prefix)
	}
	return ""
}

// kill ends the process as SIGKILL does, and waits for its end.
func (p *process) kill() {
	p.t.Helper()
	if err := p.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		p.t.Fatal(err)
	}
	for range p.lines { // ends when the process has
	}
}

// eventually repeats f until it is true.
func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	deadline := time.After(20 * time.Second)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !f() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("it never came true that %s", what)
		}
	}
}
