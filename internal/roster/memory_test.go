package roster

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/tenure-go/tenure/backend"
)

var (
	nobody = backend.Candidate{}
	anna   = backend.Candidate{ID: "anna", Description: backend.Description{Version: "1"}}
	bert   = backend.Candidate{ID: "bert", Description: backend.Description{Version: "2"}}
	bert2  = backend.Candidate{ID: "bert-again", Description: backend.Description{Version: "2"}}
)

func TestMemory(t *testing.T) {
	type step struct {
		after    time.Duration
		leader   backend.Candidate
		reserved *backend.Candidate // in place of a leader
	}
	for _, c := range []struct {
		name   string
		steps  []step
		barred []backend.Candidate
	}{
		{"nothing", nil, nil},
		{"a term of which the beginning wasn't seen", []step{{0, bert, nil}, {1, nobody, nil}}, nil},
		{"a short term", []step{{0, nobody, nil}, {1, bert, nil}, {9, nobody, nil}}, []backend.Candidate{bert, bert2}},
		{"a short term that was seen twice", []step{{0, nobody, nil}, {1, bert, nil}, {5, bert, nil}, {4, anna, nil}}, []backend.Candidate{bert, bert2}},
		{"a long term", []step{{0, nobody, nil}, {1, bert, nil}, {10, anna, nil}}, nil},
		{"a used reservation", []step{{0, anna, nil}, {9, nobody, &bert}, {1, nobody, nil}, {1, bert, nil}, {10, anna, nil}}, nil},
		{"an unused one", []step{{0, anna, nil}, {10, nobody, &bert}, {1, nobody, nil}, {1, anna, nil}}, []backend.Candidate{bert, bert2}},
		{"a cooldown that is over", []step{{0, nobody, nil}, {1, bert, nil}, {1, nobody, nil}, {100, anna, nil}}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := Memory{Least: 10, Cooldown: 100}
			now := time.Unix(1, 0)
			for _, s := range c.steps {
				now = now.Add(s.after)
				if s.reserved != nil {
					m.Reserved(s.reserved)
					continue
				}
				m.Saw(s.leader, now)
			}
			for _, who := range []backend.Candidate{anna, bert, bert2} {
				want := false
				for _, b := range c.barred {
					want = want || b.ID == who.ID
				}
				if got := m.Barred(who, now); got != want {
					t.Errorf("%s is barred: %v", who.ID, got)
				}
			}
		})
	}
}

func TestNote(t *testing.T) {
	want := Note{Request: &Request{Token: 7, To: "b", Away: 1000, By: "ops@host", Reason: "\"x\"\n"}}
	text, err := want.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if got := Decode(text); got.Standing != nil || *got.Request != *want.Request {
		t.Errorf("%s gives %+v", text, got)
	}
	for _, foreign := range []string{"", "{", "[]", `{"terms":3}`, `"x"`, "null"} {
		if got := Decode(foreign); got.Standing != nil || got.Request != nil {
			t.Errorf("%s gives %+v", foreign, got)
		}
	}
	long := Note{Standing: &Standing{Attributes: map[string]string{"x": strings.Repeat("y", backend.MaxNote)}}}
	if _, err := long.Encode(); !errors.Is(err, backend.ErrInvalid) {
		t.Error(err)
	}
}
