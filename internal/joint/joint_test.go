package joint_test

import (
	"context"
	"errors"
	"testing"

	"go.uber.org/goleak"

	"github.com/tenure-go/tenure/internal/joint"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type key struct{}

// late is a context that finds out that it has ended when it is asked, as a term's does after a pause.
type late struct {
	context.Context //nolint:containedctx // it is one
	end             context.CancelCauseFunc
	over            bool
}

var errLate = errors.New("late")

func (l *late) Err() error {
	if l.over {
		l.end(errLate)
	}
	return l.Context.Err()
}

func TestItEndsWithWhateverEndsFirst(t *testing.T) {
	errCaller, errTerm, errOwn := errors.New("caller"), errors.New("term"), errors.New("own")
	for _, want := range []error{errCaller, errTerm, errOwn} {
		caller, endCaller := context.WithCancelCause(context.WithValue(t.Context(), key{}, 1))
		term, endTerm := context.WithCancelCause(t.Context())
		ctx, end := joint.With(caller, term)
		if ctx.Err() != nil || ctx.Value(key{}) != 1 {
			t.Fatal(ctx.Err(), ctx.Value(key{}))
		}
		done := ctx.Done() // waits, and asks nobody
		map[error]context.CancelCauseFunc{errCaller: endCaller, errTerm: endTerm, errOwn: end}[want](want)
		<-done
		if got := context.Cause(ctx); !errors.Is(got, want) {
			t.Errorf("ended by %v: cause %v", want, got)
		}
		end(nil)
		endCaller(nil)
		endTerm(nil)
	}
}

func TestItsErrAsksTheTermFirst(t *testing.T) {
	inner, end := context.WithCancelCause(t.Context())
	term := &late{Context: inner, end: end}
	ctx, stop := joint.With(t.Context(), term)
	defer stop(nil)
	derived, cancel := context.WithCancel(ctx)
	defer cancel()
	if ctx.Err() != nil {
		t.Fatal(ctx.Err())
	}
	term.over = true
	if ctx.Err() == nil || !errors.Is(context.Cause(ctx), errLate) {
		t.Errorf("after a pause: %v, %v", ctx.Err(), context.Cause(ctx))
	}
	<-derived.Done()
}
