package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
)

// screen is where everything is printed: lines, and on a terminal a picture below the last of them.
type screen struct {
	live   bool // the picture can be drawn again and again
	colour bool

	mu    sync.Mutex
	out   io.Writer
	began time.Time
	rows  []string // of the picture
	drawn int      // how many of them are to be seen
}

func newScreen(out io.Writer) *screen {
	term := os.Getenv("TERM")
	s := &screen{out: out, began: time.Now(), live: isTerminal(out) && term != "" && term != "dumb"}
	s.colour = s.live && os.Getenv("NO_COLOR") == ""
	return s
}

func isTerminal(out io.Writer) bool {
	f, ok := out.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// say prints a line of the demo.
func (s *screen) say(format string, args ...any) { s.tell("", fmt.Sprintf(format, args...)) }

// tell prints a line of a candidate.
func (s *screen) tell(who, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.print(fmt.Sprintf("%5.1f s  %-4s %s\n", time.Since(s.began).Seconds(), who, text))
}

// draw replaces the picture.
func (s *screen) draw(rows []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rows = rows
	s.print("")
}

// erase takes the picture away.
func (s *screen) erase() { s.draw(nil) }

// print writes text where the picture was, and the picture below it.
func (s *screen) print(text string) {
	var b strings.Builder
	if s.drawn > 0 {
		fmt.Fprintf(&b, "\x1b[%dA\r\x1b[J", s.drawn)
	}
	b.WriteString(text)
	for _, row := range s.rows {
		b.WriteString(row + "\n")
	}
	s.drawn = len(s.rows)
	io.WriteString(s.out, b.String()) //nolint:errcheck // a reader that has gone away changes nothing
}

// paint gives text the colour of a part.
func (s *screen) paint(part, text string) string {
	colours := map[string]int{leads: 32, follows: 36, killed: 31, gone: 90, cheats: 31}
	if !s.colour {
		return text
	}
	return fmt.Sprintf("\x1b[%dm%s\x1b[0m", colours[part], text)
}
