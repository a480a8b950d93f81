package main

// renewals are mistakes with renewals and their replies.
var renewals = []mutant{
	{
		name: "renewals overlap", file: "renew.go",
		old: "t.renewal = m.request(Action{Kind: DoRenew, Lease: l}, timeout)",
		new: "t.renewal = m.request(Action{Kind: DoRenew, Lease: l}, timeout)\n\tm.request(Action{Kind: DoRenew, Lease: l}, timeout)",
	},
	{
		name: "a common beat renews what is being renewed", file: "renew.go",
		old: "if t.renewal == 0 && t.renewAt-m.now.Mono <= int64(m.cfg.RenewInterval/2) {\n\t\t\tt.renewAt = min(t.renewAt, m.now.Mono)",
		new: "if t.renewAt-m.now.Mono <= int64(m.cfg.RenewInterval/2) {\n\t\t\tt.renewAt, t.renewal = min(t.renewAt, m.now.Mono), 0",
	},
	{
		name: "a reply to an earlier term's renewal counts", file: "renew.go",
		old: "if t.renewal == 0 || e.Request != t.renewal {",
		new: "if e.Request == 0 {",
	},
	{
		name: "an unknown outcome is taken for a loss", file: "renew.go",
		old: "default:\n\t\tm.renewalFailed(e.Err)",
		new: "default:\n\t\tm.renewalRefused(e.Err)",
	},
	{
		name: "a loss is taken for an unknown outcome", file: "renew.go",
		old: "case backend.NotHeld, backend.Moved:\n\t\tt.gone = true",
		new: "case backend.Moved:\n\t\tt.gone = true",
	},
	{
		name: "an unknown outcome moves the deadline", file: "renew.go",
		old: "t.failures++\n}",
		new: "t.failures++\n\tt.anchor = m.now\n\tm.believe()\n}",
	},
	{
		name: "another lease's renewal counts", file: "renew.go",
		old: "if e.Lease.Election != t.lease.Election || e.Lease.Token != t.lease.Token || e.Lease.Attempt != t.lease.Attempt || e.Lease.Holder != t.lease.Holder || e.Lease.AnchorAge < 0 {",
		new: "if e.Lease.AnchorAge < 0 {",
	},
	{
		name: "the TTL that was granted counts, however long", file: "renew.go",
		old: "m.cfg.Margins.Deadlines(min(m.cfg.TTL, e.Lease.TTL))",
		new: "m.cfg.Margins.Deadlines(2 * e.Lease.TTL)",
	},
	{
		name: "renewals go on after a loss", file: "machine.go",
		old: "case Following, Lost, Overrun:\n\t\t}",
		new: "case Lost:\n\t\t\tm.term.soft = m.term.hard\n\t\t\tm.advanceRenewal()\n\t\tcase Following, Overrun:\n\t\t}",
	},
	{
		name: "the first renewal is due when the lease has ended", file: "campaign.go",
		old: "renewAt: anchor.Mono + int64(m.cfg.RenewInterval),",
		new: "renewAt: anchor.Mono + int64(m.cfg.TTL),",
	},
}
