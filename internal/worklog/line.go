package worklog

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
)

// Kind is what a line says.
type Kind string

// Kinds of lines.
const (
	Start Kind = "start" // the work begins
	Beat  Kind = "beat"  // it goes on
	Stop  Kind = "stop"  // it ends, and nothing follows
)

// Line is one line of a work log.
type Line struct {
	At    time.Duration // on the host's boot clock
	Kind  Kind
	Token int64
	PID   int
}

// String returns the line as it stands in the file, without its end.
func (l Line) String() string {
	return fmt.Sprintf("%d %s token=%d pid=%d", int64(l.At), l.Kind, l.Token, l.PID)
}

// Parse reads what String wrote.
func Parse(text string) (Line, error) {
	var l Line
	n, err := fmt.Sscanf(text, "%d %s token=%d pid=%d", &l.At, &l.Kind, &l.Token, &l.PID)
	if err != nil || n != 4 || l.String() != text {
		return Line{}, fmt.Errorf("worklog: this is no line of a work log: %q", text)
	}
	return l, nil
}

// Read reads a work log. A file that isn't there is an empty one: nobody has worked yet. A last line that is being written is left out.
func Read(path string) ([]Line, error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var lines []Line
	for text := range strings.Lines(string(b)) {
		text, whole := strings.CutSuffix(text, "\n")
		if !whole {
			break
		}
		l, err := Parse(text)
		if err != nil {
			return nil, err
		}
		lines = append(lines, l)
	}
	return lines, nil
}
