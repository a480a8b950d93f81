// Portable counts while it leads, on whichever store TENURE_STORE names:
//
//	go build -o bin/portable ./examples/portable
//	export TENURE_STORE=sqlite:bin/portable.db     # or redis://…, etcd://…, postgres://…, consul://…
//	bin/portable & bin/portable & bin/portable
//
// One of the processes prints a line for each unit of work, with the token of its term. End it with SIGTERM or Ctrl-C and another goes on at once, kill it with SIGKILL and another goes on when the lease
// has run out, under a greater token. Nothing but the variable differs from store to store. A memory: store lives in one process, so processes don't see each other's.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/tenure-go/tenure/backend"
	_ "github.com/tenure-go/tenure/backend/all" // registers the URL schemes of all stores
	"github.com/tenure-go/tenure/elector"
)

// effort is how long a unit of work takes.
const effort = 50 * time.Millisecond

func main() {
	election := flag.String("election", "portable", "what the processes compete for")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Getenv("TENURE_STORE"), *election, fmt.Sprint("pid-", os.Getpid()), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "portable:", err)
		os.Exit(1)
	}
}

// run takes part in the election until ctx ends.
func run(ctx context.Context, storeURL, election, name string, out io.Writer) error {
	store, err := backend.Open(ctx, storeURL)
	if err != nil {
		return err
	}
	defer store.Close()
	e, err := elector.New(elector.Config{
		Store: store, Election: election, Candidate: backend.Candidate{Description: backend.Description{App: name}},
		Logger: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	if err != nil {
		return err
	}
	err = e.Run(ctx, func(ctx context.Context, term *elector.Term) error { return count(ctx, term.Token().Value, name, out) })
	if errors.Is(err, context.Cause(ctx)) {
		return nil // told to end, and did
	}
	return err
}

// count works until ctx ends. Each line is one write, so lines of processes that append to one file stand in the order of the work.
func count(ctx context.Context, token int64, name string, out io.Writer) error {
	tick := time.NewTicker(effort)
	defer tick.Stop()
	for n := 1; ; n++ {
		if _, err := fmt.Fprintf(out, "%s works under token %d: %d\n", name, token, n); err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			fmt.Fprintf(out, "%s ends token %d: %v\n", name, token, context.Cause(ctx))
			return nil
		}
	}
}
