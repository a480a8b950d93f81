package gocron_test

import (
	"context"
	"fmt"
	"time"

	"github.com/go-co-op/gocron/v2"

	tenure "github.com/tenure-go/tenure/adapter/gocron"
	"github.com/tenure-go/tenure/backend"
	_ "github.com/tenure-go/tenure/backend/memory"
	"github.com/tenure-go/tenure/elector"
)

// Each server has this job; one of them runs each tick, and the work is told if its lease is lost.
func Example() {
	store, err := backend.Open(context.Background(), "memory:gocron")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer store.Close()
	locker, err := tenure.NewLocker(elector.GateConfig{
		Elector: elector.Config{Store: store, Election: "jobs"},
		AtLeast: 30 * time.Second, // longer than the servers' clocks may differ
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer locker.Close()
	s, err := gocron.NewScheduler(gocron.WithDistributedLocker(locker))
	if err != nil {
		fmt.Println(err)
		return
	}
	reported := make(chan struct{})
	report := locker.Task("report", func(ctx context.Context, term *elector.Term) error {
		fmt.Println("under token", term.Token().Value, ctx.Err())
		close(reported)
		return nil
	})
	if _, err := s.NewJob(gocron.DurationJob(10*time.Millisecond), gocron.NewTask(report), gocron.WithName("report")); err != nil {
		fmt.Println(err)
		return
	}
	s.Start()
	<-reported
	_ = s.Shutdown()
	// Output: under token 1 <nil>
}
