package backend

import (
	"context"
	"fmt"
	"reflect"
)

// Lister is an optional interface of stores which can tell the names of their elections. The conformance suite checks it as "Lister".
type Lister interface {
	// Elections must return the names of elections below the store's prefix which have a record, in the order of their bytes: those greater than after, limit of them at most. An empty after means from
	// the first one on. A reply with fewer than limit names is the end. limit is above zero.
	Elections(ctx context.Context, after string, limit int) ([]string, error)
}

// Forgetter is an optional interface of stores which can remove the record of an election that nobody uses any more. The conformance suite checks it as "Forget".
type Forgetter interface {
	// Forget must remove the record that was read as r, if the election is free, is not reserved, was not moved, and has the counter and attempt of r; a later Get must show no record. It must return
	// ErrHeld (as *HeldError) when the election is held or reserved, ErrMoved when it was moved, ErrOutdated when the record is another by now, and nil when there is none. Tokens must go on growing: a grant
	// of an election whose record was forgotten must be above every token that it ever had, so that a store keeps a floor for its whole prefix, or refuses with ErrInvalid where its clock, from which
	// tokens grow, has not passed r's counter.
	Forget(ctx context.Context, r Record) error
}

// Elections passes to the store's own Elections.
func (w *wrapped) Elections(ctx context.Context, after string, limit int) ([]string, error) {
	if limit <= 0 {
		return nil, w.fail("list", "", fmt.Errorf("%w: a limit of %d names; it must be above zero", ErrInvalid, limit))
	}
	names, err := optional(ctx, w, func(ctx context.Context, l Lister) ([]string, error) { return l.Elections(ctx, after, limit) })
	return names, w.fail("list", "", err)
}

// Forget passes to the store's own Forget.
func (w *wrapped) Forget(ctx context.Context, r Record) error {
	err := CheckName("election", r.Election)
	if err == nil {
		_, err = optional(ctx, w, func(ctx context.Context, f Forgetter) (none, error) { return none{}, f.Forget(ctx, r) })
	}
	return w.fail("forget", r.Election, err)
}

type none = struct{}

// optional calls f with the store's implementation of an optional interface, under the rules of run.
func optional[T, R any](ctx context.Context, w *wrapped, f func(context.Context, T) (R, error)) (R, error) {
	inner, ok := As[T](w.inner)
	if !ok {
		var nothing R
		return nothing, fmt.Errorf("%w: this store has no %s", ErrInvalid, reflect.TypeFor[T]().Name())
	}
	return run(ctx, w, func(ctx context.Context) (R, error) { return f(ctx, inner) })
}
