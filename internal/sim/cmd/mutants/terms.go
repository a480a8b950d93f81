package main

// terms are mistakes of a leader, up to the return of its work.
var terms = []mutant{
	{
		name: "the deadline passes unnoticed until belief ends", file: "term.go",
		old: "if gone >= t.soft {",
		new: "if gone >= t.hard {",
	},
	{
		name: "an event is looked at before the clock", file: "machine.go",
		old: "m.passTime()\n\tm.take(in.Event)",
		new: "m.take(in.Event)\n\tm.passTime()",
	},
	{
		name: "work is not told that its term is lost", file: "term.go",
		old: "m.notify(Notice{Kind: NoteLost, Token: t.lease.Token, Err: cause})\n\tm.do(Action{Kind: DoEndWork, Term: t.id, Err: cause})",
		new: "m.notify(Notice{Kind: NoteLost, Token: t.lease.Token, Err: cause})",
	},
	{
		name: "work is not told to end at a resignation", file: "term.go",
		old: "m.notify(Notice{Kind: NoteDraining, Token: t.lease.Token, Err: cause})\n\tm.do(Action{Kind: DoEndWork, Term: t.id, Err: cause})",
		new: "m.notify(Notice{Kind: NoteDraining, Token: t.lease.Token, Err: cause})",
	},
	{
		name: "new work may begin while the old is told to end", file: "term.go",
		old: "Leading: m.state == Leading, Anchor",
		new: "Leading: true, Anchor",
	},
	{
		name: "a drain has no end", file: "term.go",
		old: "t.drainBy = m.in(m.cfg.DrainTimeout)",
		new: "t.drainBy = never",
	},
	{
		name: "nothing is renewed while the work ends", file: "term.go",
		old: "t.drainBy = m.in(m.cfg.DrainTimeout)",
		new: "t.drainBy = m.in(m.cfg.DrainTimeout)\n\tt.renewAt = never",
	},
	{
		name: "the next campaign begins while the work goes on", file: "term.go",
		old: "m.do(Action{Kind: DoOverrun, Term: t.id, Lease: t.lease, Err: t.cause})\n",
		new: "m.do(Action{Kind: DoOverrun, Term: t.id, Lease: t.lease, Err: t.cause})\n\t\tm.startCampaign(0)\n",
	},
	{
		name: "no campaign after a loss", file: "term.go",
		old: "t.again = m.hasWork()",
		new: "t.again = false",
	},
	{
		name: "a member of a group that has resigned never serves again", file: "term.go",
		old: "t.again, t.stay = true, m.cfg.Cooldown\n",
		new: "t.again, t.stay = false, m.cfg.Cooldown\n",
	},
	{
		name: "a member of a group whose work failed never serves again", file: "term.go",
		old: "m.mode == Serve && failure != nil",
		new: "m.mode == Serve && failure == nil",
	},
	{
		name: "what was handed over or kept free is forgotten", file: "term.go",
		old: "case e.Handover.To != \"\":",
		new: "case e.Handover.For < 0:",
	},
}
