package explore

import (
	"fmt"
	"slices"
	"strings"
)

// story tells how a state came about.
func (s *state) story() []string {
	var lines []string
	for t := s.trace; t != nil; t = t.before {
		line := t.what
		if line != "time passes" {
			line = fmt.Sprintf("%c: %s", 'a'+byte(t.who), t.what)
		}
		lines = append(lines, line)
	}
	slices.Reverse(lines)
	var first strings.Builder
	fmt.Fprintf(&first, "rates: store %+d", s.storeRate)
	for i := range s.w.Candidates {
		fmt.Fprintf(&first, ", %c %+d", 'a'+byte(i), s.processes[i].rate)
	}
	return append([]string{first.String() + " thousandths"}, lines...)
}
