package sqlite

import (
	"context"
	"errors"

	"github.com/tenure-go/tenure/backend"
)

// errClosing ends calls that are under way when the store is closed. It isn't ErrClosed, which would say that nothing was changed.
var errClosing = errors.New("the store was closed during the call")

// call is one call under way.
type call struct {
	cancel context.CancelCauseFunc
}

// begin ties a call to the store's life: none starts after Close, and Close ends it. The caller runs end.
func (s *Store) begin(ctx context.Context) (tied context.Context, end func(), err error) {
	if ctx.Err() != nil {
		return nil, nil, context.Cause(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, nil, backend.ErrClosed
	}
	tied, cancel := context.WithCancelCause(ctx)
	c := &call{cancel: cancel}
	s.calls[c] = struct{}{}
	s.active.Add(1)
	return tied, func() {
		cancel(nil)
		s.mu.Lock()
		delete(s.calls, c)
		s.mu.Unlock()
		s.active.Done()
	}, nil
}

// maxMoves is how many times a call follows the path to another file before it gives up.
const maxMoves = 3

// do runs f on the open file, and again if the file was replaced meanwhile: then nothing counts that f may have done in the old one.
func (s *Store) do(ctx context.Context, f func(context.Context, *session) error) error {
	ctx, end, err := s.begin(ctx)
	if err != nil {
		return err
	}
	defer end()
	for range maxMoves {
		var ss *session
		if ss, err = s.session(ctx); err != nil {
			break
		}
		if err = f(ctx, ss); backend.ClassOf(err) != backend.Unknown || ctx.Err() != nil || ss.intact() {
			break
		}
	}
	if err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return context.Cause(ctx)
	}
	return s.explain(err)
}
