package etcd

import (
	"context"
	"fmt"
	"time"
)

const (
	together   = 3 // requests of one call that may be under way at a time
	firstPause = 10 * time.Millisecond
	longPause  = 250 * time.Millisecond
)

// hedge sends a request until it is answered or ctx ends. When no answer has come for a part of the time, it sends another one and takes the first answer: the client
// sends each to the next member, so that a member which hangs costs a part of a call, and one that is slow isn't given up. So f must be harmless when it is repeated:
// reads, refreshes, and transactions which compare what they change.
func hedge[T any](ctx context.Context, s *Store, f func(context.Context) (T, error)) (T, error) {
	var none T
	if ctx.Err() != nil {
		return none, context.Cause(ctx)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(s.life, func() { cancel(errEnded) })() //nolint:contextcheck // Close ends calls too
	answers := make(chan answer[T], together+1)
	open, pause := 0, firstPause
	send := func() {
		open++
		s.flights.Go(func() { answers <- ask(ctx, s, f) })
	}
	send()
	deadline, _ := ctx.Deadline()
	part := time.Until(deadline) / (together + 1)
	next := time.NewTimer(part)
	defer next.Stop()
	var last error
	for {
		select {
		case a := <-answers:
			open--
			if a.err == nil || final(a.err) {
				return a.value, explain(a.err)
			}
			last = a.err
			if open == 0 {
				next.Reset(pause)
				pause = min(2*pause, longPause)
			}
		case <-next.C:
			if open < together {
				send()
			}
			next.Reset(part)
		case <-ctx.Done():
			if last == nil {
				last = fmt.Errorf("no member has answered: %w", context.Cause(ctx))
			}
			return none, explain(last)
		}
	}
}

type answer[T any] struct {
	value T
	err   error
}

// ask sends one request, and once more when the server wants a new login.
func ask[T any](ctx context.Context, s *Store, f func(context.Context) (T, error)) answer[T] {
	used := s.login.current()
	value, err := f(ctx)
	if s.login != nil && expired(err) {
		if err = s.login.renew(ctx, s.client, used); err == nil {
			value, err = f(ctx)
		}
	}
	if err == nil {
		s.contact()
	}
	return answer[T]{value, err}
}

// bounded gives ctx a deadline if it has none, else a slightly earlier one, so that there is time to say why a call has failed.
func (s *Store) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithTimeout(ctx, s.timeout)
	}
	return context.WithDeadline(ctx, deadline.Add(-min(time.Until(deadline)/20, lastWords)))
}

const lastWords = 20 * time.Millisecond
