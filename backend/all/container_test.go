package all_test

import (
	"testing"

	"github.com/tenure-go/tenure/conformance"
	"github.com/tenure-go/tenure/internal/testenv"
)

// Each store against the image that its users run, opened as users do. What needs a hand behind the store's back is played by the store's own tests.
func TestContainers(t *testing.T) {
	testenv.Containers(t, func(t *testing.T, srv *testenv.Server) {
		t.Parallel()
		s, err := conformance.URL(srv.URL())
		if err != nil {
			t.Fatal(err)
		}
		conformance.Run(t, s)
	})
}
