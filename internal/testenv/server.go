package testenv

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	startTimeout = 60 * time.Second // generous: a loaded machine is no failure
	probeTimeout = 5 * time.Second
	stopTimeout  = 10 * time.Second
	pollInterval = 10 * time.Millisecond
	attempts     = 4
)

// Server is one running server. Its methods may be called from any goroutine.
//
// Freeze, Thaw, Kill, Start, Restart and Promote are for servers that the test asked to own; elsewhere they fail the test.
type Server struct {
	kind kind
	at   target
	url  string

	t    testing.TB
	mu   sync.Mutex
	site *site    // nil where the server isn't ours to stop
	proc *process // nil while it is down
	held bool     // it is frozen
}

// URL is the server's address with its password, in the form that the project's stores accept.
func (s *Server) URL() string { return s.url }

// Addr is host and port of the server.
func (s *Server) Addr() string { return s.at.addr }

// PID is the process id of the server, or 0 while it is down or where somebody else runs it.
func (s *Server) PID() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.proc == nil {
		return 0
	}
	return s.proc.pid()
}

// awake reports whether the server is neither down nor frozen.
func (s *Server) awake() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.proc != nil && !s.held
}

// Freeze stops the server's processes in their tracks: connections stay open, the kernel accepts new ones, nobody answers.
func (s *Server) Freeze() {
	s.t.Helper()
	s.control("Freeze", func() error {
		s.held = true
		return s.proc.freeze()
	})
}

// Thaw lets a frozen server go on.
func (s *Server) Thaw() {
	s.t.Helper()
	s.control("Thaw", func() error {
		s.held = false
		return s.proc.thaw()
	})
}

// Kill ends the server as a crash does, frozen or not. Its data stays for Start.
func (s *Server) Kill() {
	s.t.Helper()
	s.control("Kill", func() error {
		s.down()
		return nil
	})
}

// Start brings a killed server back on the same port, with the data that it had written by then. It returns when the server serves.
func (s *Server) Start() {
	s.t.Helper()
	s.control("Start", func() error {
		if s.proc != nil {
			return errors.New("it is running")
		}
		return s.up()
	})
}

// Restart kills the server if it is running and brings it back empty, on the same port. It returns when the server serves.
func (s *Server) Restart() {
	s.t.Helper()
	s.control("Restart", func() error {
		if s.proc != nil {
			s.down()
		}
		if err := empty(s.site.dir); err != nil {
			return err
		}
		return s.up()
	})
}

// control runs one fault under the lock. It reports with Errorf, since a trial may call it from any goroutine.
func (s *Server) control(name string, fault func() error) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.site == nil:
		s.t.Errorf("testenv: %s: this %s server isn't the test's own: ask for Options{Own: true}", name, s.kind.name)
	case s.proc == nil && name != "Start" && name != "Restart":
		s.t.Errorf("testenv: %s: the %s server is down", name, s.kind.name)
	default:
		if err := fault(); err != nil {
			s.t.Errorf("testenv: %s: %s: %v", name, s.kind.name, err)
		}
	}
}

// folder makes a temporary folder for the test that other users can enter: Postgres runs as one when the test is root.
func folder(t testing.TB, name string) (string, error) {
	dir, err := os.MkdirTemp("", "tenure-"+name+"-") //nolint:usetesting // t.TempDir lies below a folder that only the test's user may enter
	if err != nil {
		return "", err
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Errorf("testenv: %v", err)
		}
	})
	return dir, os.Chmod(dir, 0o711)
}

// start runs a server from a binary.
func start(t testing.TB, k kind, o Options) (*Server, error) {
	s, err := place(t, k, o)
	if err != nil {
		return nil, err
	}
	return s, launch([]*Server{s}, s.up)
}

// place prepares a server that doesn't run yet and has no ports.
func place(t testing.TB, k kind, o Options) (*Server, error) {
	binary, err := k.binary()
	if err != nil {
		return nil, err
	}
	dir, err := folder(t, k.name)
	if err != nil {
		return nil, err
	}
	return &Server{kind: k, t: t, site: &site{dir: dir, binary: binary, options: o}}, nil
}

// launch gives servers their ports and calls up to start them. When another process takes a port in between, it tries others.
func launch(servers []*Server, up func() error) error {
	var err error
	for range attempts {
		for _, s := range servers {
			if err := s.settle(); err != nil {
				return err
			}
		}
		if err = up(); err == nil {
			for _, s := range servers {
				s.t.Cleanup(s.end)
			}
			return nil
		}
		for _, s := range servers {
			if s.proc != nil {
				s.down()
			}
			err = errors.Join(err, empty(s.site.dir))
		}
	}
	return err
}

// settle reserves the server's ports, which makes its address.
func (s *Server) settle() error {
	ports, release, err := reservePorts(s.kind.ports)
	if err != nil {
		return err
	}
	s.t.Cleanup(release)
	s.site.ports = ports
	s.at, err = s.site.options.target(s.site.addr())
	s.url = s.kind.url(s.at).String()
	return err
}

// up starts the process and waits until it serves.
func (s *Server) up() error {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	c, err := s.kind.command(ctx, s.site)
	if err != nil {
		return err
	}
	p, err := c.start(s.site)
	if err != nil {
		return err
	}
	if err = s.kind.await(ctx, s.at, p.done); err == nil {
		err = s.prepare(ctx)
	}
	if err != nil {
		p.kill()
		return fmt.Errorf("it doesn't serve: %w\n%s", err, logTail(s.site))
	}
	s.proc = p
	return nil
}

// prepare does once what an empty server needs.
func (s *Server) prepare(ctx context.Context) error {
	mark := filepath.Join(s.site.dir, "prepared") // it goes away with the data
	if _, err := os.Stat(mark); err == nil || s.kind.prepare == nil {
		return nil
	}
	if err := s.kind.prepare(ctx, s.site, s.at); err != nil {
		return err
	}
	return os.WriteFile(mark, nil, 0o600)
}

// down kills the process and waits for its end.
func (s *Server) down() {
	s.proc.kill()
	s.proc, s.held = nil, false
}

// end stops the server at the end of its test.
func (s *Server) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.t.Failed() {
		s.t.Logf("%s log ends with:\n%s", s.kind.name, logTail(s.site))
	}
	if s.proc == nil {
		return
	}
	if err := s.proc.stop(); err != nil {
		s.t.Errorf("testenv: %s: %v", s.kind.name, err)
	}
	s.proc = nil
}

// empty removes everything in a folder.
func empty(dir string) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
	}
	return err
}

// logTail is the end of the server's log, without the password should the server have printed it.
func logTail(s *site) string {
	const most = 4 << 10
	b, err := os.ReadFile(s.log())
	if err != nil {
		return err.Error()
	}
	return strings.ReplaceAll(string(b[max(0, len(b)-most):]), Password(), "[password]")
}

func (s *site) log() string { return filepath.Join(s.dir, "log") }
