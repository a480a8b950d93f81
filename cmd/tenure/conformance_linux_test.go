package main

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/backend/memory"
	"github.com/tenure-go/tenure/conformance"
	"github.com/tenure-go/tenure/internal/testenv"
)

// suiteTakes is more than the suite takes on a busy machine.
const suiteTakes = 5 * time.Minute

// forgetful is a store whose counter begins anew with each client: tokens fall.
type forgetful struct{ backend.LeaseStore }

func init() {
	backend.Register(backend.Driver{Schemes: []string{"forgetful"}, Open: func(context.Context, *backend.URL) (backend.LeaseStore, error) {
		return forgetful{memory.NewServer().Client()}, nil
	}})
}

func TestConformanceOfAFile(t *testing.T) {
	t.Parallel()
	file := "sqlite://" + filepath.Join(t.TempDir(), "a.db") + "?busy=20s" // on a busy machine other cases hold the file for long
	p := setting{store: file}.start(t, "conformance", "--json")
	if got := p.codeWithin(suiteTakes); got != conformance.ExitHolds {
		t.Errorf("exit code %d, want 0", got)
	}
	var report struct {
		Target   string
		Violated bool
	}
	if err := json.Unmarshal([]byte(p.stdout.String()), &report); err != nil || report.Target != file || report.Violated {
		t.Errorf("the report reads as %+v, %v", report, err)
	}
	if n := strings.Count(p.stderr.String(), "\n"); n != len(conformance.Cases())+1 {
		t.Errorf("%d lines of progress for %d cases", n, len(conformance.Cases()))
	}
	if strict := (setting{store: file}).start(t, "conformance", "--strict"); strict.codeWithin(suiteTakes) != conformance.ExitUntested {
		t.Errorf("exit code %d with --strict, want 3: nobody can plant a record behind the store's back", strict.codeWithin(suiteTakes))
	}
}

func TestConformanceFindsABrokenStore(t *testing.T) {
	t.Parallel()
	p := setting{}.start(t, "conformance", "forgetful://")
	if got := p.codeWithin(suiteTakes); got != conformance.ExitViolated {
		t.Errorf("exit code %d, want 1", got)
	}
	if !strings.Contains(p.stdout.String(), "exclusive          VIOLATED") {
		t.Errorf("the report is\n%s", p.stdout.String())
	}
}

func TestConformanceThatCannotRun(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"redis://127.0.0.1:1"}, {"nowhere://h"}, {"sqlite:///nowhere/at/all.db"}, {"--format", "yaml"}, {"--nonsense"}, {"--format", "junit", "memory:a", "memory:b"},
	} {
		p := setting{}.start(t, append([]string{"conformance"}, args...)...)
		if got := p.codeWithin(suiteTakes); got != conformance.ExitFailed || p.stderr.String() == "" {
			t.Errorf("%v: exit code %d, want 2; it says %q", args, got, p.stderr.String())
		}
	}
}

// An interrupt ends the run soon, with what is known by then.
func TestConformanceInterrupted(t *testing.T) {
	t.Parallel()
	srv := testenv.Redis(t)
	p := setting{store: srv.URL()}.start(t, "conformance")
	eventually(t, "some progress", func() bool { return strings.Contains(p.stderr.String(), "holds") })
	p.send(syscall.SIGINT)
	if got := p.codeWithin(suiteTakes); got != conformance.ExitFailed {
		t.Errorf("exit code %d, want 2", got)
	}
	if out := p.stdout.String(); !strings.Contains(out, "undecided") {
		t.Errorf("the report is\n%s", out)
	}
}
