package elector

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/backend/memory"
)

func TestCampaignAndResign(t *testing.T) {
	bubble(t, func(t *testing.T, server *memory.Server) {
		a, b := newTest(t, config(server.Client(), "a")), newTest(t, config(server.Client(), "b"))
		ctx, cancel := context.WithCancel(t.Context())
		term, err := a.Campaign(ctx)
		if err != nil {
			t.Fatal(err)
		}
		cancel() // bounds the wait only
		pass(10 * ttl)
		if !a.Leading() || !term.Valid() || term.Context().Err() != nil {
			t.Error("the term ended with the context of Campaign")
		}
		if _, err := a.Campaign(t.Context()); !errors.Is(err, ErrBusy) {
			t.Errorf("a second Campaign: %v", err)
		}
		var held *backend.HeldError
		if _, err := b.TryCampaign(t.Context()); !errors.As(err, &held) || held.Record.Holder.ID != "a" || !errors.Is(err, backend.ErrHeld) {
			t.Errorf("TryCampaign: %v", err)
		}
		if err := term.Resign(t.Context()); err != nil {
			t.Error(err)
		}
		if a.Leading() || term.Valid() || !errors.Is(context.Cause(term.Context()), ErrResigned) {
			t.Error("the term goes on after Resign")
		}
		next, err := b.TryCampaign(t.Context())
		if err != nil || next.Token().Value <= term.Token().Value {
			t.Fatalf("%v, %v", next, err)
		}
		if err := term.Resign(t.Context()); err != nil { // of the earlier term: no effect on any later one
			t.Error(err)
		}
		if err := next.Resign(t.Context()); err != nil {
			t.Error(err)
		}
		again, err := a.TryCampaign(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		_ = term.Resign(t.Context())
		synctest.Wait()
		if !again.Valid() {
			t.Error("a late Resign of the first term ended the second (PE4)")
		}
		_ = a.Close()
		_ = b.Close()
		if again.Valid() {
			t.Error("valid after Close")
		}
		if _, err := a.Campaign(t.Context()); !errors.Is(err, ErrClosed) {
			t.Errorf("Campaign after Close: %v", err)
		}
	})
}

func TestATermOfCampaignEndsWithTheStore(t *testing.T) {
	bubble(t, func(t *testing.T, server *memory.Server) {
		f := newFaulty(server.Client())
		e := newTest(t, config(f, "a"))
		term, err := e.Campaign(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		f.set(func(context.Context, string) error { return backend.ErrDenied }, nil)
		<-term.Context().Done()
		if cause := context.Cause(term.Context()); !errors.Is(cause, ErrDenied) {
			t.Errorf("cause is %v", cause)
		}
		if e.Leading() || !term.Valid() {
			t.Error("between the soft and the hard deadline work may finish, not begin")
		}
		f.set(nil, nil)
		if err := term.Resign(t.Context()); err != nil {
			t.Error(err)
		}
		if term, err = e.TryCampaign(t.Context()); err != nil {
			t.Errorf("the lease was not given back: %v", err)
		} else {
			_ = term.Resign(t.Context())
		}
	})
}

func TestCampaignOfAClosedOrMovedElectionEndsWithItsReason(t *testing.T) {
	bubble(t, func(t *testing.T, server *memory.Server) {
		for _, want := range []error{backend.ErrClosed, backend.ErrMoved, backend.ErrInvalid, backend.ErrVersion} {
			f := newFaulty(server.Client())
			f.set(func(context.Context, string) error { return want }, nil)
			e := newTest(t, config(f, "a"))
			if _, err := e.Campaign(t.Context()); !errors.Is(err, want) {
				t.Errorf("got %v, want %v", err, want)
			}
		}
	})
}

// The error of a campaign that was given up tells what kept it from leading.
func TestAnEndedCampaignTellsItsTrouble(t *testing.T) {
	bubble(t, func(t *testing.T, server *memory.Server) {
		f := newFaulty(server.Client())
		f.set(func(context.Context, string) error { return errInjected }, nil)
		e := newTest(t, config(f, "a"))
		ctx, cancel := context.WithTimeout(t.Context(), 3*ttl)
		defer cancel()
		if _, err := e.Campaign(ctx); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, errInjected) || !strings.Contains(err.Error(), "injected") {
			t.Errorf("got %v", err)
		}
		f.set(nil, nil)
		if term, err := e.TryCampaign(t.Context()); err != nil {
			t.Error(err)
		} else {
			_ = term.Resign(t.Context())
		}
		if err := e.Run(t.Context(), nil); !errors.Is(err, backend.ErrInvalid) {
			t.Errorf("Run without a function: %v", err)
		}
		_ = e.Close()
	})
}

// PE61: who may not write to the store never leads, says why, and leaves the election to those who may.
func TestACandidateWithoutRightsNeverLeads(t *testing.T) {
	bubble(t, func(t *testing.T, server *memory.Server) {
		f := newFaulty(server.Client())
		f.set(func(_ context.Context, op string) error {
			if op == "acquire" {
				return backend.ErrDenied
			}
			return nil
		}, nil)
		var ev events
		cfg := config(f, "a")
		cfg.Events = ev.add
		a := start(t, cfg)
		pass(10 * ttl)
		b := start(t, config(server.Client(), "b"))
		term := b.within(t, ttl)
		pass(10 * ttl)
		if len(a.terms) > 0 || !term.Valid() {
			t.Errorf("the one without rights led %d times, the other's term is valid: %v", len(a.terms), term.Valid())
		}
		_ = b.end()
		_ = a.end()
		said := 0
		for _, e := range ev.list {
			if e.Kind == Failed && errors.Is(e.Err, backend.ErrDenied) {
				said++
			}
		}
		if said == 0 {
			t.Error("it didn't say why")
		}
		if _, err := newTest(t, cfg).TryCampaign(t.Context()); !errors.Is(err, backend.ErrDenied) {
			t.Errorf("TryCampaign: %v", err)
		}
	})
}

func TestBadConfigurationsAreAllReported(t *testing.T) {
	s := memory.New()
	_, err := New(Config{Store: s, Election: "", TTL: -1, Candidate: backend.Candidate{ID: string(make([]byte, 300))}, DrainTimeout: -1, ClockDrift: 2})
	if !errors.Is(err, backend.ErrInvalid) {
		t.Fatal(err)
	}
	for _, field := range []string{"Config.Election", "Config.TTL", "Config.Candidate.ID", "Config.DrainTimeout", "Config.ClockDrift"} {
		if !strings.Contains(err.Error(), field) {
			t.Errorf("the error does not name %s:\n%v", field, err)
		}
	}
	// PE2, IN33, R21: a renewal interval that leaves no room.
	_, err = New(Config{Store: s, Election: "e", TTL: ttl, RenewInterval: ttl * 2 / 3})
	if !errors.Is(err, backend.ErrInvalid) || !strings.Contains(err.Error(), "RenewInterval") || !strings.Contains(err.Error(), "outage survived") {
		t.Errorf("got %v", err)
	}
	if _, err = New(Config{Election: "e"}); !errors.Is(err, backend.ErrInvalid) {
		t.Errorf("got %v", err)
	}
}
