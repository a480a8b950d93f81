package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/tenure-go/tenure/fence"
)

// cheater is the name of the candidate that doesn't ask, see the flag -cheat.
const cheater = "eve"

// runCheat is a candidate that works without a lease, under a token of its own invention. The ledger refuses it, and the checker finds it.
func runCheat(ctx context.Context, _, folder string) error {
	ctx, ended := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer ended()
	stop, err := record(folder, 1)
	if err != nil {
		return err
	}
	fmt.Println("cheats: it works without the lease, under token 1")
	for refused := false; ctx.Err() == nil; {
		n := prepare(ctx)
		books := &ledger{path: filepath.Join(folder, "ledger")}
		if _, err := books.Settle(fence.Token{Value: 1}, n); err != nil && !refused {
			refused = true
			fmt.Println("is refused by the ledger:", err)
		}
	}
	return stop()
}
