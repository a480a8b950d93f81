package testenv

import (
	"os"
	"strings"
	"testing"
)

// The container is the last resort, so the test hides the machine's own servers. It may fetch images, and runs only when asked to.
func TestContainers(t *testing.T) {
	if os.Getenv("TENURE_TEST_CONTAINERS") == "" {
		notice := "TestContainers: set TENURE_TEST_CONTAINERS=1 to try the container images"
		announce(notice)
		t.Skip(notice)
	}
	t.Setenv("PATH", t.TempDir())
	t.Setenv("TENURE_CACHE", t.TempDir())
	for _, k := range kinds {
		t.Run(k.kind.name, func(t *testing.T) {
			t.Setenv(k.kind.variable(), "")
			hidden := k.kind
			hidden.binary = func() (string, error) { return inPath("none") }
			s := open(t, hidden, nil)
			serves(t, k.kind, s)
			if s.PID() != 0 || !strings.Contains(s.URL(), Password()) {
				t.Errorf("process %d, URL %s", s.PID(), s.URL())
			}
		})
	}
}
