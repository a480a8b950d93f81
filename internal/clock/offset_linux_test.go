package clock_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tenure-go/tenure/internal/clock"
	"github.com/tenure-go/tenure/internal/testenv"
)

const asReader = "TENURE_TEST_READ_BOOT"

// E7: what Boot reads is the clock that counts suspend. In a time namespace, the kernel shows a process a boot clock that is a day ahead, as after a day of suspend; a Boot that
// reads any other clock doesn't see that day.
func TestBootReadsTheClockThatCountsSuspend(t *testing.T) {
	const day = 24 * time.Hour
	if os.Getenv(asReader) != "" { // the child
		boot, _ := clock.Boot()
		var mono unix.Timespec
		if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &mono); err != nil {
			t.Fatal(err)
		}
		t.Logf("ahead=%d", boot-mono.Nano())
		return
	}
	var here unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &here); err != nil {
		t.Fatal(err)
	}
	boot, _ := clock.Boot()
	slept := time.Duration(boot - here.Nano()) // this host's own suspends
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	args := []string{"--time", "--boottime", strconv.Itoa(int(day.Seconds())), os.Args[0], "-test.run=^" + t.Name() + "$", "-test.v"}
	if os.Getuid() != 0 {
		args = append([]string{"--user", "--map-root-user"}, args...)
	}
	cmd := exec.CommandContext(ctx, "unshare", args...)
	cmd.Env = append(os.Environ(), asReader+"=1")
	out, err := cmd.CombinedOutput()
	_, rest, found := strings.Cut(string(out), "ahead=")
	if !found && (errors.Is(err, exec.ErrNotFound) || strings.Contains(string(out), "unshare: ")) {
		testenv.Skip(t, fmt.Sprintf("this system allows no time namespace: %v: %s", err, out))
	}
	if err != nil || !found {
		t.Fatalf("%v: %s", err, out)
	}
	digits, _, _ := strings.Cut(rest, "\n")
	ahead, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	if off := time.Duration(ahead) - slept - day; off < -time.Second || off > time.Second {
		t.Errorf("Boot is %v ahead of the monotonic clock, want a day and %v", time.Duration(ahead), slept)
	}
}
