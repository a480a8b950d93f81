package guardian

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// raw is a guardian without a wrapper: the test holds the pipes.
type raw struct {
	subject
	control *os.File
	status  line
	life    line
	d       dial
	soft    BootTime
}

func startRaw(t *testing.T, args ...string) raw {
	t.Helper()
	r := raw{d: newDial(t), soft: Now().Add(time.Minute)}
	controlR, controlW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { controlW.Close() })
	var statusW, lifeW *os.File
	r.status, statusW = newLine(t)
	r.life, lifeW = newLine(t)
	self := r.d.self()
	cmd := &exec.Cmd{Path: self[0], Args: self, Env: bareEnv(os.Environ()), Stdout: lifeW, Stderr: os.Stderr, ExtraFiles: []*os.File{controlR, statusW}}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Wait() })
	r.control, r.subject = controlW, see(t, cmd.Process.Pid)
	for _, f := range []*os.File{controlR, statusW, lifeW} {
		f.Close()
	}
	first, err := hello{Protocol: protocol, Args: bytesOf(args), Soft: r.soft, Hard: r.soft.Add(time.Minute)}.line()
	if err != nil {
		t.Fatal(err)
	}
	r.say(t, string(first))
	return r
}

func (r raw) say(t *testing.T, s string) {
	t.Helper()
	if _, err := r.control.WriteString(s); err != nil {
		t.Fatal(err)
	}
}

// The order is in the pipe when the guardian wakes up after the deadline.
func TestGuardianDoesNotReviveATermByALateOrder(t *testing.T) {
	t.Parallel()
	for _, ahead := range []time.Duration{61 * time.Second, 121 * time.Second} {
		t.Run(ahead.String(), func(t *testing.T) {
			t.Parallel()
			r := startRaw(t, child("wait")...)
			r.life.next(t, "ready")
			r.freeze(t)
			r.d.step(t, ahead)
			r.say(t, order{verb: "deadline", soft: never, hard: never}.line())
			r.send(t, syscall.SIGCONT)
			want := SoftDeadline
			if ahead > 2*time.Minute {
				want = HardDeadline
			}
			if got := r.status.next(t, "ended"); !strings.HasSuffix(got, string(want)) {
				t.Errorf("ended %s, want %s", got, want)
			}
			r.life.rest(t)
		})
	}
}

func TestGuardianTakesNonsenseForALostWrapper(t *testing.T) {
	t.Parallel()
	r := startRaw(t, child("wait")...)
	r.life.next(t, "ready")
	r.say(t, "dedline 1 2\n")
	if got, want := r.status.next(t, "ended"), fmt.Sprintf("143 15 %s", WrapperGone); got != want {
		t.Errorf("ended %s, want %s", got, want)
	}
	r.life.rest(t)
}

func TestGuardianRefusesAnotherProtocol(t *testing.T) {
	t.Parallel()
	_, err := readHello(bufio.NewReader(strings.NewReader(`{"protocol":99}` + "\n")))
	if err == nil || !strings.Contains(err.Error(), "protocol 99") {
		t.Errorf("got %v", err)
	}
}
