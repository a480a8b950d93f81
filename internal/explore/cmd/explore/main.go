// Command explore tries everything that can happen to a few candidates, as far as its bounds allow.
package main

import (
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/tenure-go/tenure/internal/explore"
)

func main() {
	w := explore.World{Rates: []int{-100, 0, 100}}
	flag.IntVar(&w.Candidates, "candidates", 2, "2 or 3")
	flag.IntVar(&w.Messages, "messages", 3, "how many are on their way at once")
	flag.IntVar(&w.TTL, "ttl", 3, "of the leases, in time steps")
	flag.IntVar(&w.Crashes, "crashes", 1, "of a process, which starts again")
	flag.IntVar(&w.Pauses, "pauses", 1, "of a process, of any length")
	flag.IntVar(&w.Losses, "losses", 1, "of messages, beside those for which there is no room")
	flag.IntVar(&w.Copies, "copies", 1, "of requests, which arrive a second time")
	flag.IntVar(&w.Most, "states", 300_000, "then the search ends")
	even := flag.Bool("even", false, "all clocks have the same rate")
	flag.Parse()
	if *even {
		w.Rates = []int{0}
	}
	w.Layer = func(depth, states int) { fmt.Fprintf(os.Stderr, "depth %d: %d states\n", depth, states) }
	begun := time.Now()
	r := explore.Search(w)
	fmt.Printf("%d candidates, %d messages, clock rates %v thousandths, %d crash, %d pause, %d loss, %d copy: %d states, %d steps, depth %d, fixpoint reached: %v, %v\n",
		w.Candidates, w.Messages, w.Rates, w.Crashes, w.Pauses, w.Losses, w.Copies, r.States, r.Steps, r.Depth, r.Fixpoint, time.Since(begun).Round(time.Millisecond))
	if r.Broken == "" {
		return
	}
	for _, line := range r.Trace {
		fmt.Println(line)
	}
	fmt.Println("broken:", r.Broken)
	os.Exit(1)
}
