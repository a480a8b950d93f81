package elector_test

import (
	"context"
	"fmt"

	"github.com/tenure-go/tenure/backend"
	_ "github.com/tenure-go/tenure/backend/memory"
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
