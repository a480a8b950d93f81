package elector

import (
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if url := os.Getenv("TENURE_TEST_LOOKER"); url != "" {
		ttl, _ := time.ParseDuration(os.Getenv("TENURE_TEST_LOOKER_TTL"))
		fmt.Println(looker(url, ttl))
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}
