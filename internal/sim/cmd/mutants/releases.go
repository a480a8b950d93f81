package main

// releases are mistakes with leases that are given back, or ought to be.
var releases = []mutant{
	{
		name: "a lease is given back before its work has ended", file: "term.go",
		old: "m.notify(Notice{Kind: NoteDraining, Token: t.lease.Token, Err: cause})\n\tm.do(Action{Kind: DoEndWork, Term: t.id, Err: cause})",
		new: "m.notify(Notice{Kind: NoteDraining, Token: t.lease.Token, Err: cause})\n\tm.do(Action{Kind: DoEndWork, Term: t.id, Err: cause})\n\tm.startRelease()",
	},
	{
		name: "a lease is given back at its end although the work goes on", file: "term.go",
		old: "m.do(Action{Kind: DoOverrun, Term: t.id, Lease: t.lease, Err: t.cause})\n",
		new: "m.do(Action{Kind: DoOverrun, Term: t.id, Lease: t.lease, Err: t.cause})\n\t\tm.startRelease()\n",
	},
	{
		name: "a lease is not given back", file: "release.go",
		old: "if m.term.gone {",
		new: "if !m.term.gone || m.term.gone {",
	},
	{
		name: "a lease that nobody wants is forgotten", file: "orphan.go",
		old: "m.orphans = append(m.orphans, orphan{lease: l, until: m.in(l.TTL)})",
		new: "",
	},
	{
		name: "a lease that nobody wants is never given back", file: "orphan.go",
		old: "o.request = m.request(Action{Kind: DoRelease, Lease: o.lease}, m.cfg.AttemptTimeout)",
		new: "o.request = 1 << 62",
	},
	{
		name: "a claim given up is forgotten", file: "campaign.go",
		old: "if c.asked && c.request == 0 {",
		new: "if c.asked && c.request != 0 {",
	},
	{
		name: "the reply to a claim given up is forgotten", file: "campaign.go",
		old: "case backend.OK:\n\t\tm.orphan(e.Lease)",
		new: "case backend.OK:",
	},
}
