package conformance_test

import (
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/backend/memory"
	"github.com/tenure-go/tenure/conformance"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// suite says how to reach one memory server, the reference.
func suite() conformance.Suite {
	server := memory.NewServer()
	var requests atomic.Int64
	return conformance.Suite{
		Open:     func(conformance.T) backend.LeaseStore { return counted{server.Client(), &requests} },
		Requests: func(conformance.T) int64 { return requests.Load() },
		Plant: func(_ conformance.T, election, moved string, version int) {
			server.Plant(election, moved, version)
		},
		Remove: func(_ conformance.T, election string) { server.Remove(election) },
		Target: "memory", Strict: true, Serverless: true,
	}
}

func TestMemoryInBubbles(t *testing.T) {
	s := suite()
	s.Bubble, s.Target = true, "" // the other one reports
	report := conformance.Run(t, s)
	if report.Violated() {
		t.Error("the reference store violates the contract")
	}
}

func TestMemory(t *testing.T) { conformance.Run(t, suite()) }
