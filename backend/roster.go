package backend

import (
	"context"
	"fmt"
	"time"
	"unicode/utf8"
)

// MaxNote is the greatest length of an Entry's Note, in bytes.
const MaxNote = 4096

// Roster is an optional interface of stores which list who takes part in an election. Being listed decides nothing about leases: a store may forget entries, and lists one that has died for a while.
//
// Each sentence that says "must" is checked by the conformance suite, as "Roster".
type Roster interface {
	// Enlist lists e for e.TTL from now on. A repeat with the same election, list and candidate must replace the entry and begin its time anew.
	Enlist(ctx context.Context, e Entry) error
	// Delist must take a candidate's entry off the list. It must return nil also where there is none.
	Delist(ctx context.Context, election, candidate string) error
	// Candidates must return the entries of an election whose time has not run out, ordered by the candidates' IDs, as of a moment within the call. An entry must be listed for its TTL and must be gone
	// after TTL + RosterLag. A list must not be mixed up with that of an election of another name, and must neither create an election's record nor be changed by leases.
	Candidates(ctx context.Context, election string) ([]Entry, error)
}

// RosterLag is how long after its TTL an entry may still be listed: the sessions of one store live for up to twice their TTL, which is 10 s at least.
const RosterLag = 20 * time.Second

// Entry is what a roster lists of a candidate.
type Entry struct {
	Election  string
	Candidate Candidate
	// Note is what the candidate publishes, up to MaxNote bytes of UTF-8. Stores keep it as it is.
	Note string
	// TTL is for how long the entry is listed, counted from the call; above zero and at most a day. A store may round it up to whole seconds.
	TTL time.Duration
}

// mostListed is the longest TTL of an entry.
const mostListed = 24 * time.Hour

func (e Entry) check() error {
	if err := CheckName("election", e.Election); err != nil {
		return err
	}
	if err := CheckName("candidate's ID", e.Candidate.ID); err != nil {
		return err
	}
	switch {
	case len(e.Note) > MaxNote:
		return fmt.Errorf("%w: the note of %d bytes is longer than %d", ErrInvalid, len(e.Note), MaxNote)
	case !utf8.ValidString(e.Note):
		return fmt.Errorf("%w: the note is not valid UTF-8", ErrInvalid)
	case e.TTL <= 0 || e.TTL > mostListed:
		return fmt.Errorf("%w: an entry for %v; it must be for more than zero and at most %v", ErrInvalid, e.TTL, mostListed)
	}
	return nil
}

// Enlist passes to the store's own Enlist; a store without a roster says so with ErrInvalid.
func (w *wrapped) Enlist(ctx context.Context, e Entry) error {
	err := e.check()
	if err == nil {
		_, err = optional(ctx, w, func(ctx context.Context, r Roster) (none, error) { return none{}, r.Enlist(ctx, e) })
	}
	return w.fail("enlist", e.Election, err)
}

// Delist passes to the store's own Delist.
func (w *wrapped) Delist(ctx context.Context, election, candidate string) error {
	err := CheckName("election", election)
	if err == nil {
		err = CheckName("candidate's ID", candidate)
	}
	if err == nil {
		_, err = optional(ctx, w, func(ctx context.Context, r Roster) (none, error) { return none{}, r.Delist(ctx, election, candidate) })
	}
	return w.fail("delist", election, err)
}

// Candidates passes to the store's own Candidates.
func (w *wrapped) Candidates(ctx context.Context, election string) ([]Entry, error) {
	if err := CheckName("election", election); err != nil {
		return nil, w.fail("candidates", election, err)
	}
	entries, err := optional(ctx, w, func(ctx context.Context, r Roster) ([]Entry, error) { return r.Candidates(ctx, election) })
	return entries, w.fail("candidates", election, err)
}
