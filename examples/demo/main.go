// Demo shows one leader among three processes: elected, killed, succeeded, handed over. It needs Linux or macOS, and only Go.
//
//	go run ./examples/demo          about 20 s; exit status 0 only if the checker found nothing wrong
//	go run ./examples/demo -quick   the same with shorter pauses, about 6 s
//	go run ./examples/demo -cheat   one candidate works without the lease: the checker must find it, exit status 1
//
// Begin with candidate.go: it is all that a program of your own needs. ledger.go is what the leader writes to, a file that refuses stale leaders.
// The rest is the theatre. The demo starts itself three times as a candidate, on one SQLite file in a temporary folder, and then
//
//   - waits until one leads and settles invoices,
//   - kills it (SIGKILL): a follower takes over when the dead leader's lease has run out,
//   - starts the killed one again: it is a new candidate,
//   - sends SIGTERM to the leader: it ends its work, releases the lease, and a follower leads at once,
//   - ends all, and judges.
//
// The judge sees nothing of all this. It reads a work log, to which each candidate writes start, a beat each 10 ms and stop while it works as leader, with
// the time of a clock that all processes share. It demands that never two were at work, that nobody was for TTL + 1 s at most, that each
// term had a higher token than all before, and that a kill and a hand-over were each followed by another term.
//
// On a terminal a small picture shows who leads; elsewhere, and with TERM=dumb, there are plain lines only. NO_COLOR is respected. Ctrl-C ends everything.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/tenure-go/tenure/internal/clock"
)

// ttl is how long a dead leader keeps the election.
const ttl = 2 * time.Second

func main() {
	if len(os.Args) == 4 && os.Args[1] == asCandidate {
		os.Exit(candidateMain(os.Args[2], os.Args[3]))
	}
	ctx, stop := untilSignal()
	code := demo(ctx, os.Args[1:], os.Stdout)
	stop()
	os.Exit(code)
}

// demo runs the show, a second time if the machine stalled in a way that spoiled the first, and returns the exit status.
func demo(ctx context.Context, args []string, out io.Writer) int {
	options, err := parse(args)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	} else if err != nil {
		return 2
	}
	s := newScreen(out)
	s.say("Three processes share one SQLite file. One of them leads, with a lease of %v.", ttl)
	if _, ok := clock.Boot(); !ok {
		s.say("This demo needs Linux or macOS: it sends SIGTERM, and reads a clock that all processes share.")
		return 1
	}
	for again := false; ; again = true {
		v, err := perform(ctx, options, s)
		var sig interrupted
		switch {
		case errors.As(context.Cause(ctx), &sig):
			s.say("Ended by signal: %v. All candidates have ended.", sig.Signal)
			return sig.code()
		case err != nil:
			s.say("The demo failed: %v", err)
			return 1
		}
		v.print(s)
		if v.spoiled() && !again {
			s.say("The machine stalled while nobody was at work, so this run says nothing. Once more:")
			continue
		}
		if len(v.complaints()) > 0 {
			return 1
		}
		return 0
	}
}

type options struct {
	quick, cheat bool
}

func parse(args []string) (o options, err error) {
	flags := flag.NewFlagSet("demo", flag.ContinueOnError)
	flags.BoolVar(&o.quick, "quick", false, "shorter pauses")
	flags.BoolVar(&o.cheat, "cheat", false, "let one candidate work without the lease, to see that the checker finds it")
	return o, flags.Parse(args)
}

// interrupted is why a context has ended: a signal.
type interrupted struct{ os.Signal }

func (i interrupted) Error() string { return "ended by signal: " + i.String() }

// code is the exit status that shells give to a process which was ended by this signal.
func (i interrupted) code() int {
	n, _ := i.Signal.(syscall.Signal)
	return 128 + int(n)
}

// untilSignal returns a context that ends with the first signal which asks the process to end.
func untilSignal() (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		select {
		case sig := <-signals:
			cancel(interrupted{sig})
		case <-ctx.Done():
		}
	}()
	return ctx, func() { signal.Stop(signals); cancel(nil) }
}

// candidateMain is the life of one candidate process. It ends with the demo, also when that one is killed: then its standard input ends.
func candidateMain(name, folder string) int {
	signal.Ignore(syscall.SIGPIPE) // so that it still ends in good order when nobody reads what it prints
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		io.Copy(io.Discard, os.Stdin) //nolint:errcheck // any end of it is the end
		cancel()
	}()
	run := runCandidate
	if name == cheater {
		run = runCheat
	}
	if err := run(ctx, name, folder); err != nil {
		fmt.Fprintln(os.Stderr, "failed:", err)
		return 1
	}
	return 0
}
