package main

import (
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/tenure-go/tenure/backend"
)

// shown makes a text from the store safe and clear in a line for people: names may contain anything, escape sequences of terminals too.
func shown(s string) string {
	plain := func(r rune) bool { return unicode.IsGraphic(r) && r != '"' && !unicode.IsSpace(r) }
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return strconv.Quote(s)
}

// span writes a duration for people, to a sensible precision.
func span(d time.Duration) string {
	if d >= time.Minute {
		return d.Round(time.Second).String()
	}
	return d.Round(time.Millisecond).String()
}

// seconds writes a duration so that both --ttl and sleep(1) understand it: "60s", not "1m0s".
func seconds(d time.Duration) string {
	return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) + "s"
}

// words is shown for a text of several words.
func words(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return !unicode.IsGraphic(r) }) < 0 {
		return s
	}
	return strconv.Quote(s)
}

// plainly is an error of wrong usage without the words that only programs need.
func plainly(err error) string {
	_, text, found := strings.Cut(err.Error(), backend.ErrInvalid.Error()+": ")
	if !found {
		return err.Error()
	}
	return text
}
