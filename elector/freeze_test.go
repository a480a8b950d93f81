//go:build linux

package elector

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/clock"
	"github.com/tenure-go/tenure/internal/testenv"
)

// E7, R27: the first Leading of a process that was frozen is right.
func TestTheFirstLookAfterAFreezeIsRight(t *testing.T) {
	server := testenv.Redis(t)
	const frozenTTL = 2 * time.Second
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), "TENURE_TEST_LOOKER="+server.URL(), "TENURE_TEST_LOOKER_TTL="+frozenTTL.String())
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	patience := time.AfterFunc(2*time.Minute, func() { _ = cmd.Process.Kill() })
	t.Cleanup(func() { patience.Stop(); _ = cmd.Process.Kill(); _ = cmd.Wait() })
	lines := bufio.NewScanner(out)
	read := func() string {
		if !lines.Scan() {
			t.Fatal("the process ended")
		}
		return lines.Text()
	}
	if line := read(); line != "leading" {
		t.Fatalf("it says %q", line)
	}
	for range 2 {
		if err := cmd.Process.Signal(unix.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		pass(3 * frozenTTL)
		if err := cmd.Process.Signal(unix.SIGCONT); err != nil {
			t.Fatal(err)
		}
		if line := read(); !strings.HasPrefix(line, "first look false false") {
			t.Errorf("it says %q", line)
		}
		if line := read(); line != "leading" {
			t.Fatalf("it says %q", line)
		}
	}
}

// looker is the process that is frozen: it asks all the time, and tells what the first answer was after time went by without it.
func looker(url string, ttl time.Duration) error {
	s, err := backend.Open(context.Background(), url)
	if err != nil {
		return err
	}
	e, err := New(Config{Store: s, Election: "looker", TTL: ttl, Logger: quiet})
	if err != nil {
		return err
	}
	for {
		term, err := e.Campaign(context.Background())
		if err != nil {
			return err
		}
		last, _ := clock.Boot() // from here on a freeze is seen
		fmt.Println("leading")
		look(e, term, last)
		if err := term.Resign(context.Background()); err != nil {
			return err
		}
	}
}

func look(e *Elector, term *Term, last int64) {
	for {
		before, _ := clock.Boot()
		leading, valid := e.Leading(), term.Valid()
		if gap := time.Duration(before - last); gap > e.cfg.TTL {
			fmt.Println("first look", leading, valid, "after", gap)
			return
		}
		last = before
	}
}
