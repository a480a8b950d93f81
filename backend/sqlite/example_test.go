package sqlite_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/tenure-go/tenure/backend"
	_ "github.com/tenure-go/tenure/backend/sqlite"
)

func Example() {
	dir, err := os.MkdirTemp("", "tenure")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	ctx := context.Background()
	store, err := backend.Open(ctx, "sqlite://"+filepath.ToSlash(filepath.Join(dir, "leader.db")))
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = store.Close() }()

	lease, err := store.Acquire(ctx, backend.Claim{
		Election: "nightly-report", Candidate: backend.Candidate{ID: "host-1"}, TTL: 5 * time.Second, Attempt: backend.Attempt{1},
	})
	if err != nil {
		log.Fatal(err)
	}
	_, err = store.Acquire(ctx, backend.Claim{
		Election: "nightly-report", Candidate: backend.Candidate{ID: "host-2"}, TTL: 5 * time.Second, Attempt: backend.Attempt{2},
	})
	fmt.Println(lease.Holder, "leads; host-2 is told:", backend.ClassOf(err))
	// Output: host-1 leads; host-2 is told: held
}
