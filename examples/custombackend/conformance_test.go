package custombackend

import (
	"os"
	"testing"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/conformance"
)

func TestConformance(t *testing.T) {
	at := Store{folder: t.TempDir()}
	must := func(t conformance.T, err error) {
		if err != nil {
			t.Fatalf("%v", err)
		}
	}
	conformance.Run(t, conformance.Suite{
		Open: func(t conformance.T) backend.LeaseStore {
			s, err := Open(at.folder)
			must(t, err)
			return s
		},
		Serverless: true,
		Strict:     true, // no case may be left untested
		Plant: func(t conformance.T, election, moved string, version int) {
			must(t, write(at.file(election), entry{Election: election, MovedTo: moved, Version: version}))
		},
		Remove: func(t conformance.T, election string) { must(t, os.Remove(at.file(election))) },
	})
}
