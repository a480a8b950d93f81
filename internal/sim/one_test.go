package sim

import (
	"os"
	"strconv"
	"testing"
)

func TestOne(t *testing.T) {
	seed, _ := strconv.ParseUint(os.Getenv("SEED"), 10, 64)
	r := Run(seed, Options{Trace: true, World: os.Getenv("W")})
	n := len(r.Trace)
	for _, l := range r.Trace[max(0, n-60):] {
		t.Log(l)
	}
}
