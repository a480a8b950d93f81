package testenv

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/log"
	"github.com/testcontainers/testcontainers-go/wait"
)

// containerConfig is where a server in a container finds its configuration.
const containerConfig = "/tenure-test.conf"

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

// prepareEngine must come before the first use of testcontainers. Published ports are reached over loopback, also where the
// test itself runs in a container. The reaper is off, since it would pull an image of its own: the test's cleanup does its work.
var prepareEngine = sync.OnceValue(func() error {
	return errors.Join(
		os.Setenv("TESTCONTAINERS_HOST_OVERRIDE", "127.0.0.1"),
		os.Setenv("TESTCONTAINERS_RYUK_DISABLED", "true"),
	)
})

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

// engineAnswers looks for the engine's socket before it asks the client library, which searches far and logs much.
func engineAnswers() error {
	if os.Getenv("DOCKER_HOST") == "" {
		if _, err := os.Stat("/var/run/docker.sock"); err != nil {
			return errors.New("neither DOCKER_HOST nor the engine's usual socket is there")
		}
	}
	if err := prepareEngine(); err != nil {
		return err
	}
	p, err := testcontainers.NewDockerProvider()
	if err != nil {
		return err
	}
	defer p.Close()
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	return p.Health(ctx)
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
