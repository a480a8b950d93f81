package elector

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/core"
)

// EventKind names a transition.
type EventKind string

// Kinds of events. Started and Stopped strictly alternate, one each per term.
const (
	Campaigning EventKind = EventKind(core.NoteCampaigning) // a campaign has begun
	NewLeader   EventKind = EventKind(core.NoteLeader)      // another leader was seen, or with an empty Holder that nobody leads
	Sealing     EventKind = EventKind(core.NoteSealing)     // elected; the guards are being told
	Started     EventKind = EventKind(core.NoteStarted)     // the term's work begins
	Renewed     EventKind = EventKind(core.NoteRenewed)     // the term's deadline has moved
	Suspect     EventKind = EventKind(core.NoteSuspect)     // a renewal failed; the leader goes on until its deadline
	Draining    EventKind = EventKind(core.NoteDraining)    // stepping down on purpose: the work is told to end, the lease still renewed
	Lost        EventKind = EventKind(core.NoteLost)        // stepped down against its will
	Overran     EventKind = EventKind(core.NoteOverrun)     // the work outlives its lease
	Stopped     EventKind = EventKind(core.NoteStopped)     // the term's work has returned
	StayingAway EventKind = EventKind(core.NoteQuarantined) // no campaign for a while
	Failed      EventKind = EventKind(core.NoteFailed)      // a request to store or guard failed and will be tried again
	Left        EventKind = "left"                          // a group takes no part in the election any more: its work is done, or it can't ever be granted; Err is why
	ClockJump   EventKind = EventKind(core.NoteClockJump)   // wall and monotonic clock disagree: a suspend, or a clock that was set
)

// Event tells one transition of an elector.
type Event struct {
	Kind     EventKind
	Time     time.Time // when it happened
	Election string
	Token    int64             // of the term or leader in question; zero if none
	Holder   backend.Candidate // NewLeader, Sealing, Started: who leads
	Err      error             // why
}

var levels = map[EventKind]slog.Level{
	Started: slog.LevelInfo, Stopped: slog.LevelInfo, NewLeader: slog.LevelInfo, Draining: slog.LevelInfo,
	Suspect: slog.LevelWarn, Lost: slog.LevelWarn, Failed: slog.LevelWarn, StayingAway: slog.LevelWarn, ClockJump: slog.LevelWarn,
	Overran: slog.LevelError, Left: slog.LevelInfo,
	Renewed: slog.LevelDebug, Campaigning: slog.LevelDebug, Sealing: slog.LevelDebug,
}

// relay delivers events in order on a goroutine of its own, which lives while there are any. Put never blocks.
type relay struct {
	deliver func(Event)

	mu    sync.Mutex
	queue []Event
	busy  chan struct{} // closed when the queue has run empty; nil while nothing is delivered
}

func (r *relay) put(e Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.queue = append(r.queue, e)
	if r.busy == nil {
		r.busy = make(chan struct{})
		go r.run(r.busy)
	}
}

func (r *relay) run(done chan struct{}) {
	defer close(done)
	for {
		r.mu.Lock()
		events := r.queue
		r.queue = nil
		if len(events) == 0 {
			r.busy = nil
			r.mu.Unlock()
			return
		}
		r.mu.Unlock()
		for _, e := range events {
			r.deliver(e)
		}
	}
}

// drained returns a channel that is closed when everything put so far has been delivered.
func (r *relay) drained() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.busy != nil {
		return r.busy
	}
	done := make(chan struct{})
	close(done)
	return done
}

// wants reports that somebody is to be told an event of this kind: with thousands of elections it costs something to put it down.
func (c Config) wants(kind EventKind) bool {
	return c.Events != nil || c.Logger.Enabled(context.Background(), levels[kind])
}

// deliver logs an event and tells the subscriber.
func (c Config) deliver(e Event) {
	attrs := []any{slog.String("election", e.Election), slog.String("candidate", c.Candidate.ID)}
	if e.Token != 0 {
		attrs = append(attrs, slog.Int64("token", e.Token))
	}
	if e.Kind == NewLeader {
		attrs = append(attrs, slog.String("holder", e.Holder.ID))
	}
	if e.Err != nil {
		attrs = append(attrs, slog.Any("error", e.Err))
	}
	c.Logger.Log(context.Background(), levels[e.Kind], "elector: "+string(e.Kind), attrs...) //nolint:sloglint // the kinds are constants
	if c.Events != nil {
		c.Events(e)
	}
}
