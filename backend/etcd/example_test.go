package etcd_test

import (
	"context"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/backend/etcd"
	"github.com/tenure-go/tenure/elector"
)

// A store of a client that the program has already. It does no I/O until it is used, so the example runs without a server.
func ExampleNew() {
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{"http://localhost:2379"}, Logger: zap.NewNop()})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()

	store, err := etcd.New(client, etcd.Options{Prefix: "billing"})
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
	// TTLs from 2s
	// The client has a single endpoint: give it all members, so that a renewal can go to another when one hangs.
}

// Writes to the same cluster that are applied only while the term lasts.
func ExampleStore_Compare() { //nolint:testableexamples // it needs a server
	ctx := context.Background()
	store, err := backend.Open(ctx, "etcd://localhost:2379?prefix=billing")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer store.Close()
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{"http://localhost:2379"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	e, err := elector.New(elector.Config{Store: store, Election: "invoices"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer e.Close()

	native, _ := backend.As[*etcd.Store](store)
	err = e.Run(ctx, func(ctx context.Context, term *elector.Term) error {
		reply, err := client.Txn(ctx).
			If(native.Compare(term.Election(), term.Token())...).
			Then(clientv3.OpPut("invoices/last", "2026-11")).
			Commit()
		if err == nil && !reply.Succeeded {
			err = fmt.Errorf("another leads: nothing was written")
		}
		return err
	})
	fmt.Println(err)
}
