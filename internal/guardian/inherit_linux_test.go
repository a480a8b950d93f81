package guardian

import (
	"bytes"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

const canary = "redis://user:canary-7f3a@host:6379/0"

func TestGuardianHasNoSecrets(t *testing.T) {
	t.Parallel()
	s, life := spec(t, child("wait")...)
	s.Env = append(os.Environ(), "TENURE_STORE="+canary, "TENURE_TOKEN=5")
	c := begin(t, s)
	life.next(t, "ready")
	see := func(pid int, file string) []byte {
		b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/" + file)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	if got, want := string(see(c.GuardianPid(), "cmdline")), "tenure\x00"+Subcommand+"\x00"; got != want {
		t.Errorf("the guardian's arguments are %q, want %q", got, want)
	}
	if got := string(see(c.GuardianPid(), "comm")); got != "tenure-guardian\n" {
		t.Errorf("the guardian's name is %q", got)
	}
	for e := range strings.SplitSeq(strings.Trim(string(see(c.GuardianPid(), "environ")), "\x00"), "\x00") {
		if e != "" && len(bareEnv([]string{e})) == 0 {
			t.Errorf("the guardian has %q in its environment", e)
		}
	}
	if env := see(c.Pid(), "environ"); !bytes.Contains(env, []byte(canary)) || !bytes.Contains(env, []byte("TENURE_TOKEN=5")) {
		t.Errorf("the command misses variables: %q", env)
	}
}

func TestCommandGetsItsArgumentsAndEnvironmentUnchanged(t *testing.T) {
	t.Parallel()
	s, life := spec(t, "sh", "-c", `printf '%s|' "$@" "$A" "$B"; pwd`, "sh", "a b", "new\nline", "\xff\xfe", "", `"q"`)
	s.Env = []string{"PATH=" + os.Getenv("PATH"), "A=old", "B=\xff\n=", "A=new"}
	s.Dir = "/"
	await(t, begin(t, s))
	want := "a b|new\nline|\xff\xfe||\"q\"|new|\xff\n=|/\n"
	if got := life.rest(t); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestCommandIsLookedUpInItsOwnPath(t *testing.T) {
	t.Parallel()
	s, _ := spec(t, "sh", "-c", "exit 0")
	s.Env = []string{"PATH=" + t.TempDir()}
	if _, err := Start(t.Context(), s); err == nil {
		t.Error("found in a PATH where it is not")
	}
}

func TestCommandGetsNoOtherDescriptors(t *testing.T) {
	t.Parallel()
	leak, err := unix.FcntlInt(0, unix.F_DUPFD, 40) // not close-on-exec
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(leak) })
	s, life := spec(t, "sh", "-c", "echo /proc/$$/fd/*; read x")
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	s.Stdin = r
	c := begin(t, s)
	r.Close()
	dir := "/proc/" + strconv.Itoa(c.Pid()) + "/fd/"
	life.next(t, "/proc/")
	fds, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range fds {
		to, _ := os.Readlink(dir + fd.Name())
		if !slices.Contains([]string{"0", "1", "2"}, fd.Name()) {
			t.Errorf("the command has descriptor %s: %s", fd.Name(), to)
		}
	}
}

// A program that left a daemon behind holds no pipe of ours, so the guardian's
// end is still seen.
func TestStragglersEndWithTheCommand(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"trap", "stubborn"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s, life := spec(t, child("leave", kind)...)
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			s.Stdin = r
			c := begin(t, s)
			r.Close()
			stray := see(t, life.pid(t, "ready"))
			w.Close() // now the command ends
			life.next(t, "got terminated")
			if e := await(t, c); e.Reason != Exited || e.Code != 3 {
				t.Errorf("got %+v", e)
			}
			gone(t, stray)
			life.rest(t)
		})
	}
}

func TestTerminalIsNotPassedOn(t *testing.T) {
	t.Parallel()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatalf("this test needs pseudo-terminals, mount devpts in a chroot: %v", err)
	}
	t.Cleanup(func() { master.Close() })
	if !isTerminal(master) {
		t.Error("a terminal is not seen as one")
	}
	s, life := spec(t, "sh", "-c", `readlink /proc/$$/fd/0`)
	s.Stdin = master
	c := begin(t, s)
	if !c.StdinDetached() {
		t.Error("StdinDetached = false")
	}
	life.next(t, os.DevNull)
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	if isTerminal(null) {
		t.Error("the null device is seen as a terminal")
	}
}
