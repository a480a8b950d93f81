package explore

import (
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/clock"
	"github.com/tenure-go/tenure/internal/core"
)

// World is what is explored.
type World struct {
	Candidates int                     // 2 or 3
	Messages   int                     // on their way at once, at most; what would be one more is lost
	TTL        int                     // in quanta
	Rates      []int                   // of the clocks, in thousandths more or less: of each candidate and of the store, in all combinations
	Crashes    int                     // of a process, which then starts again under another name
	Pauses     int                     // of a process, of any length
	Losses     int                     // of messages, beside those for which there is no room
	Copies     int                     // of requests, which arrive a second time, whenever
	Unheard    bool                    // a belief may outlive its lease at the store: only another believer is an offence
	Most       int                     // states; then the search ends
	Bug        Bug                     // planted, to see it found
	Layer      func(depth, states int) // told of each layer, nil: nobody
}

// quantum is the length of the time steps. Waits after failures, at most 25 ms at first, then come out as one quantum at most, whatever their number.
const quantum = 20 * time.Millisecond

// Bug changes what goes into a machine, what comes out, or how it is configured. Action, of a reply, is what was asked.
type Bug struct {
	Name   string
	Config func(*core.Config)
	In     func(in *core.Input, asked *core.Action)
	Out    func([]core.Action) []core.Action
}

// drift is ρ, as all know it, in millionths.
func (w *World) drift() (ppm int64) {
	for _, r := range w.Rates {
		ppm = max(ppm, int64(max(r, -r))*1000)
	}
	return ppm
}

func (w *World) ttl() time.Duration { return time.Duration(w.TTL) * quantum }

func (w *World) config(id string) core.Config {
	cfg := core.Config{
		Election: "e", Candidate: backend.Candidate{ID: id},
		TTL: w.ttl(), RenewInterval: w.ttl() / 3, AttemptTimeout: quantum, DrainTimeout: 2 * quantum,
		Margins: core.Margins{Safety: time.Millisecond, StepDown: quantum / 2, DriftPPM: w.drift()},
	}
	if w.Bug.Config != nil {
		w.Bug.Config(&cfg)
	}
	return cfg
}

// pace is how far a clock gets in a quantum.
func pace(rate int16) int64 { return int64(quantum) / 1000 * (1000 + int64(rate)) }

// origin is where clocks begin: anywhere well above zero.
const origin = int64(time.Hour)

func reading(at int64, rate int16) clock.Reading {
	now := origin + at*pace(rate)
	return clock.Reading{Mono: now, Boot: now, Wall: now, HasBoot: true}
}
