// Check plays the conformance suite on the store at the URL in TENURE_STORE, as a step of one's own CI:
//
//	TENURE_STORE=folder:leases go run ./examples/custombackend/check -format junit > report.xml
//
// It exits with 1 when a rule is violated; -strict makes it exit with 3 for what it could not test.
package main

import (
	"fmt"
	"os"

	"github.com/tenure-go/tenure/conformance"
	_ "github.com/tenure-go/tenure/examples/custombackend" // registers folder:
)

func main() {
	suite, err := conformance.URL(os.Getenv("TENURE_STORE"))
	if err != nil {
		fmt.Fprintln(os.Stderr, "check:", err)
		os.Exit(conformance.ExitFailed)
	}
	conformance.Main(suite)
}
