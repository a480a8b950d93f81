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
		name: "guards that can't be reached are waited for for ever", file: "seal.go",
		old: "t.sealBy = t.anchor.Mono + int64(m.cfg.TTL)",
		new: "t.sealBy = never",
	},
}
