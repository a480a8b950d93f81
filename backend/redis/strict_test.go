package redis

import (
	"testing"

	"github.com/tenure-go/tenure/conformance"
	"github.com/tenure-go/tenure/internal/testenv"
)

// A server that strict finds nothing to say about: what is acknowledged is on its disk, and leases outlive a restart.
func TestConformanceStrict(t *testing.T) {
	t.Parallel()
	srv := testenv.Redis(t, testenv.Options{Settings: []string{"appendonly yes", "appendfsync always"}})
	conformance.Run(t, variant(full(t, srv, "?strict=1&"+patient)))
}
