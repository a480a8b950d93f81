// Bluegreen is a worker of which two versions are up during a deploy. The new one takes over when it is ready, the old one finishes its unit of work first and then stands by, in case the new one fails:
//
//	go build -o bin/bluegreen ./examples/bluegreen
//	export TENURE_STORE=sqlite:bin/bluegreen.db
//	bin/bluegreen -version 1 & sleep 20
//	bin/bluegreen -version 2 -warmup 5s &
//	tenure candidates bluegreen
//
// The version is the priority. While version 2 warms up, CanLead says no, so it claims nothing and isn't preferred. Kill it, and version 1 works again when the lease has run out; if it crashes soon after each start, version 1 keeps
// the election for a minute before it lets version 2 try again.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/tenure-go/tenure/backend"
	_ "github.com/tenure-go/tenure/backend/all" // registers the URL schemes of all stores
	"github.com/tenure-go/tenure/elector"
)

// worker is one version of the program.
type worker struct {
	version int
	warmup  time.Duration // until it is ready
	effort  time.Duration // of a unit of work
	out     io.Writer
}

func main() {
	w := worker{out: os.Stdout}
	flag.IntVar(&w.version, "version", 1, "the version, a greater one is preferred")
	flag.DurationVar(&w.warmup, "warmup", 0, "how long it takes until this process can work")
	flag.DurationVar(&w.effort, "effort", time.Second, "how long a unit of work takes")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := open(ctx, w); err != nil {
		fmt.Fprintln(os.Stderr, "bluegreen:", err)
		os.Exit(1)
	}
}

func open(ctx context.Context, w worker) error {
	store, err := backend.Open(ctx, os.Getenv("TENURE_STORE"))
	if err != nil {
		return err
	}
	defer store.Close()
	return w.run(ctx, store)
}

// run takes part in the election until ctx ends.
func (w worker) run(ctx context.Context, store backend.LeaseStore) error {
	var ready atomic.Bool
	warm := time.AfterFunc(w.warmup, func() { ready.Store(true) })
	defer warm.Stop()
	e, err := elector.New(elector.Config{
		Store: store, Election: "bluegreen",
		Candidate: backend.Candidate{Description: backend.Description{App: "bluegreen", Version: strconv.Itoa(w.version)}},
		Listed:    true,
		Preference: elector.Preference{
			Priority: w.version,
			CanLead:  ready.Load,
		},
		Logger: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	if err != nil {
		return err
	}
	defer e.Close() //nolint:contextcheck // also when ctx has ended
	if err := e.Run(ctx, w.work); !errors.Is(err, context.Cause(ctx)) {
		return err
	}
	return nil // told to end, and did
}

// work does unit after unit. A unit that was begun is finished: the lease is renewed until then, for DrainTimeout at most.
func (w worker) work(ctx context.Context, term *elector.Term) error {
	for n := 1; ctx.Err() == nil; n++ {
		fmt.Fprintf(w.out, "version %d begins unit %d under token %d\n", w.version, n, term.Token().Value)
		<-time.After(w.effort)
		if !term.Valid() { // lost, not asked to step down: the unit counts for nothing
			return context.Cause(ctx)
		}
		fmt.Fprintf(w.out, "version %d has done unit %d\n", w.version, n)
	}
	return nil
}
