package robfig_test

import (
	"context"
	"fmt"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/tenure-go/tenure/adapter/robfig"
	"github.com/tenure-go/tenure/backend"
	_ "github.com/tenure-go/tenure/backend/memory"
	"github.com/tenure-go/tenure/elector"
)

// Each server has this entry; one of them runs it.
func Example() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	store, err := backend.Open(ctx, "memory:robfig")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer store.Close()
	gate, err := elector.NewGate(elector.GateConfig{
		Elector: elector.Config{Store: store, Election: "report"},
		AtLeast: 500 * time.Millisecond, // a minute or so for an hourly job
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer gate.Close()
	c := cron.New()
	reported := make(chan struct{}, 100)
	report := robfig.Work(func(context.Context, *elector.Term) error {
		reported <- struct{}{}
		return nil
	})
	if _, err := c.AddJob("@every 1s", cron.NewChain(robfig.Wrapper(ctx, gate, nil)).Then(report)); err != nil {
		fmt.Println(err)
		return
	}
	c.Start()
	<-reported
	<-c.Stop().Done()
	fmt.Println("reported")
	// Output: reported
}
