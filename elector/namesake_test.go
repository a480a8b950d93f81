package elector

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/backend/memory"
)

// PE8, DX10: processes that share an ID, such as their host's name, are rivals all the same. One leads at a time, over losses and lost replies, and none takes another's lease for its own.
func TestCandidatesOfOneName(t *testing.T) {
	bubble(t, func(t *testing.T, server *memory.Server) {
		var all []*running
		var stores []*faulty
		for range 3 {
			f := newFaulty(server.Client())
			all, stores = append(all, start(t, config(f, "host"))), append(stores, f)
		}
		leader := func() (i int) {
			i = -1
			for n, r := range all {
				if !r.Leading() {
					continue
				}
				if i >= 0 {
					t.Fatal("two lead")
				}
				i = n
			}
			return i
		}
		awaitNext := func(last int) int {
			for range 3 * ttl / time.Millisecond {
				if i := leader(); i >= 0 && i != last {
					return i
				}
				pass(time.Millisecond)
			}
			t.Fatal("nobody leads")
			return -1
		}
		last, token := -1, int64(0)
		for range 6 {
			i := awaitNext(last)
			if term := <-all[i].terms; term.Token().Value <= token {
				t.Errorf("token %v after %d", term.Token(), token)
			} else {
				token = term.Token().Value
			}
			claims := stores[(i+1)%3].count("acquire") + stores[(i+2)%3].count("acquire")
			for range 20 * ttl / time.Second {
				pass(time.Second)
				if leader() != i {
					t.Fatal("the lead moved although all is well")
				}
			}
			if n := stores[(i+1)%3].count("acquire") + stores[(i+2)%3].count("acquire") - claims; n > 60 {
				t.Errorf("the followers claimed %d times in 20 TTLs", n)
			}
			if _, err := newTest(t, config(server.Client(), "host")).TryCampaign(t.Context()); !errors.Is(err, backend.ErrHeld) {
				t.Errorf("a try of one more: %v", err)
			}
			cutOff(stores, i)
			last = i
		}
		for _, r := range all {
			_ = r.end()
		}
	})
}

// cutOff takes the store from one of them, and the first replies to claims from all.
func cutOff(stores []*faulty, i int) {
	for n, f := range stores {
		lost := 0
		after := func(_ context.Context, op string) error {
			if lost++; op != "acquire" || lost > 10 {
				return nil
			}
			return errInjected
		}
		f.set(nil, after)
		if n == i {
			f.set(func(context.Context, string) error { return errInjected }, nil)
		}
	}
}
