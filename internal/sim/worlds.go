package sim

import (
	"slices"
	"time"

	"github.com/tenure-go/tenure/internal/core"
)

// World is a model of a store with settings, and what they promise.
type World struct {
	Name string
	Text string
	// Breaks lists invariants which don't hold in this world. All others must.
	Breaks []Invariant
	// Sees lists what must be seen in it sooner or later: the checker can see.
	Sees []Invariant

	build      func(*server) model
	features   feature
	forced     []Kind        // always in the plan
	step       time.Duration // σ, in the margins
	jump       time.Duration // the server's wall clock may be set by this instead
	marginless bool
	boundWatch bool          // a watch dies with its connection
	slower     time.Duration // a fail-over may take this much longer
	rare       bool          // it takes many seeds to see what it is there to show
	share      int           // of all seeds, in 100
}

// Worlds are all worlds. Each seed belongs to one.
var Worlds = []World{
	{Name: "linear", Text: "one server that loses nothing; tokens are counted", build: func(s *server) model { return &linear{s: s} }, share: 20},
	{Name: "clocked", Text: "the same, with tokens that are never below the server's clock; once all have seen the record, it may be lost", features: isForgetful, share: 8, build: clocked},
	{
		Name: "notify", Text: "one server whose watches die with their connection", boundWatch: true, share: 8,
		build: func(s *server) model { return &linear{s: s} },
	},
	{
		Name: "wall", Text: "leases expire by the server's wall clock, which is set by no more than the margins allow for", step: 250 * ms, features: onWall, share: 10,
		build: func(s *server) model { return &walled{linear{s: s, clocked: true}} },
	},
	{
		Name: "raft", Text: "a cluster that elects leaders, begins TTLs anew then, and asks a quorum at each renewal", features: isRaft, share: 14,
		build: func(s *server) model { return &raft{linear: linear{s: s}} },
	},
	{
		Name: "session", Text: "sessions whose TTL is a lower bound, and a lock-delay as long as a TTL", features: hasSessions, slower: 40 * s, share: 8,
		build: func(s *server) model { return newSession(s, int64(10*time.Second)) },
	},
	{
		Name: "beat", Text: "leases end only for those who have watched them; wall clocks mean nothing", share: 14, slower: 10 * s,
		build: func(s *server) model { return &beat{linear{s: s}} },
	},

	{
		Name: "wall set (V2, V4)", Text: "the server's wall clock is set forward by more than a lease", features: onWall, forced: []Kind{StoreClockSet}, jump: 15 * s, share: 2,
		Breaks: []Invariant{I1, I1a, I7, StalePassed}, Sees: []Invariant{I1}, slower: 30 * s, build: func(s *server) model { return &walled{linear{s: s, clocked: true}} },
	},
	{
		Name: "replica (V1, V3)", Text: "an asynchronous replica is promoted inside of a lease; tokens are never below the clock", features: isReplicated,
		forced: []Kind{Promotion, ReplicaLag}, share: 2, Breaks: []Invariant{I1, I1a, I7, I8, I12}, Sees: []Invariant{I1}, slower: 10 * s,
		build: func(s *server) model { return &replicated{linear{s: s, clocked: true}} },
	},
	{
		Name: "replica, counted tokens (V1)", Text: "the same with tokens that are only counted", features: isReplicated, forced: []Kind{Promotion, ReplicaLag, Crashed, Herd}, share: 2,
		Breaks: []Invariant{I1, I1a, I2, I7, I8, I10, I11, I12}, Sees: []Invariant{I1, I2}, slower: 10 * s, build: func(s *server) model { return &replicated{linear{s: s}} },
	},
	{
		Name: "naive raft (V6)", Text: "a cluster whose old leader's word is taken for a renewal", features: isRaft, forced: []Kind{StaleLeader}, share: 2,
		Breaks: []Invariant{I1, I1a}, Sees: []Invariant{I1}, build: func(s *server) model { return &raft{linear: linear{s: s}, naive: true} },
	},
	{
		Name: "restored (V7)", Text: "a store that is restored from a backup without raising its counters", features: isRestored, forced: []Kind{Restored}, share: 2,
		Breaks: []Invariant{I1, I1a, I2, I7, I8, I10, I11, I12}, Sees: []Invariant{I1, I2, TwinPassed}, rare: true, slower: 10 * s, build: func(s *server) model { return &linear{s: s} },
	},
	{
		Name: "no lock-delay (V8)", Text: "sessions that are killed, without a lock-delay", features: hasSessions, forced: []Kind{SessionKilled, LateWrites}, share: 2,
		Breaks: []Invariant{I1, I1a}, Sees: []Invariant{I1, StalePassed}, slower: 20 * s, build: func(s *server) model { return newSession(s, 0) },
	},
	{
		Name: "operator", Text: "somebody deletes the leader's record", features: hasOperator, forced: []Kind{LeaderDeleted}, share: 2,
		Breaks: []Invariant{I1, I1a}, Sees: []Invariant{I1}, build: func(s *server) model { return &linear{s: s, clocked: true} },
	},
	{
		Name: "drift (V10)", Text: "clock rates beyond the budget", features: isDrifting, forced: []Kind{RateBeyond, StoreCut}, share: 2,
		Breaks: []Invariant{I1, I1a}, Sees: []Invariant{I1}, slower: 20 * s, build: func(s *server) model { return &linear{s: s} },
	},
	{
		Name: "no margin (V10)", Text: "margins of nothing; clock rates at the limits of the usual budget", marginless: true, forced: []Kind{StoreCut, Paused, Tries}, share: 2,
		Breaks: []Invariant{I1, I1a}, Sees: []Invariant{I1, I1a}, rare: true, build: func(s *server) model { return &linear{s: s} },
	},
}

func clocked(s *server) model { return &linear{s: s, clocked: true} }

func newSession(s *server, delay int64) model {
	return &session{linear: linear{s: s}, delay: delay, closed: make([]int64, s.w.elections)}
}

// worldOf draws the world of a seed, or finds it by name.
func worldOf(seed uint64, name string) *World {
	d := newDice(seed, "world")
	at := int(d.upTo(100))
	for i := range Worlds {
		at -= Worlds[i].share
		if name == "" && at < 0 || name != "" && Worlds[i].Name == name {
			return &Worlds[i]
		}
	}
	return &Worlds[0]
}

func (w *World) breaks(i Invariant) bool { return slices.Contains(w.Breaks, i) }

// margins are the defaults of package elector.
func (w *World) margins(ttl time.Duration) core.Margins {
	if w.marginless {
		return core.Margins{}
	}
	return core.Margins{Safety: max(ttl/20, 100*ms), StepDown: ttl / 10, DriftPPM: 2000, Step: w.step}
}
