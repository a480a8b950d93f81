package redis_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/backend/redis"
)

// A store of a client that the program has already. It does no I/O until it is used, so the example runs without a server.
func ExampleNew() {
	client := goredis.NewClient(&goredis.Options{Addr: "localhost:6379", MaxRetries: -1})
	defer client.Close()

	store, err := redis.New(client, redis.Options{Prefix: "billing"})
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
	// The client ignores the deadlines of contexts, so that a call may hold a connection for its whole ReadTimeout: set ContextTimeoutEnabled to true.
}

// One attempt to lead, by hand. Programs use package elector, which also renews in time, steps down in time and goes on trying.
func Example() { //nolint:testableexamples // it needs a server
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	store, err := backend.Open(ctx, "redis://localhost:6379/0?prefix=billing")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer store.Close()

	lease, err := store.Acquire(ctx, backend.Claim{
		Election:  "invoices",
		Candidate: backend.Candidate{ID: "host-1"},
		Attempt:   backend.Attempt{1}, // draw 128 random bits
		TTL:       5 * time.Second,
	})
	switch {
	case errors.Is(err, backend.ErrHeld):
		fmt.Println("somebody else leads:", err)
	case err != nil:
		fmt.Println("the outcome isn't known:", err)
	default:
		fmt.Println("leading under token", lease.Token)
	}
}
