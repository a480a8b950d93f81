package wakeup

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/tenure-go/tenure/backend"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestWakeUpsAreCoalesced(t *testing.T) {
	w := New("e")
	for range 3 {
		w.Wake() // it doesn't block
	}
	if _, open := <-w.C(); !open {
		t.Fatal("the channel is closed")
	}
	select {
	case <-w.C():
		t.Error("three wake-ups that nobody has received are more than one")
	default:
	}
	w.End()
	if _, open := <-w.C(); open || !w.Ended() {
		t.Error("the channel of a watch that has ended is open")
	}
}

func TestAwait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		late, refused, cancelled := errors.New("late"), errors.New("refused"), errors.New("cancelled")
		ctx, cancel := context.WithTimeoutCause(t.Context(), 2*time.Second, cancelled)
		defer cancel()
		for _, tt := range []struct {
			answers []error
			limit   time.Duration
			want    error
		}{
			{[]error{nil, refused}, time.Second, nil}, // the first answer stands
			{[]error{refused}, time.Second, refused},
			{nil, time.Second, late},
			{nil, time.Minute, cancelled},
		} {
			w := New("e")
			for _, a := range tt.answers {
				w.Answer(a)
			}
			if err := w.Await(ctx, tt.limit, late); !errors.Is(err, tt.want) {
				t.Errorf("answers %v within %v: %v, want %v", tt.answers, tt.limit, err, tt.want)
			}
		}
	})
}

func TestBind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ends := 0
		w := New("e")
		ctx, cancel := context.WithCancel(t.Context())
		if err := w.Bind(ctx, func() { ends++ }); err != nil {
			t.Fatal(err)
		}
		cancel()
		synctest.Wait()
		if ends != 1 {
			t.Errorf("the end of the context has called back %d times, want 1", ends)
		}
		w, ctx = New("e"), t.Context()
		if err := w.Bind(ctx, func() { ends++ }); err != nil {
			t.Fatal(err)
		}
		w.End()
		if err := w.Bind(ctx, nil); !errors.Is(err, backend.ErrClosed) {
			t.Errorf("a watch that has ended is bound: %v", err)
		}
	})
}

// A function is called from Bind on and not earlier, ends with one last call where the store closes, and without one where its caller ends it.
func TestFunc(t *testing.T) {
	for _, stopped := range []bool{true, false} {
		var calls []bool
		w := NewFunc("e", func(open bool) { calls = append(calls, open) })
		w.Wake()
		w.Answer(nil)
		if err := w.Await(t.Context(), time.Minute, nil); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		if err := w.Bind(ctx, func() { t.Error("a function ends with the context of its call") }); err != nil {
			t.Fatal(err)
		}
		cancel()
		w.Answer(nil) // nobody waits for it
		w.Wake()
		w.Wake()
		want := []bool{true, true, false}
		if stopped {
			w.Unbind()
			want = want[:2]
		}
		w.End()
		if !slices.Equal(calls, want) {
			t.Errorf("stopped by its caller %v: the calls were %v, want %v", stopped, calls, want)
		}
	}
	w := NewFunc("e", func(bool) { t.Error("a watch that never began has called its function") })
	w.End()
	if err := w.Bind(t.Context(), nil); !errors.Is(err, backend.ErrClosed) {
		t.Errorf("a watch that has ended is bound: %v", err)
	}
}
