package all_test

import (
	"testing"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/conformance"
	"github.com/tenure-go/tenure/internal/testenv"
)

// Each store against the image that its users run, opened as users do. What needs a hand behind the store's back is played by the store's own tests.
func TestContainers(t *testing.T) {
	testenv.Containers(t, func(t *testing.T, srv *testenv.Server) {
		conformance.Run(t, conformance.Suite{
			Open: func(t conformance.T) backend.LeaseStore {
				s, err := backend.Open(t.Context(), srv.URL())
				if err != nil {
					t.Fatalf("open: %v", err)
				}
				return s
			},
		})
	})
}
