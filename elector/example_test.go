package elector_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/backend/memory"
	"github.com/tenure-go/tenure/elector"
)

// Run does work only while this process leads, and gives the lead back when the work is done.
func Example() {
	ctx := context.Background()
	store, err := backend.Open(ctx, "memory:example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer store.Close()

	e, err := elector.New(elector.Config{Store: store, Election: "settlement"})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = e.Run(ctx, func(_ context.Context, term *elector.Term) error {
		fmt.Println("leading under token", term.Token().Value, e.Leading())
		return nil
	})
	fmt.Println("led:", err, e.Leading())
	// Output:
	// leading under token 1 true
	// led: <nil> false
}

// Campaign suits work that is not one function: the caller works beside the term, and resigns when done.
func ExampleElector_Campaign() {
	ctx := context.Background()
	store, err := backend.Open(ctx, "memory:campaign")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer store.Close()
	e, err := elector.New(elector.Config{Store: store, Election: "settlement"})
	if err != nil {
		fmt.Println(err)
		return
	}
	term, err := e.Campaign(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(term.Valid(), term.Context().Err())
	err = term.Resign(ctx)
	fmt.Println(term.Valid(), err)
	// Output:
	// true <nil>
	// false <nil>
}

// A Gate stands in front of a job that several servers have in their schedules: one of them runs each tick.
func ExampleGate() {
	ctx := context.Background()
	store, err := backend.Open(ctx, "memory:gate")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer store.Close()
	tick := func(server string) {
		// In production each server makes its gate once, and closes it at its end.
		gate, err := elector.NewGate(elector.GateConfig{
			Elector: elector.Config{Store: store, Election: "report"},
			AtLeast: 30 * time.Second, // longer than clocks differ, shorter than the interval
			AtMost:  10 * time.Minute,
		})
		if err != nil {
			fmt.Println(err)
			return
		}
		defer gate.Close()
		err = gate.Do(ctx, func(context.Context, *elector.Term) error {
			fmt.Println(server, "runs it")
			return nil
		})
		fmt.Println(server, "held by another:", errors.Is(err, backend.ErrHeld))
	}
	tick("blue")
	tick("green")
	// Output:
	// blue runs it
	// blue held by another: false
	// green held by another: true
}

// Duty is for work that others call while this process leads.
func ExampleDuty() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	store, err := backend.Open(ctx, "memory:duty")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer store.Close()
	e, err := elector.New(elector.Config{Store: store, Election: "settlement"})
	if err != nil {
		fmt.Println(err)
		return
	}
	var duty elector.Duty
	work := func(_ context.Context, term *elector.Term) error {
		fmt.Println("under token", term.Token().Value)
		return nil
	}
	fmt.Println(duty.Do(ctx, work))
	go func() { _ = e.Run(ctx, duty.Lead) }()
	for duty.Term() == nil {
		<-time.After(time.Millisecond)
	}
	fmt.Println(duty.Do(ctx, work))
	cancel()
	e.Close()
	// Output:
	// not leading
	// under token 1
	// <nil>
}

// Three shards, one process: lead is called for each.
func ExampleGroup() {
	store := memory.New()
	g, err := elector.NewGroup(elector.GroupConfig{
		Config:    elector.Config{Store: store},
		Elections: []string{"shard-1", "shard-2", "shard-3"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	var led atomic.Int64
	err = g.Run(ctx, func(ctx context.Context, term *elector.Term) error {
		if led.Add(1) == 3 {
			cancel()
		}
		<-ctx.Done() // work on term.Election() until then
		return nil
	})
	fmt.Println(led.Load(), "shards were led:", err)
	// Output: 3 shards were led: context canceled
}
