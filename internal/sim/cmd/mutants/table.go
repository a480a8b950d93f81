package main

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

// byFrequency returns the keys, the most frequent first.
func byFrequency(times map[string]int) []string {
	return slices.SortedFunc(maps.Keys(times), func(a, b string) int { return cmp.Or(cmp.Compare(times[b], times[a]), cmp.Compare(a, b)) })
}

// table writes what was caught in Markdown.
func table(catches []catch) string {
	var b strings.Builder
	b.WriteString("| mistake | in | caught by | seeds: median | worst |\n| --- | --- | --- | ---: | ---: |\n")
	for i := range catches {
		c := &catches[i]
		by := strings.Join(c.by, ", ")
		if c.world != "" {
			by += ", in world " + c.world
		}
		fmt.Fprintf(&b, "| %s | `%s` | %s | %d | %d |\n", c.name, c.file, by, c.median(), c.worst())
	}
	return b.String()
}

// summary tells the whole list in a sentence.
func summary(catches []catch, s settings) string {
	var all []int
	for i := range catches {
		all = append(all, catches[i].seeds...)
	}
	slices.Sort(all)
	return fmt.Sprintf("%d mistakes, %d hunts each, from seeds %d, %d, … on: all are caught. Of all hunts, half take %d seeds or fewer, and the longest takes %d. Without a mistake, %d seeds violate nothing.\n",
		len(catches), s.hunts, s.first, s.first+apart, all[len(all)/2], all[len(all)-1], s.control)
}

const (
	begin = "<!-- mutants: written by make core-mutants-docs -->\n"
	end   = "<!-- /mutants -->\n"
)

// write puts text between the marks of a file.
func write(file, text string) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	before, rest, found := strings.Cut(string(content), begin)
	_, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		return fmt.Errorf("%s has no place for the table, between %q and %q", file, strings.TrimSpace(begin), strings.TrimSpace(end))
	}
	return os.WriteFile(file, []byte(before+begin+text+end+after), 0o644)
}
