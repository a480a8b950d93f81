package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/backend/postgres"
	"github.com/tenure-go/tenure/fence"
)

// A store of a pool that the program has already. New does no I/O, so the example runs without a server.
func ExampleNew() {
	pool, err := pgxpool.New(context.Background(), "postgres://localhost:1/app?pool_max_conns=1")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer pool.Close()

	store, err := postgres.New(pool, postgres.Options{Prefix: "billing"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer store.Close()
	fmt.Println("TTLs from", store.Limits().MinTTL)
	for _, warning := range store.Warnings() {
		fmt.Println(warning)
	}
	// Output:
	// TTLs from 100ms
	// The pool has a single connection, so that a renewal waits behind every other call: set MaxConns to at least 2, better give tenure a pool of its own.
}

// A write that no earlier leader can make: it and the check of the lease are one transaction.
func ExampleStore_Fence() { //nolint:testableexamples // it needs a server
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	store, err := backend.Open(ctx, "postgres://localhost/app?prefix=billing")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer store.Close()
	db, err := pgx.Connect(ctx, "postgres://localhost/app")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close(ctx)

	var lease backend.Lease // of the present term
	err = pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
		leases, _ := backend.As[*postgres.Store](store)
		if err := leases.Fence(ctx, tx, lease); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, "UPDATE invoices SET sent = true WHERE id = 7")
		return err
	})
	if errors.Is(err, fence.ErrStale) {
		fmt.Println("another leads:", err)
	}
}
