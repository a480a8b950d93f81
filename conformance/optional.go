package conformance

import (
	"context"

	"github.com/tenure-go/tenure/backend"
)

// implements reports whether the store itself implements T; what Wrap adds only says that it doesn't.
func implements[T any](t *trial) bool {
	u, ok := t.a.LeaseStore.(backend.Unwrapper)
	if !ok {
		return false
	}
	_, ok = backend.As[T](u.Unwrap())
	return ok
}

// need ends the case where the store doesn't implement T.
func need[T any](t *trial, what string) {
	if !implements[T](t) {
		t.stop(NotClaimed, "the store has no %s", what)
	}
}

func (t *trial) needNotify() { need[backend.Notifier](t, "Notifier") }
func (t *trial) needRoster() { need[backend.Roster](t, "Roster") }
func (t *trial) needLister() { need[backend.Lister](t, "Lister") }
func (t *trial) needForget() { need[backend.Forgetter](t, "Forgetter") }

// ask writes a call of an optional interface down, so that trouble with the store is known.
func ask[T, R any](ctx context.Context, r *recorder, op, election string, f func(context.Context, T) (R, error)) (R, error) {
	ctx, cancel := limited(ctx)
	defer cancel()
	inner, _ := backend.As[T](r.LeaseStore) // Wrap always has one
	sent := r.history.now()
	reply, err := f(ctx, inner)
	r.history.add(call{client: r.client, op: op, election: election, err: err, sent: sent})
	return reply, err
}

// Enlist implements backend.Roster.
func (r *recorder) Enlist(ctx context.Context, e backend.Entry) error {
	_, err := ask(ctx, r, "enlist", e.Election, func(ctx context.Context, o backend.Roster) (struct{}, error) { return struct{}{}, o.Enlist(ctx, e) })
	return err
}

// Delist implements backend.Roster.
func (r *recorder) Delist(ctx context.Context, election, candidate string) error {
	_, err := ask(ctx, r, "delist", election, func(ctx context.Context, o backend.Roster) (struct{}, error) {
		return struct{}{}, o.Delist(ctx, election, candidate)
	})
	return err
}

// Candidates implements backend.Roster.
func (r *recorder) Candidates(ctx context.Context, election string) ([]backend.Entry, error) {
	return ask(ctx, r, "candidates", election, func(ctx context.Context, o backend.Roster) ([]backend.Entry, error) {
		return o.Candidates(ctx, election)
	})
}

// Elections implements backend.Lister.
func (r *recorder) Elections(ctx context.Context, after string, limit int) ([]string, error) {
	return ask(ctx, r, "list", "", func(ctx context.Context, o backend.Lister) ([]string, error) { return o.Elections(ctx, after, limit) })
}

// Forget implements backend.Forgetter.
func (r *recorder) Forget(ctx context.Context, record backend.Record) error {
	_, err := ask(ctx, r, "forget", record.Election, func(ctx context.Context, o backend.Forgetter) (struct{}, error) {
		return struct{}{}, o.Forget(ctx, record)
	})
	return err
}
