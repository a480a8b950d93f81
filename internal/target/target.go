// Package target describes servers of the test environment to the conformance suite.
package target

import (
	"strings"
	"testing"

	"github.com/tenure-go/tenure/conformance"
	"github.com/tenure-go/tenure/internal/testenv"
)

// URL is the suite for the store at a URL with more parameters, each "name=value".
func URL(t testing.TB, url string, params ...string) conformance.Suite {
	t.Helper()
	suite, err := conformance.URL(With(url, params...))
	if err != nil {
		t.Fatal(err)
	}
	return suite
}

// Server is the suite for a server. One that is the test's own is killed and started again in some cases.
func Server(t testing.TB, s *testenv.Server, own bool, params ...string) conformance.Suite {
	t.Helper()
	suite := URL(t, s.URL(), params...)
	if own {
		suite.Faults.Restart = func(conformance.T) { s.Kill(); s.Start() }
	}
	return suite
}

// With adds parameters, each "name=value", to a URL.
func With(url string, params ...string) string {
	for _, p := range params {
		sign := "?"
		if strings.Contains(url, "?") {
			sign = "&"
		}
		url += sign + p
	}
	return url
}
