// Package worklog records when leaders work, and checks that they never did so at once.
//
// Each leader appends lines to one file: start, a beat each few milliseconds, stop. The checker reads nothing but that file:
//
//	lines, err := worklog.Read(path)
//	report := worklog.Check(lines)
//	report.Err() // two at work at once, tokens that don't grow, …
//
// A leader that is killed writes no stop: its last line is what proves that it was at work.
//
// All writers are processes of one host, so they share the boot clock. Lines are appended with one write each: the order of lines is the order of
// the writes, whatever the clocks say, and is checked as well.
package worklog
