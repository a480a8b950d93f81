package sqlite_test

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/backend/sqlite"
)

func enlist(t *testing.T, s *sqlite.Store, election, candidate string, ttl time.Duration) {
	t.Helper()
	err := s.Enlist(t.Context(), backend.Entry{Election: election, Candidate: backend.Candidate{ID: candidate}, TTL: ttl})
	if err != nil {
		t.Fatal(err)
	}
}

func listed(t *testing.T, s *sqlite.Store, election string) []string {
	t.Helper()
	entries, err := s.Candidates(t.Context(), election)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, e := range entries {
		ids = append(ids, e.Candidate.ID)
	}
	return ids
}

// A candidate in another time namespace lives on the same host and is listed. After a restart of the host all are dead, and nobody is listed for longer than the TTL.
func TestEntriesOfAnotherBootEndByTheWallClock(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s := open(t, path)
	enlist(t, s, "e", "there", long)
	enlist(t, s, "e", "dead", long)
	enlist(t, s, "e", "own", long)
	alter(t, path, "UPDATE tenure_roster SET boot = 'another', expires_ns = 1 WHERE candidate = 'there'")
	alter(t, path, "UPDATE tenure_roster SET boot = 'another', expires_ns = 1 << 62, wall_us = ? WHERE candidate = 'dead'", time.Now().UnixMicro())
	alter(t, path, "UPDATE tenure_roster SET wall_us = 1 WHERE candidate = 'own'") // the wall clock was set: it has no part in entries of this boot
	if got := listed(t, s, "e"); !slices.Equal(got, []string{"own", "there"}) {
		t.Errorf("listed: %q", got)
	}
}

// Candidates that died without a word leave nothing behind, in no election.
func TestEntriesOfDeadCandidatesAreDropped(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s := open(t, path)
	for i := range 3 {
		enlist(t, s, fmt.Sprint("gone ", i), "dead", time.Millisecond)
		enlist(t, s, fmt.Sprint("gone ", i), "of another boot", long)
	}
	alter(t, path, "UPDATE tenure_roster SET boot = CASE election WHEN 'gone 1' THEN '' ELSE 'zzz' END, wall_us = 1 WHERE candidate = 'of another boot'")
	enlist(t, s, "e", "alive", long)
	alter(t, path, "UPDATE tenure_roster SET expires_ns = 1 WHERE candidate = 'dead'")
	enlist(t, s, "f", "alive", long)
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	var rows int
	if err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM tenure_roster").Scan(&rows); err != nil || rows != 2 {
		t.Errorf("%d rows, %v; want those of the two that live", rows, err)
	}
}

// Dropping the dead must stay cheap in a file with thousands of candidates: it happens at each Enlist.
func TestTheDeadAreFoundByAnIndex(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	open(t, path)
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	for _, query := range sqlite.DropEntries {
		for _, step := range plan(t, db, query) {
			if strings.HasPrefix(step, "SCAN") {
				t.Errorf("%s: %s", query, step)
			}
		}
	}
}

// plan lists what SQLite does for a query with two arguments.
func plan(t *testing.T, db *sql.DB, query string) []string {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+query, "boot", 1)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	var steps []string
	for rows.Next() {
		var id, parent, unused int
		var detail string
		if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
			t.Fatal(err)
		}
		steps = append(steps, detail)
	}
	if err := rows.Err(); err != nil || len(steps) == 0 {
		t.Fatalf("%d steps, %v", len(steps), err)
	}
	return steps
}
