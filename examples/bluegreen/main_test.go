package main

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/tenure-go/tenure/backend/memory"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// diary is what both versions write, in order.
type diary struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (d *diary) Write(p []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.b.Write(p)
}

func (d *diary) String() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.b.String()
}

// The new version works from when it is ready, after the old one has finished its unit; when the new one has gone, the old one works again. No unit is cut off, and no two overlap.
func TestDeploy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, written := memory.NewServer(), &diary{}
		start := func(w worker) (end func()) {
			w.out = written
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() { done <- w.run(ctx, server.Client()) }()
			return func() {
				cancel()
				if err := <-done; err != nil {
					t.Errorf("version %d: %v", w.version, err)
				}
			}
		}
		blue := start(worker{version: 1, effort: 7 * time.Second})
		<-time.After(time.Minute)
		green := start(worker{version: 2, effort: 7 * time.Second, warmup: 30 * time.Second})
		<-time.After(29 * time.Second)
		if strings.Contains(written.String(), "version 2") {
			t.Error("version 2 works before it is ready")
		}
		<-time.After(20 * time.Second)
		if lines := strings.Split(strings.TrimSpace(written.String()), "\n"); !strings.HasPrefix(lines[len(lines)-1], "version 2") {
			t.Errorf("version 2 doesn't work although it is ready: %s", lines[len(lines)-1])
		}
		green()
		<-time.After(20 * time.Second)
		blue()
		lines := strings.Split(strings.TrimSpace(written.String()), "\n")
		var order []string
		for i, line := range lines {
			version := line[:len("version 1")]
			if i%2 == 0 && !strings.Contains(line, "begins") || i%2 == 1 && (!strings.HasPrefix(line, version+" has done") || lines[i-1][:len(version)] != version) {
				t.Errorf("line %d: %q after %q", i, line, lines[max(0, i-1)])
			}
			if len(order) == 0 || order[len(order)-1] != version {
				order = append(order, version)
			}
		}
		if got := strings.Join(order, ", "); got != "version 1, version 2, version 1" {
			t.Errorf("the order of work is %s:\n%s", got, written.String())
		}
	})
}
