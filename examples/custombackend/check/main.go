// Check plays the conformance suite on a folder, as a step of one's own CI:
//
//	go run ./examples/custombackend/check -format junit > report.xml
package main

import (
	"os"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/conformance"
	"github.com/tenure-go/tenure/examples/custombackend"
)

func main() {
	folder, err := os.MkdirTemp("", "conformance-")
	if err != nil {
		panic(err)
	}
	conformance.Main(conformance.Suite{
		Open: func(t conformance.T) backend.LeaseStore {
			s, err := custombackend.Open(folder)
			if err != nil {
				t.Fatalf("open: %v", err)
			}
			return s
		},
		Serverless: true,
	})
}
