package main

// seals are mistakes between the grant and the beginning of the work.
var seals = []mutant{
	{
		name: "the work begins before all guards are sealed", file: "seal.go",
		old: "if !t.seals[i].done {\n\t\t\treturn",
		new: "if t.seals[i].request == 0 && !t.seals[i].done {\n\t\t\treturn",
	},
	{
		name: "no guard is sealed", file: "seal.go",
		old: "if m.cfg.Guards == 0 {",
		new: "if m.cfg.Guards >= 0 {",
	},
	{
		name: "a seal that failed is taken for done", file: "seal.go",
		old: "m.campaign.trouble = t.err\n\t\treturn",
		new: "m.campaign.trouble, s.done = t.err, true",
	},
	{
		name: "a guard that knows a higher token is not outbid", file: "seal.go",
		old: "m.floor = max(m.floor, stale.Mark.Value)",
		new: "m.floor = max(m.floor, 0)",
	},
	{
		name: "guards that can't be reached are waited for for ever", file: "seal.go",
		old: "t.sealBy = t.anchor.Mono + int64(m.cfg.TTL)",
		new: "t.sealBy = never",
	},
	{
		name: "a guard that refuses is outbid again and again at once", file: "seal.go",
		old: "stay = m.backoff(n, m.cfg.TTL)",
		new: "stay = 0",
	},
}
