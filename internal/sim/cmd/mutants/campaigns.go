package main

// campaigns are mistakes of those who don't lead.
var campaigns = []mutant{
	{
		name: "a claim doesn't say what it has seen", file: "campaign.go",
		old: "Abandoned: m.abandoned(), Seen: c.seen, Floor: m.floor,",
		new: "Abandoned: m.abandoned(), Floor: m.floor,",
	},
	{
		name: "every campaign has the same attempt", file: "machine.go",
		old: "binary.LittleEndian.PutUint64(a[8:], m.rand[1])",
		new: "a = backend.Attempt{}",
	},
	{
		name: "a lost reply to a claim is forgotten", file: "campaign.go",
		old: "c.unsure = c.unsure || c.asked",
		new: "c.unsure = false",
	},
	{
		name: "an attempt that may have led is used on", file: "campaign.go",
		old: "if c := m.campaign; c.unsure && counter != c.seen.Counter {",
		new: "if c := m.campaign; c.unsure && counter < 0 {",
	},
	{
		name: "an older leader is taken for a newer one", file: "campaign.go",
		old: "if r.Token < m.leader.token || r.Token",
		new: "if r.Token",
	},
	{
		name: "a lost record is not noticed", file: "campaign.go",
		old: "lost := r.Counter < m.counter",
		new: "lost := r.Counter < 0",
	},
	{
		name: "no wait after a lost record", file: "campaign.go",
		old: "m.barred = m.in(max(m.leader.ttl, m.cfg.TTL) + Lag(m.cfg.TTL))",
		new: "m.barred = m.in(Lag(m.cfg.TTL))",
	},
	{
		name: "a single try does not wait after a lost record", file: "campaign.go",
		old: "if m.now.Mono < m.barred && m.mode == Try {\n\t\tm.finish(ErrRecordLost)\n\t\treturn\n\t}\n\tif c.request != 0 || m.now.Mono < max(c.next, m.barred) {",
		new: "if c.request != 0 || m.now.Mono < c.next || m.mode != Try && m.now.Mono < m.barred {",
	},
	{
		name: "no timer net: only wake-ups call for a look", file: "campaign.go",
		old: "c.next = m.in(min(wait, ttl, time.Duration(never/2)) + Lag(ttl))",
		new: "c.next = never",
	},
	{
		name: "no backoff", file: "machine.go",
		old: "return m.jitter(Ceiling(n, most))",
		new: "return 0",
	},
	{
		name: "backoff grows without bound", file: "machine.go",
		old: "return min(25*time.Millisecond<<min(n, 20), most)",
		new: "return 25 * time.Millisecond << min(n, 20)",
	},
	{
		name: "wake-ups that tell nothing are believed for ever", file: "campaign.go",
		old: "if n := m.campaign.futile; n >= Patience {",
		new: "if n := m.campaign.futile; n < 0 {",
	},
}
