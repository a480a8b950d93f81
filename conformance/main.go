package conformance

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Exit codes of Main, and of every command that plays the suite.
const (
	ExitHolds    = 0 // no rule was violated
	ExitViolated = 1 // a rule was violated
	ExitFailed   = 2 // it could not run: wrong flags, or the store could not be opened
	ExitUntested = 3 // with -strict: a case was untested or undecided
)

// Formats are the names that [Report.Write] knows.
var Formats = []string{"text", "json", "junit", "markdown"}

// Write writes the report in a format of Formats.
func (r *Report) Write(w io.Writer, format string) error {
	switch format {
	case "text":
		_, err := io.WriteString(w, r.String())
		return err
	case "json":
		return r.WriteJSON(w)
	case "junit":
		return r.WriteJUnit(w)
	case "markdown":
		return r.WriteMarkdown(w)
	}
	return fmt.Errorf("conformance: unknown format %q; known are %s", format, strings.Join(Formats, ", "))
}

// ExitCode is the exit code that tells of the report; strict counts untested and undecided cases.
func (r *Report) ExitCode(strict bool) int {
	has := func(match func(Result) bool) bool { return slices.ContainsFunc(r.Results, match) }
	switch {
	case r.Violated():
		return ExitViolated
	case has(func(x Result) bool { return x.Setup }), len(r.Results) == 0:
		return ExitFailed
	case strict && has(func(x Result) bool { return x.Outcome == Untested || x.Outcome == Undecided }):
		return ExitUntested
	}
	return ExitHolds
}

// Main is the main function of a command that checks one store: it shows the progress on standard error, writes the report to standard output and exits with one of the
// exit codes. Its flags are -format and -strict. An interrupt ends it with what is known by then.
//
//	func main() { conformance.Main(conformance.Suite{Open: open}) }
func Main(s Suite) {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, s, os.Args[1:], os.Stdout, os.Stderr)
	cancel()
	os.Exit(code)
}

func run(ctx context.Context, s Suite, args []string, out, progress io.Writer) int {
	flags := flag.NewFlagSet("conformance", flag.ContinueOnError)
	flags.SetOutput(progress)
	format := flags.String("format", "text", "of the report: "+strings.Join(Formats, ", "))
	strict := flags.Bool("strict", s.Strict, "exit with 3 when a case is untested or undecided")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return ExitHolds
	} else if err != nil {
		return ExitFailed
	}
	if flags.NArg() > 0 || !slices.Contains(Formats, *format) {
		fmt.Fprintf(progress, "conformance: give -format %s and no other argument\n", strings.Join(Formats, ", "))
		return ExitFailed
	}
	s.Progress = Progress(progress)
	report := Check(ctx, s)
	if err := report.Write(out, *format); err != nil {
		fmt.Fprintln(progress, "conformance:", err)
		return ExitFailed
	}
	return report.ExitCode(*strict)
}

// Progress returns a function for Suite.Progress which writes a line for each case: how many are done, of how many, and what became of this one.
func Progress(w io.Writer) func(Result) {
	var mu sync.Mutex
	done, all, began := 0, len(Cases()), time.Now()
	return func(r Result) {
		mu.Lock()
		defer mu.Unlock()
		done++
		text := ""
		if r.Outcome != Holds {
			text = strings.ReplaceAll(r.why(), "\n            ", " ")
		}
		fmt.Fprintf(w, "%3d/%d %6.1fs %s %s: %s%s\n", done, all, time.Since(began).Seconds(), r.Case.Rule.Slug, r.Outcome, r.Case.Name, text)
	}
}
