package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/testenv"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is for machines with much else to do. The longest that a step waits for is a lease of 5 s.
const patience = 2 * time.Minute

// stores are the kinds of store that several processes can share, by URL scheme. What differs between them is one URL.
var stores = map[string]func(t *testing.T) string{
	"sqlite":   func(t *testing.T) string { return "sqlite://" + filepath.Join(t.TempDir(), "leader.db") },
	"redis":    func(t *testing.T) string { return testenv.Redis(t).URL() },
	"etcd":     func(t *testing.T) string { return testenv.Etcd(t).URL() },
	"postgres": func(t *testing.T) string { return testenv.Postgres(t).URL() },
	"consul":   func(t *testing.T) string { return testenv.Consul(t).URL() },
}

// kinds lists the stores that the program has, and fails for one that no tour is made on.
func kinds(t *testing.T) []string {
	t.Helper()
	var kinds []string
	other := []string{"memory", "rediss", "redis+sentinel", "redis+cluster", "etcds", "postgresql", "consuls"} // the first has a test of its own, the others are the same stores
	for _, scheme := range backend.Schemes() {
		if _, ok := stores[scheme]; ok {
			kinds = append(kinds, scheme)
		} else if !slices.Contains(other, scheme) {
			t.Errorf("there is a store %s:, and no tour on it", scheme)
		}
	}
	return kinds
}

// The same binary, on each store: one leader at a time, a hand-over, a take-over, and tokens that grow.
func TestProcesses(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("this test sends SIGTERM")
	}
	binary := filepath.Join(t.TempDir(), "portable")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	for _, kind := range kinds(t) {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			url, out := stores[kind](t), newOutput(t)
			election := fmt.Sprintf("portable-%d-%d", os.Getpid(), time.Now().UnixNano())
			start := func() candidate { return startProcess(t, binary, url, election, out.file) }
			a, b := start(), start()
			c := start()
			tour(t, out, start, a, b, c)
		})
	}
}

// A memory store lives in one process: there the candidates are goroutines, and SIGTERM is the end of their context.
func TestMemory(t *testing.T) {
	out := newOutput(t)
	next := 0
	start := func() candidate { next++; return startGoroutine(t, fmt.Sprint("candidate-", next), out.file) }
	a, b := start(), start()
	tour(t, out, start, a, b)
}

// tour lets the leader resign, and then, where that can be done, kills the next one.
func tour(t *testing.T, out *output, start func() candidate, candidates ...candidate) {
	t.Helper()
	all := make(map[string]candidate)
	for _, c := range candidates {
		all[c.name] = c
	}
	first := out.awaitWork(0)
	all[first.name].end(t)
	delete(all, first.name)
	if !strings.Contains(out.text(), fmt.Sprintf("%s ends token %d: elector: resigned", first.name, first.token)) {
		t.Errorf("the first leader was told to end and did not resign:\n%s", out.text())
	}
	again := start() // a new candidate
	all[again.name] = again
	second := out.awaitWork(first.token)
	last := second
	if kill := all[second.name].kill; kill != nil {
		kill(t)
		delete(all, second.name)
		last = out.awaitWork(second.token)
	}
	for _, c := range all {
		c.end(t)
	}
	t.Logf("terms: %s under %d, %s under %d, %s under %d", first.name, first.token, second.name, second.token, last.name, last.token)
	lines := strings.Split(strings.TrimSpace(out.text()), "\n")
	if err := oneAtATime(lines); err != nil {
		t.Errorf("%v in\n%s", err, out.text())
	}
}

// candidate is one participant, ended in good order or killed.
type candidate struct {
	name      string
	end, kill func(t *testing.T) // kill is nil where that can't be done
}

func startProcess(t *testing.T, binary, url, election string, out *os.File) candidate {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary, "-election", election)
	cmd.Env = append(os.Environ(), "TENURE_STORE="+url) // all that a change of the store takes
	cmd.Stdout, cmd.Stderr = out, os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var once sync.Once
	var err error
	wait := func() error { once.Do(func() { err = cmd.Wait() }); return err }
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = wait() })
	return candidate{
		name: fmt.Sprint("pid-", cmd.Process.Pid),
		end: func(t *testing.T) {
			t.Helper()
			if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			if err := wait(); err != nil {
				t.Errorf("after SIGTERM: %v", err)
			}
		},
		kill: func(t *testing.T) {
			t.Helper()
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = wait() // it was killed
		},
	}
}

func startGoroutine(t *testing.T, name string, out io.Writer) candidate {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, "memory:portable", "portable", name, out) }()
	return candidate{name: name, end: func(t *testing.T) {
		t.Helper()
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}}
}
