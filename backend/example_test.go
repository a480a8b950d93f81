package backend_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tenure-go/tenure/backend"
	_ "github.com/tenure-go/tenure/backend/memory"
)

// A lease by hand. The elector does this, and all that is hard about it.
func Example() {
	ctx := context.Background()
	store, err := backend.Open(ctx, "memory:example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer store.Close()

	claim := backend.Claim{Election: "report", Candidate: backend.Candidate{ID: "a"}, TTL: time.Minute, Attempt: backend.Attempt{1}}
	lease, err := store.Acquire(ctx, claim)
	fmt.Println(lease.Token, err)

	claim.Candidate.ID, claim.Attempt = "b", backend.Attempt{2}
	_, err = store.Acquire(ctx, claim)
	var held *backend.HeldError
	fmt.Println(errors.As(err, &held) && held.Record.Holder.ID == "a")

	_ = store.Release(ctx, lease, backend.Handover{})
	lease, err = store.Acquire(ctx, claim)
	fmt.Println(lease.Token, err)
	// Output:
	// 1 <nil>
	// true
	// 2 <nil>
}
