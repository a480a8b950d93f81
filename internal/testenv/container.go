package testenv

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/log"
	"github.com/testcontainers/testcontainers-go/wait"
)

// containerConfig is where a server in a container finds its configuration.
const containerConfig = "/tenure-test.conf"

// containersVariable names the kinds whose images are tried.
const containersVariable = "TENURE_TEST_CONTAINERS"

// container says how to run one kind of server from its image.
type container struct {
	port  string
	cmd   []string
	env   map[string]string
	files map[string]string
	// What tells that it serves: a line of its log, so many times, or a path that answers.
	log         string
	occurrences int
	http        string
}

// Containers runs the test in a subtest for each kind of server that TENURE_TEST_CONTAINERS names, as in "redis etcd", with a
// server in a container of its image, also where a binary or an address is there. Images are fetched where they are missing, so
// that without the variable the test is skipped, with a notice. Likewise where no engine answers, but that fails with CI=true.
// An image that doesn't come up is a failure everywhere.
func Containers(t *testing.T, test func(t *testing.T, srv *Server)) {
	t.Helper()
	named := strings.Fields(os.Getenv(containersVariable))
	if len(named) == 0 {
		notice := t.Name() + ": 'make test-containers' runs this with servers in containers"
		announce(notice)
		t.Skip(notice)
	}
	for _, name := range named {
		i := slices.IndexFunc(allKinds, func(k kind) bool { return k.name == name })
		if i < 0 {
			t.Fatalf("testenv: %s names %q, which is no kind of server", containersVariable, name)
		}
		t.Run(name, func(t *testing.T) {
			needEngine(t, allKinds[i])
			srv, err := contain(t, allKinds[i])
			if err != nil {
				t.Fatalf("testenv: %v", err)
			}
			test(t, srv)
		})
	}
}

// contain runs the server in a container. Any failure means that there is no server to be had this way.
func contain(t testing.TB, k kind) (*Server, error) {
	name := image(k.name)
	if name == "" {
		return nil, fmt.Errorf("no container image: set TENURE_TEST_%s_IMAGE", strings.ToUpper(k.name))
	}
	if err := engineAnswers(); err != nil {
		return nil, fmt.Errorf("no container engine: %w", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*startTimeout) // the image may have to be fetched
	defer cancel()
	c, err := testcontainers.GenericContainer(ctx, testcontainers.GenericContainerRequest{
		ContainerRequest: k.container.request(name), Started: true, Logger: log.TestLogger(t),
	})
	testcontainers.CleanupContainer(t, c)
	if err != nil {
		return nil, fmt.Errorf("container %s: %w", name, err)
	}
	addr, err := c.PortEndpoint(ctx, k.container.port, "")
	if err != nil {
		return nil, fmt.Errorf("container %s: %w", name, err)
	}
	at := target{addr: addr}
	if err := k.await(ctx, at, nil); err != nil {
		return nil, fmt.Errorf("container %s: %w", name, err)
	}
	return &Server{kind: k, t: t, at: at, url: k.url(at).String()}, nil
}

func (c container) request(image string) testcontainers.ContainerRequest {
	req := testcontainers.ContainerRequest{Image: image, ExposedPorts: []string{c.port}, Cmd: c.cmd, Env: c.env}
	for path, text := range c.files {
		req.Files = append(req.Files, testcontainers.ContainerFile{
			Reader: bytes.NewReader([]byte(text)), ContainerFilePath: path, FileMode: 0o644, // the server's user is the image's
		})
	}
	if c.log != "" {
		req.WaitingFor = wait.ForLog(c.log).WithOccurrence(max(1, c.occurrences)).WithStartupTimeout(startTimeout)
	} else {
		req.WaitingFor = wait.ForHTTP(c.http).WithPort(c.port).WithStartupTimeout(startTimeout)
	}
	return req
}
