package main

import (
	"bytes"
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/elector"
)

// stage is a show with four processes: ada was killed and started again, bob leads, cyd has ended.
func stage(s *screen) (*show, elector.Leader) {
	sh := &show{screen: s}
	for _, id := range []string{"ada-1", "bob-2", "cyd-3", "ada-4"} {
		sh.started = append(sh.started, &process{name: id[:3], id: id, ended: make(chan struct{})})
	}
	sh.started[0].killed.Store(true)
	close(sh.started[2].ended)
	return sh, elector.Leader{Candidate: backend.Candidate{ID: "bob-2"}, Token: 7, Remaining: ttl / 2}
}

func TestTheStatusIsOneLine(t *testing.T) {
	t.Parallel()
	sh, leader := stage(newScreen(&bytes.Buffer{}))
	if got, want := sh.status(leader), "ada follows | bob LEADS (lease 1.0 s) | cyd has ended"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	sh.started = sh.started[:3]
	leader.Candidate.ID = "ada-1"
	if got, want := sh.status(leader), "ada is killed (lease 1.0 s) | bob follows | cyd has ended"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestThePictureFitsAnyTerminal(t *testing.T) {
	t.Parallel()
	sh, leader := stage(newScreen(&bytes.Buffer{}))
	for _, leader.Remaining = range []time.Duration{-time.Hour, 0, ttl / 2, time.Hour} {
		rows := sh.picture(leader)
		if len(rows) != 3 {
			t.Fatalf("%d rows", len(rows))
		}
		for _, row := range rows {
			if utf8.RuneCountInString(row) > 60 || strings.ContainsAny(row, "\n\x1b") {
				t.Errorf("row %q", row)
			}
		}
	}
}

func TestThePictureStaysBelowTheLines(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	s := newScreen(&out)
	s.draw([]string{"one", "two"})
	s.tell("ada", "hello")
	s.erase()
	const back = "\x1b[2A\r\x1b[J"
	if want := "one\ntwo\n" + back + "  0.0 s  ada  hello\none\ntwo\n" + back; out.String() != want {
		t.Errorf("%q", out.String())
	}
}

func TestOnlyATerminalGetsThePicture(t *testing.T) { //nolint:paralleltest // the environment is the process's
	console, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0) // a character device, as a terminal is
	if err != nil {
		t.Fatal(err)
	}
	defer console.Close()
	for _, c := range []struct {
		term, noColor string
		live, colour  bool
	}{
		{"xterm", "", true, true},
		{"xterm", "1", true, false},
		{"dumb", "", false, false},
		{"", "", false, false},
	} {
		t.Setenv("TERM", c.term)
		t.Setenv("NO_COLOR", c.noColor)
		if s := newScreen(console); s.live != c.live || s.colour != c.colour {
			t.Errorf("%+v: live %v, colour %v", c, s.live, s.colour)
		}
		if s := newScreen(&bytes.Buffer{}); s.live || s.paint(leads, "x") != "x" {
			t.Errorf("%+v: a file gets control sequences", c)
		}
	}
}

func TestABadEndOfACandidateIsAFailure(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		asked, killed bool
		err           error
		want          string
	}{
		{asked: true},
		{asked: true, killed: true, err: errors.New("signal: killed")},
		{want: "ada ended by itself"},
		{asked: true, err: errors.New("exit status 1"), want: "ada ended badly: exit status 1"},
	} {
		p := &process{name: "ada", err: c.err}
		p.asked.Store(c.asked)
		p.killed.Store(c.killed)
		if err := p.failure(); (err == nil) != (c.want == "") || err != nil && err.Error() != c.want {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func TestLinesArePassedOnWhole(t *testing.T) {
	t.Parallel()
	var got []string
	w := &lineWriter{say: func(text string) { got = append(got, text) }}
	for _, part := range []string{"on", "e\ntwo\nth", "ree\n", "rest"} {
		if n, err := w.Write([]byte(part)); n != len(part) || err != nil {
			t.Errorf("%d, %v", n, err)
		}
	}
	if want := []string{"one", "two", "three"}; !reflect.DeepEqual(got, want) {
		t.Errorf("%q", got)
	}
}
