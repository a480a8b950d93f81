package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/tenure-go/tenure/backend"
	_ "github.com/tenure-go/tenure/backend/sqlite" // registers sqlite: URLs
	"github.com/tenure-go/tenure/elector"
	"github.com/tenure-go/tenure/fence"
)

// election is the name of the contest. All candidates use the same one.
const election = "settlement"

// runCandidate takes part in the election until it is told to end: the whole use of the library in one function.
func runCandidate(ctx context.Context, name, folder string) error {
	// SIGTERM and Ctrl-C end the context. A leader then ends its work, releases the lease, and the next one leads at once.
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()

	// The store keeps the lease. With another URL it is another store, and nothing else changes.
	store, err := backend.Open(ctx, storeURL(folder))
	if err != nil {
		return err
	}
	defer store.Close()

	books := &ledger{path: filepath.Join(folder, "ledger")}
	e, err := elector.New(elector.Config{
		Store:    store,
		Election: election,
		TTL:      ttl,
		Candidate: backend.Candidate{
			ID:          candidateID(name, os.Getpid()), // a restarted process is a new candidate
			Description: backend.Description{App: name}, // what others see
		},
		Guards: []fence.Sealer{books}, // told of each new term before its work begins
		Logger: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	if err != nil {
		return err
	}

	// Run waits, leads, and after a lost term waits again. It returns when ctx has ended and the work has returned.
	err = e.Run(ctx, func(ctx context.Context, term *elector.Term) error {
		return lead(ctx, term, books, folder)
	})
	if errors.Is(err, context.Cause(ctx)) {
		return nil // told to end, and did
	}
	return err
}

// lead is the work of the leader. ctx ends when the term does, in time to stop before another may lead.
func lead(ctx context.Context, term *elector.Term, books *ledger, folder string) (err error) {
	stop, err := record(folder, term.Token().Value) // for the checker
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()

	fmt.Printf("leads under token %d\n", term.Token().Value)
	for ctx.Err() == nil {
		// The token goes with each write, and the ledger refuses it when a later leader has been there.
		done, err := books.Settle(term.Token(), prepare(ctx))
		if err != nil {
			return err
		}
		fmt.Println(done)
	}
	fmt.Printf("stops working: %v\n", context.Cause(ctx))
	return nil
}

// prepare gets up to five invoices ready and returns how many. When ctx ends it leaves it at that.
func prepare(ctx context.Context) (ready int) {
	const batch, effort = 5, 150 * time.Millisecond
	timer := time.NewTimer(effort)
	defer timer.Stop()
	for ready < batch {
		select {
		case <-timer.C:
			timer.Reset(effort)
			ready++
		case <-ctx.Done():
			return ready
		}
	}
	return ready
}

func candidateID(name string, pid int) string { return fmt.Sprintf("%s-%d", name, pid) }

func storeURL(folder string) string {
	u := url.URL{Scheme: "sqlite", Path: filepath.Join(folder, "leader.db"), RawQuery: "busy=250ms"}
	return u.String()
}
