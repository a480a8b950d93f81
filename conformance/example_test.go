package conformance_test

import (
	"context"
	"fmt"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/backend/memory"
	"github.com/tenure-go/tenure/conformance"
)

// A store is checked without package testing. In a test, use Run.
func ExampleCheck() {
	server := memory.NewServer()
	report := conformance.Check(context.Background(), conformance.Suite{
		Open: func(conformance.T) backend.LeaseStore { return server.Client() },
		TTL:  100 * time.Millisecond, // a case that this is too short for takes a longer one
	})
	for _, rule := range conformance.Rules()[:3] {
		fmt.Println(rule.Slug, rule.Title, report.Outcome(rule))
	}
	// Output:
	// S1 exclusive holds
	// S2 token holds
	// S3 idempotent acquire holds
}
