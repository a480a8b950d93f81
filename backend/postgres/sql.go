package postgres

import (
	_ "embed" // the statements
	"strings"

	"github.com/jackc/pgx/v5"
)

// The statements, with {marks} for what differs between stores.
var (
	//go:embed sql/schema.sql
	schemaText string
	//go:embed sql/frame.sql
	frameText string
	//go:embed sql/get.sql
	getText string
	//go:embed sql/seed.sql
	seedText string
	//go:embed sql/acquire.sql
	acquireText string
	//go:embed sql/renew.sql
	renewText string
	//go:embed sql/renew_all.sql
	renewAllText string
	//go:embed sql/release.sql
	releaseText string
	//go:embed sql/raise.sql
	raiseText string
	//go:embed sql/forget.sql
	forgetText string
	//go:embed sql/elections.sql
	electionsText string
	//go:embed sql/roster_schema.sql
	rosterSchemaText string
	//go:embed sql/enlist.sql
	enlistText string
	//go:embed sql/prune.sql
	pruneText string
	//go:embed sql/delist.sql
	delistText string
	//go:embed sql/candidates.sql
	candidatesText string
	//go:embed sql/fence.sql
	fenceText string
)

// frame goes before the statements of each transaction.
var frame = plain(frameText)

// sign is a row's sign of life: everything that a grant, a renewal or a release changes.
const sign = `concat_ws(' ', token, attempt, renewals, {us lease_until}, released, server_epoch)`

// What tells one run of the server from the next, and a promoted replica from the primary that it replaces. Servers without a write-ahead log of their own to show, as some
// managed ones are, have only the first.
const (
	startEpoch    = `{us pg_postmaster_start_time()}::text`
	timelineEpoch = `left(pg_walfile_name(pg_current_wal_lsn()), 8) || '/' || ` + startEpoch
)

// statements are the texts of one store.
type statements struct {
	get, seed, acquire, renew, renewAll, release, raise, fence string
	forget, elections                                          string
	enlist, prune, delist, candidates                          string
}

func newStatements(schema, epoch string) statements {
	lease, roster := pgx.Identifier{schema, "tenure_lease"}.Sanitize(), pgx.Identifier{schema, "tenure_roster"}.Sanitize()
	fill := func(text string) string {
		return expand(strings.NewReplacer("{lease}", lease, "{roster}", roster, "{sign}", sign, "{epoch}", epoch).Replace(text))
	}
	return statements{
		get: fill(getText), seed: fill(seedText), acquire: fill(acquireText), renew: fill(renewText), renewAll: fill(renewAllText),
		release: fill(releaseText), raise: fill(raiseText), fence: fill(fenceText),
		forget: fill(forgetText), elections: fill(electionsText),
		enlist: fill(enlistText), prune: fill(pruneText), delist: fill(delistText), candidates: fill(candidatesText),
	}
}

// plain leaves the comments out, which the server would have to read each time.
func plain(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		code, _, _ := strings.Cut(strings.TrimSpace(line), "--")
		b.WriteString(code + " ")
	}
	return strings.TrimSpace(b.String())
}

// expand replaces each {us X} by X in whole microseconds since 1970.
func expand(text string) string {
	for {
		before, rest, found := strings.Cut(text, "{us ")
		if !found {
			return text
		}
		what, after, _ := strings.Cut(rest, "}")
		text = before + "(extract(epoch FROM " + what + ") * 1000000)::bigint" + after
	}
}
