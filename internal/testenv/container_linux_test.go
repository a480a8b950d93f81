package testenv

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestContainers(t *testing.T) {
	Containers(t, func(t *testing.T, srv *Server) {
		serves(t, srv.kind, srv)
		if srv.PID() != 0 || !strings.Contains(srv.URL(), Password()) {
			t.Errorf("process %d, URL %s", srv.PID(), srv.URL())
		}
		t.Run("where no binary is found", func(t *testing.T) {
			t.Setenv(srv.kind.variable(), "")
			hidden := srv.kind
			hidden.binary = func() (string, error) { return inPath("none") }
			s := open(t, hidden, nil)
			serves(t, srv.kind, s)
			if s.PID() != 0 || s.Addr() == srv.Addr() {
				t.Errorf("process %d, address %s: want one more container", s.PID(), s.Addr())
			}
		})
	})
}

// What a container's process has for arguments, every user of the machine can read.
func TestThePasswordIsNotInTheArgumentsOfAContainer(t *testing.T) {
	for _, k := range kinds {
		req := k.kind.container.request("image")
		if given := strings.Join(append(req.Cmd, req.Entrypoint...), " "); strings.Contains(given, Password()) {
			t.Errorf("%s: the password is in the arguments", k.kind.name)
		}
		handed := strings.Join(req.Cmd, "") + req.Env["POSTGRES_PASSWORD"]
		for _, text := range k.kind.container.files {
			handed += text
		}
		if k.kind.name != "etcd" && !strings.Contains(handed, Password()) {
			t.Errorf("%s: the password is not handed over: this test checks nothing", k.kind.name)
		}
	}
}

func TestAMissingEngineSkipsLoudlyAndFailsInCI(t *testing.T) {
	for _, ci := range []string{"", "true"} {
		notices := filepath.Join(t.TempDir(), "notices")
		t.Setenv("TENURE_TEST_NOTICES", notices)
		t.Setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
		t.Setenv("CI", ci)
		t.Setenv("TENURE_TEST_KINDS", "redis")
		f := &fake{}
		f.run(func() { needEngine(f, redisKind) })

		notice, err := os.ReadFile(notices)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		if fails := strings.Contains(f.failed, "no container engine answers"); fails != (ci == "true") {
			t.Errorf("CI=%q: failed %q", ci, f.failed)
		}
		if loud := strings.Contains(f.skipped, "/nowhere/docker.sock") && strings.Contains(string(notice), "scripts/engine.sh"); loud != (ci == "") {
			t.Errorf("CI=%q: skipped %q, notices %q", ci, f.skipped, notice)
		}
	}
}
