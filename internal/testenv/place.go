package testenv

import (
	"errors"
	"os"
	"testing"
)

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
