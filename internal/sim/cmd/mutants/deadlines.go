package main

// deadlines are mistakes in how long a lease is believed in, and by which clock.
var deadlines = []mutant{
	{
		name: "the first deadline is counted from the reply", file: "campaign.go",
		old: "anchor := e.Sent.Earlier(l.AnchorAge)",
		new: "anchor := m.now.Earlier(l.AnchorAge)",
	},
	{
		name: "a renewed deadline is counted from the reply", file: "renew.go",
		old: "anchor := e.Sent.Earlier(e.Lease.AnchorAge)",
		new: "anchor := m.now.Earlier(e.Lease.AnchorAge)",
	},
	{
		name: "the anchor's age is ignored at a grant", file: "campaign.go",
		old: "anchor := e.Sent.Earlier(l.AnchorAge)",
		new: "anchor := e.Sent",
	},
	{
		name: "the anchor's age is ignored at a renewal", file: "renew.go",
		old: "anchor := e.Sent.Earlier(e.Lease.AnchorAge)",
		new: "anchor := e.Sent",
	},
	{
		name: "the work is not told to end before belief ends", file: "lease.go",
		old: "return hard - m.StepDown, hard",
		new: "return hard, hard",
	},
	{
		name: "the step-down margin is added, not taken off", file: "lease.go",
		old: "return hard - m.StepDown, hard",
		new: "return hard, hard + m.StepDown",
	},
	{
		name: "no allowance for steps of the store's clock", file: "lease.go", world: "wall",
		old: "left := int64(ttl - m.Step)",
		new: "left := int64(ttl)",
	},
	{
		name: "elapsed time goes by the monotonic clock alone", file: "term.go",
		old: "return clock.Elapsed(m.term.anchor, m.now) }",
		new: "return time.Duration(m.now.Mono - m.term.anchor.Mono) }",
	},
	{
		name: "elapsed time goes by the wall clock alone", file: "term.go",
		old: "return clock.Elapsed(m.term.anchor, m.now) }",
		new: "return time.Duration(m.now.Wall - m.term.anchor.Wall) }",
	},
	{
		name: "a flag instead of a clock: belief holds until it is taken back", file: "term.go",
		old: "Hard: int64(t.hard - gone)}",
		new: "Hard: never}",
	},
	{
		name: "belief is published anew in full at each look", file: "term.go",
		old: "Soft: int64(t.soft - gone), Hard: int64(t.hard - gone)}",
		new: "Soft: int64(t.soft - gone + gone), Hard: int64(t.hard)}",
	},
}
