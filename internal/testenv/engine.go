package testenv

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/testcontainers/testcontainers-go"
)

// prepareEngine must come before the first use of testcontainers. Published ports are reached over loopback, also where the
// test itself runs in a container, unless the user says where else. The reaper is off, since it would pull an image of its own:
// the test's cleanup does its work.
var prepareEngine = sync.OnceValue(func() error {
	const host = "TESTCONTAINERS_HOST_OVERRIDE"
	return errors.Join(
		os.Setenv(host, cmp.Or(os.Getenv(host), "127.0.0.1")),
		os.Setenv("TESTCONTAINERS_RYUK_DISABLED", "true"),
	)
})

// needEngine ends the test where no engine answers.
func needEngine(t testing.TB, k kind) {
	t.Helper()
	if err := engineAnswers(); err != nil {
		unavailable(t, k, fmt.Sprintf("%s: no container engine answers: start one or set DOCKER_HOST; where images can't be fetched, "+
			"run 'scripts/engine.sh scripts/standin-images.sh make test-containers' (tried: %v)", t.Name(), err))
	}
}

// engineAnswers looks for the engine's socket before it asks the client library, which searches far, logs much and remembers
// what it found for the life of the process.
func engineAnswers() error {
	if err := findSocket(); err != nil {
		return err
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

// findSocket looks where DOCKER_HOST says, else at the usual places.
func findSocket() error {
	host := os.Getenv("DOCKER_HOST")
	given, local := strings.CutPrefix(host, "unix://")
	if host != "" && !local {
		return nil // over the network only an answer tells
	}
	places := []string{given}
	if host == "" {
		home, _ := os.UserHomeDir() // without a home there is none in it either
		places = []string{
			"/var/run/docker.sock", filepath.Join(os.Getenv("XDG_RUNTIME_DIR"), "docker.sock"),
			filepath.Join(home, ".docker/run/docker.sock"), filepath.Join(home, ".docker/desktop/docker.sock"),
		}
	}
	for _, place := range places {
		if _, err := os.Stat(place); err == nil && filepath.IsAbs(place) { // a variable may be empty
			return nil
		}
	}
	return fmt.Errorf("no socket at %s", strings.Join(places, ", "))
}
