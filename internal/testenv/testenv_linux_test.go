package testenv

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// kinds are the four, each with its entry point.
var kinds = []struct {
	kind kind
	open func(testing.TB, ...Options) *Server
}{
	{redisKind, Redis},
	{etcdKind, Etcd},
	{postgresKind, Postgres},
	{consulKind, Consul},
}

// each runs a test on a server of each kind that the test owns.
func each(t *testing.T, test func(t *testing.T, k kind, s *Server)) {
	for _, k := range kinds {
		t.Run(k.kind.name, func(t *testing.T) {
			t.Parallel()
			test(t, k.kind, k.open(t, Options{Own: true}))
		})
	}
}

// serves fails the test unless the server answers a real exchange.
func serves(t *testing.T, k kind, s *Server) {
	t.Helper()
	if err := k.probe(t.Context(), s.at); err != nil {
		t.Errorf("no answer: %v", err)
	}
}

// silent fails the test when the server answers.
func silent(t *testing.T, k kind, s *Server) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if err := k.ready(ctx, s.at); err == nil {
		t.Error("it answers, want silence")
	}
}

func TestServesAndGoesAwayWithItsTest(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, k kind, _ *Server) {
		var pid int
		var dir string
		f := &fake{}
		f.run(func() {
			s := open(f, k, []Options{{Own: true}})
			serves(t, k, s)
			pid, dir = s.PID(), s.site.dir
			if pid == 0 || !running(pid) {
				t.Errorf("process %d doesn't run", pid)
			}
		})
		if f.failed+f.skipped != "" || len(f.errors) > 0 {
			t.Fatal(f.failed, f.skipped, f.errors)
		}
		if running(pid) {
			t.Errorf("process %d is left", pid)
		}
		if _, err := os.Stat(dir); !os.IsNotExist(err) {
			t.Errorf("folder is left: %v", err)
		}
	})
}

func TestFaults(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, k kind, s *Server) {
		first, addr := s.PID(), s.Addr()
		s.Freeze()
		silent(t, k, s)
		s.Thaw()
		serves(t, k, s)

		s.Kill()
		silent(t, k, s)
		if running(first) || s.PID() != 0 {
			t.Errorf("process %d is left, PID() = %d", first, s.PID())
		}
		s.Start()
		serves(t, k, s)

		s.Freeze()
		s.Restart()
		serves(t, k, s)
		if s.Addr() != addr {
			t.Errorf("it moved from %s to %s", addr, s.Addr())
		}
		s.Freeze() // and its clean-up must cope
	})
}

func TestStartKeepsDataAndRestartDoesNot(t *testing.T) {
	s := Redis(t, Options{Settings: []string{"appendonly yes", "appendfsync always"}})
	redis := func(command, want string) {
		t.Helper()
		c, err := net.Dial("tcp", s.Addr())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		fmt.Fprintf(c, "AUTH %s\r\n%s\r\n", Password(), command)
		replies := bufio.NewReader(c)
		if _, err := replies.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		if got, err := replies.ReadString('\n'); err != nil || strings.TrimSpace(got) != want {
			t.Errorf("%s: %q, %v; want %q", command, got, err, want)
		}
	}
	redis("SET k v", "+OK")
	s.Kill()
	s.Start()
	redis("GET k", "$1")
	s.Restart()
	redis("GET k", "$-1")
}

// A frozen Postgres must not serve the connections that are open already either: each is a process of its own.
func TestFreezeReachesTheProcessesOfAServer(t *testing.T) {
	s := Postgres(t, Options{Own: true})
	s.Freeze()
	for _, pid := range append(pids(children(s.PID())), s.PID()) {
		if state, _ := stat(pid); !strings.Contains("TZ", state) { // stopped, or ended
			t.Errorf("process %d is not stopped: %s", pid, state)
		}
	}
	if len(children(s.PID())) == 0 {
		t.Error("postgres has no children: this test checks nothing")
	}
}

func pids(processes []*os.Process) []int {
	var pids []int
	for _, p := range processes {
		pids = append(pids, p.Pid)
	}
	return pids
}

func TestThePasswordIsInTheURLAndNotInTheArguments(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, k kind, s *Server) {
		if !strings.Contains(s.URL(), Password()) {
			t.Error("the URL has no password")
		}
		args, err := os.ReadFile("/proc/" + strconv.Itoa(s.PID()) + "/cmdline")
		if err != nil {
			t.Fatal(err)
		}
		given := strings.Join(s.proc.cmd.Args, " ") // some servers, like Redis, change what the system shows
		if strings.Contains(string(args)+given, Password()) {
			t.Error("the password is in the arguments of the process")
		}
		err = filepath.Walk(s.site.dir, func(name string, info os.FileInfo, err error) error {
			if err != nil || info.IsDir() {
				return err
			}
			if b, err := os.ReadFile(name); err == nil && strings.Contains(string(b), Password()) && info.Mode().Perm()&0o077 != 0 {
				t.Errorf("%s holds the password and has mode %v", name, info.Mode())
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}

func TestRedisAndConsulRefuseStrangers(t *testing.T) {
	t.Run("redis", func(t *testing.T) {
		s := Redis(t, Options{Own: true})
		c, err := net.Dial("tcp", s.Addr())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		fmt.Fprint(c, "PING\r\n")
		if got, err := bufio.NewReader(c).ReadString('\n'); err != nil || !strings.HasPrefix(got, "-NOAUTH") {
			t.Errorf("%q, %v", got, err)
		}
	})
	t.Run("consul", func(t *testing.T) {
		s := Consul(t, Options{Own: true})
		if err := s.at.answers(t.Context(), "/v1/agent/self", ""); err == nil || !strings.Contains(err.Error(), "403") {
			t.Errorf("without token: %v", err)
		}
		if err := s.at.answers(t.Context(), "/v1/agent/self?token="+Password(), "Config"); err != nil {
			t.Errorf("with token: %v", err)
		}
	})
}

func TestPostgresTakesThePassword(t *testing.T) {
	s := Postgres(t, Options{Own: true})
	psql := filepath.Join(filepath.Dir(s.site.binary), "psql")
	query := func(password string) ([]byte, error) {
		host, port, err := net.SplitHostPort(s.Addr())
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), psql, "-h", host, "-p", port, "-U", "postgres", "-Atc", "select 6*7")
		cmd.Env = append(os.Environ(), "PGPASSWORD="+password)
		return cmd.CombinedOutput()
	}
	if out, err := query(Password()); err != nil || strings.TrimSpace(string(out)) != "42" {
		t.Errorf("%s %v", out, err)
	}
	if out, err := query("wrong"); err == nil {
		t.Errorf("a wrong password gives %s", out)
	}
}

func TestTriesOtherPortsWhenOneIsTaken(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	k, tries := redisKind, 0
	k.command = func(ctx context.Context, s *site) (*command, error) {
		if tries++; tries == 1 {
			s.ports[0] = taken.Addr().(*net.TCPAddr).Port
		}
		return redisCommand(ctx, s)
	}
	k.ready = func(ctx context.Context, at target) error {
		if at.addr == taken.Addr().String() {
			return context.DeadlineExceeded // whoever has the port doesn't answer as a Redis
		}
		return redisReady(ctx, at)
	}
	s := open(t, k, []Options{{Own: true}})
	serves(t, k, s)
	if tries != 2 {
		t.Errorf("%d tries, want 2", tries)
	}
}

func TestAReservedPortIsNotGivenTwice(t *testing.T) {
	seen := map[int]bool{}
	for range 200 {
		ports, release, err := reservePorts(3)
		if err != nil {
			t.Fatal(err)
		}
		defer release()
		if seen[ports[0]] {
			t.Fatalf("port %d is given twice", ports[0])
		}
		seen[ports[0]] = true
		if _, err := net.ListenPacket("udp", loopback(ports[0])); err == nil {
			t.Fatalf("port %d is not held", ports[0])
		}
	}
}

func TestAServerThatNeverStartsFailsWithItsLog(t *testing.T) {
	f := &fake{}
	f.run(func() { Redis(f, Options{Settings: []string{"no-such-setting " + Password()}}) })
	if !strings.Contains(f.failed, "no-such-setting") || f.skipped != "" {
		t.Errorf("failed %q, skipped %q", f.failed, f.skipped)
	}
	if strings.Contains(f.failed, Password()) {
		t.Error("the log shows the password")
	}
}

func TestTakesTheAddressFromTheEnvironment(t *testing.T) {
	own := Redis(t, Options{Own: true})
	t.Setenv("TENURE_TEST_REDIS_URL", own.URL())
	f := &fake{}
	f.run(func() {
		s := Redis(f)
		serves(t, redisKind, s)
		if s.URL() != own.URL() || s.Addr() != own.Addr() || s.PID() != 0 {
			t.Errorf("%s, %s, %d", s.URL(), s.Addr(), s.PID())
		}
		s.Kill()
	})
	if len(f.errors) != 1 || !strings.Contains(f.errors[0], "Own: true") {
		t.Errorf("a fault on somebody else's server: %q", f.errors)
	}
	if s := Redis(t, Options{Own: true}); s.Addr() == own.Addr() {
		t.Error("Own gave the shared server")
	}
	serves(t, redisKind, own)
}

func TestABadAddressFailsWithoutShowingIt(t *testing.T) {
	t.Setenv("TENURE_TEST_REDIS_URL", "redis//:"+Password()+"@nowhere")
	f := &fake{}
	f.run(func() { Redis(f) })
	if !strings.Contains(f.failed, "TENURE_TEST_REDIS_URL") || strings.Contains(f.failed, Password()) {
		t.Errorf("failed %q", f.failed)
	}
}

func TestAMissingServerSkipsLoudlyAndFailsInCI(t *testing.T) {
	for name, test := range map[string]struct {
		ci, kinds string
		fails     bool
	}{
		"at home":                        {ci: "", kinds: "*", fails: false},
		"at home, said so":               {ci: "false", kinds: "*", fails: false},
		"in CI":                          {ci: "true", kinds: "*", fails: true},
		"in CI, odd value":               {ci: "woodpecker", kinds: "*", fails: true},
		"in CI, prepared":                {ci: "true", kinds: "etcd redis", fails: true},
		"in CI, not among the prepared":  {ci: "true", kinds: "etcd", fails: false},
		"in CI, nothing is prepared":     {ci: "true", kinds: "", fails: false},
		"at home, prepared and yet gone": {ci: "", kinds: "redis", fails: false},
	} {
		t.Run(name, func(t *testing.T) {
			notices := filepath.Join(t.TempDir(), "notices")
			t.Setenv("TENURE_TEST_NOTICES", notices)
			t.Setenv("PATH", t.TempDir())
			t.Setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
			t.Setenv("CI", test.ci)
			t.Setenv("TENURE_TEST_KINDS", test.kinds)
			if test.kinds == "*" {
				os.Unsetenv("TENURE_TEST_KINDS")
			}
			f := &fake{}
			f.run(func() { Redis(f) })

			notice, _ := os.ReadFile(notices)
			said := f.skipped
			if test.fails {
				said = f.failed
			}
			if !strings.Contains(said, "make servers KINDS=redis") || !strings.Contains(said, "TENURE_TEST_REDIS_URL") {
				t.Errorf("failed %q, skipped %q: want to hear what to do", f.failed, f.skipped)
			}
			if loud := strings.Contains(string(notice), "make servers"); loud == test.fails {
				t.Errorf("notices: %q", notice)
			}
		})
	}
}

func TestServerDiesWithItsTestProcess(t *testing.T) {
	if os.Getenv(helperVariable) != "" {
		s := Redis(t, Options{Own: true})
		fmt.Printf("helper: %d\n", s.PID())
		select {} // until it is killed
	}
	Redis(t, Options{Own: true}) // no helper where there is no server
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), helperVariable+"=1", "TMPDIR="+t.TempDir()) // it can't clean up
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := firstLine(bufio.NewReader(out), "helper: ")
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(line)
	if err != nil || !running(pid) {
		t.Fatalf("server %d doesn't run: %v", pid, err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for limit := time.Now().Add(stopTimeout); running(pid); <-tick.C {
		if time.Now().After(limit) {
			t.Fatalf("server %d outlives its test process", pid)
		}
	}
}
