// Package core is the elector's logic as a pure state machine: given its state, an event and a look at the clocks, it says what to do. It does no I/O, starts no
// goroutine, reads no clock and draws no random number: all of these come in with the event. So the same code runs in production, in a simulator that replays a seed exactly,
// and in a replay of what was recorded on a real store.
//
//	          want                granted               all guards sealed
//	Following ───▶ Campaigning ───────────▶ Sealing ───────────────────────▶ Leading
//	    ▲             ▲   ▲                    │ no seal in time               │  │
//	    │             │   └── Quarantined ◀────┤                        resign │  │ lost, or soft deadline
//	    │  lost       │                        ▼            work returned      ▼  ▼
//	    └─────────────┴──────────────── Releasing ◀──────────────────── Draining  Lost
//	                                           ▲                               │  │ hard deadline, work not back
//	                                           └──────── Overrun ◀─────────────┴──┘
//
// Rules that hold in every state:
//
//   - Time passes before an event is looked at: a reply that arrives after the deadline is no renewal.
//   - Deadlines are counted from the start of the request that moved the lease's expiry, never from its reply, and go by a clock that counts suspend.
//   - Waits before an attempt to take over go by the monotonic clock.
//   - A lease is released only after the work that it protects has returned. If the work doesn't return, nothing is released.
//   - A term is (election, token, attempt). Replies carry the number of their request; a reply to a request of an earlier term does nothing to a later one.
//   - An error that is not a definite answer of the store neither extends belief nor ends it before its deadline.
package core
