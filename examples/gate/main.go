// Gate shows two servers with the same cron entry, of which one runs each tick although their clocks differ.
//
//	go run ./examples/gate
//
// Both servers live in one process here. With a store that both reach, in TENURE_STORE, they could as well be two processes: each needs what server does.
package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/tenure-go/tenure/adapter/robfig"
	"github.com/tenure-go/tenure/backend"
	_ "github.com/tenure-go/tenure/backend/all"
	"github.com/tenure-go/tenure/elector"
)

const (
	entry    = "*/2 * * * * *"        // every two seconds
	behind   = 700 * time.Millisecond // the second server's clock is
	atLeast  = time.Second            // longer than clocks differ, shorter than the interval
	runsFor  = 10*time.Second + behind
	election = "report"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	url := os.Getenv("TENURE_STORE")
	if url == "" {
		url = "memory:gate"
	}
	if err := run(ctx, url, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run keeps two servers going for a while.
func run(ctx context.Context, url string, out io.Writer) error {
	store, err := backend.Open(ctx, url)
	if err != nil {
		return err
	}
	defer store.Close()
	ctx, cancel := context.WithTimeout(ctx, runsFor)
	defer cancel()
	lines := make(chan string)
	ended := make(chan error, 2)
	for name, late := range map[string]time.Duration{"blue": 0, "green": behind} {
		go func() { ended <- server(ctx, store, name, late, lines) }()
	}
	for running := 2; running > 0; {
		select {
		case line := <-lines:
			if _, err := fmt.Fprintln(out, line); err != nil {
				return err
			}
		case err := <-ended:
			if err != nil {
				return err
			}
			running--
		}
	}
	return nil
}

// server is what each of the two does: it has its schedule, as before, and a gate in front of the job.
func server(ctx context.Context, store backend.LeaseStore, name string, late time.Duration, lines chan<- string) error {
	gate, err := elector.NewGate(elector.GateConfig{
		Elector: elector.Config{
			Store: store, Election: election, TTL: 2 * time.Second, Logger: slog.New(slog.DiscardHandler),
			Candidate: backend.Candidate{Description: backend.Description{App: name}},
		},
		AtLeast: atLeast,
		AtMost:  time.Minute,
	})
	if err != nil {
		return err
	}
	defer gate.Close() //nolint:contextcheck // the release outlives the context
	report := robfig.Work(func(context.Context, *elector.Term) error {
		lines <- fmt.Sprintf("%s: %s runs it", clock(late), name)
		return nil
	})
	told := func(err error) {
		if err != nil {
			lines <- fmt.Sprintf("%s: %s does not: %v", clock(late), name, err)
		}
	}
	schedule, err := cron.NewParser(cron.Second | cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow).Parse(entry)
	if err != nil {
		return err
	}
	c := cron.New()
	c.Schedule(shifted{schedule, late}, cron.NewChain(robfig.Wrapper(ctx, gate, told)).Then(report))
	c.Start()
	<-ctx.Done()
	<-c.Stop().Done()
	return nil
}

// clock is the time on a server whose clock is behind.
func clock(late time.Duration) string { return time.Now().Add(-late).Format("15:04:05") }

// shifted is a schedule by a clock that is behind.
type shifted struct {
	cron.Schedule
	late time.Duration
}

// Next implements cron.Schedule.
func (s shifted) Next(now time.Time) time.Time {
	return s.Schedule.Next(now.Add(-s.late)).Add(s.late)
}
