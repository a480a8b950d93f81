package elector

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/backend/memory"
	"github.com/tenure-go/tenure/internal/roster"
)

// ask enlists a request, as an operator's command does.
func ask(t *testing.T, s backend.LeaseStore, r roster.Request) {
	t.Helper()
	note, err := roster.Note{Request: &r}.Encode()
	must(t, err)
	must(t, s.(backend.Roster).Enlist(t.Context(), backend.Entry{Election: "e", Candidate: backend.Candidate{ID: "operator"}, Note: note, TTL: time.Hour}))
}

// answered returns what became of the request: "" while nobody has looked, "gone" when it was obeyed, or the refusal.
func answered(t *testing.T, s backend.LeaseStore) string {
	t.Helper()
	entries, err := s.(backend.Roster).Candidates(t.Context(), "e")
	must(t, err)
	for _, e := range entries {
		if r := roster.Decode(e.Note).Request; r != nil {
			return r.Refused
		}
	}
	return "gone"
}

// A leader that is asked hands over to whom it is told, for once, says why, and doesn't take the election back although it is preferred, until its cooldown is over.
func TestALeaderIsAskedToHandOver(t *testing.T) {
	bubble(t, func(t *testing.T, server *memory.Server) {
		s := server.Client()
		a := start(t, preferred(server.Client(), "a", 5))
		first := <-a.terms
		b, c := start(t, preferred(server.Client(), "b", 0)), start(t, preferred(server.Client(), "c", 1))
		pass(ttl)
		ask(t, s, roster.Request{Token: first.Token().Value, To: "b", By: "ops@host", Reason: "new disk"})
		second := <-b.terms
		if cause := context.Cause(first.Context()); !errors.Is(cause, ErrResigned) || !strings.Contains(cause.Error(), `to "b", asked by ops@host: new disk`) {
			t.Error(cause)
		}
		if got := answered(t, s); got != "gone" {
			t.Errorf("the answer is %q", got)
		}
		began := time.Now()
		<-second.Context().Done()
		// c is preferred to b once b has led for its least time; a, the most preferred, rests.
		<-c.terms
		if took := time.Since(began); took < 3*ttl-ttl/2 || took > 5*ttl {
			t.Errorf("c leads after %v", took)
		}
		<-a.terms
		if took := time.Since(began); took < 12*ttl-ttl/2 {
			t.Errorf("a leads again after %v", took)
		}
		for _, r := range []*running{a, b, c} {
			_ = r.end()
		}
	})
}

// A leader that is asked to step down lets others go first; alone it leads again after a TTL, or after the time for which it was asked to stay away.
func TestALeaderIsAskedToStepDown(t *testing.T) {
	bubble(t, func(t *testing.T, server *memory.Server) {
		s := server.Client()
		a := start(t, preferred(server.Client(), "a", 0))
		for _, away := range []time.Duration{0, time.Minute} {
			term := <-a.terms
			pass(ttl)
			ask(t, s, roster.Request{Token: term.Token().Value, Away: away.Milliseconds(), By: "ops"})
			<-term.Context().Done()
			began := time.Now()
			again := <-a.terms
			if got := answered(t, s); got != "gone" {
				t.Errorf("the answer is %q", got)
			}
			if took, want := time.Since(began), max(away, ttl); took < want || took > want+ttl {
				t.Errorf("it leads again after %v", took)
			}
			a.terms <- again
		}
		term := <-a.terms
		b := start(t, preferred(server.Client(), "b", 0))
		pass(ttl)
		ask(t, s, roster.Request{Token: term.Token().Value})
		<-term.Context().Done()
		began := time.Now()
		<-b.terms
		if took := time.Since(began); took > time.Second {
			t.Errorf("b leads after %v", took)
		}
		pass(20 * ttl)
		if len(a.terms) > 0 {
			t.Error("a leads again")
		}
		_ = a.end()
		_ = b.end()
	})
}

// Requests of another term are left alone; one for somebody who isn't ready is refused.
func TestRequestsThatAreNotObeyed(t *testing.T) {
	bubble(t, func(t *testing.T, server *memory.Server) {
		s := server.Client()
		a := start(t, preferred(server.Client(), "a", 0))
		term := <-a.terms
		cfg := preferred(server.Client(), "b", 0)
		cfg.Preference.CanLead = func() bool { return false }
		b := start(t, cfg)
		ask(t, s, roster.Request{Token: term.Token().Value - 1})
		pass(3 * ttl)
		if got := answered(t, s); got != "" {
			t.Errorf("the answer is %q", got)
		}
		for _, to := range []string{"b", "nobody", "a"} {
			ask(t, s, roster.Request{Token: term.Token().Value, To: to})
			pass(3 * ttl)
			if got := answered(t, s); !strings.Contains(got, "not listed as ready") {
				t.Errorf("the answer for %s is %q", to, got)
			}
		}
		if term.Context().Err() != nil || !a.Leading() {
			t.Error("it has stepped down")
		}
		_ = a.end()
		_ = b.end()
	})
}

// A run that has made room ends as any other: by its user's resignation, by the end of its context, by Close.
func TestTheEndOfARunThatMakesRoom(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(*running, *Term)
		want error
	}{
		"resigned": {func(_ *running, term *Term) { _ = term.Resign(t.Context()) }, nil},
		"ctx":      {func(r *running, _ *Term) { r.stop() }, context.Canceled},
		"closed":   {func(r *running, _ *Term) { go r.Close() }, ErrClosed},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, server *memory.Server) {
				a := startWith(t, preferred(server.Client(), "a", 0), func(ctx context.Context, _ *Term) error {
					<-ctx.Done()
					pass(time.Second)
					return nil
				})
				term := <-a.terms
				b := start(t, preferred(server.Client(), "b", 1))
				<-term.Context().Done()
				synctest.Wait()
				c.end(a, term)
				if err := <-a.result; !errors.Is(err, c.want) || c.want == nil && err != nil {
					t.Errorf("Run returned %v, want %v", err, c.want)
				}
				if len(b.terms) == 0 { // the reservation stood all the same
					<-b.terms
				}
				_ = b.end()
				must(t, a.Close())
			})
		})
	}
}

// Work that is done ends its run, whoever is preferred at that moment: it isn't begun again.
func TestWorkThatIsDoneIsNotBegunAgain(t *testing.T) {
	bubble(t, func(t *testing.T, server *memory.Server) {
		for i := range 50 {
			a := startWith(t, preferred(server.Client(), "a", 0), func(context.Context, *Term) error {
				pass(3*ttl + time.Duration(i)*ttl/25) // about when room is made
				return nil
			})
			term := <-a.terms
			b := start(t, preferred(server.Client(), "b", 1))
			<-b.terms
			_ = b.end()
			pass(ttl)
			made := strings.Contains(context.Cause(term.Context()).Error(), "preferred")
			if again := len(a.terms) > 0; again != made {
				t.Errorf("begun again: %v; room was made: %v", again, made)
			}
			_ = a.end()
			pass(5 * ttl)
		}
	})
}

// A leader isn't asked away before its least time is over, and then at once.
func TestMinTenure(t *testing.T) {
	bubble(t, func(t *testing.T, server *memory.Server) {
		cfg := preferred(server.Client(), "a", 0)
		cfg.Preference.MinTenure = time.Minute
		a := start(t, cfg)
		term := <-a.terms
		began := time.Now()
		cfg = preferred(server.Client(), "b", 1)
		b := start(t, cfg)
		<-b.terms
		if took := time.Since(began); took < time.Minute || took > time.Minute+2*ttl {
			t.Errorf("b leads after %v", took)
		}
		if term.Context().Err() == nil {
			t.Error("two lead")
		}
		_ = a.end()
		_ = b.end()
	})
}
