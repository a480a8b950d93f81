package consul_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/consul/api"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/backend/consul"
	"github.com/tenure-go/tenure/fence"
)

// A store of a client that the program has already. It does no I/O until it is used, so the example runs without a server.
func ExampleNew() {
	client, err := api.NewClient(api.DefaultConfig())
	if err != nil {
		fmt.Println(err)
		return
	}
	store, err := consul.New(client, consul.Options{Prefix: "billing"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer store.Close()
	fmt.Println("TTLs from", store.Limits().MinTTL)
	// Output: TTLs from 1s
}

// One attempt to lead, by hand. Programs use package elector, which also renews in time, steps down in time and goes on trying.
func Example() { //nolint:testableexamples // it needs a server
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	store, err := backend.Open(ctx, "consul://localhost:8500?prefix=billing")
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

// A write of the leader's to the same servers, which they refuse when its term is over.
func ExampleStore_Fence() { //nolint:testableexamples // it needs a server
	write := func(ctx context.Context, client *api.Client, store *consul.Store, token fence.Token) error {
		ops, err := store.Fence(ctx, "invoices", token)
		if err != nil {
			return err
		}
		ops = append(ops, &api.KVTxnOp{Verb: api.KVSet, Key: "invoices/last", Value: []byte("2026-10-31")})
		ok, reply, _, err := client.KV().Txn(ops, new(api.QueryOptions).WithContext(ctx))
		if err == nil && !ok {
			err = fmt.Errorf("refused: %v", reply.Errors)
		}
		return err
	}
	_ = write
}
