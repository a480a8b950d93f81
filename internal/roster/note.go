// Package roster is what candidates and operators tell each other through a store's roster, and the decision whom an election should be handed over to. It is pure: time is an argument.
package roster

import (
	"encoding/json"
	"fmt"

	"github.com/tenure-go/tenure/backend"
)

// Note is what an entry says: how a candidate stands by, or what an operator asks for. The other one is nil.
type Note struct {
	Standing *Standing `json:"standing,omitempty"`
	Request  *Request  `json:"request,omitempty"`
}

// Standing is how a candidate stands by.
type Standing struct {
	Priority   int               `json:"priority,omitempty"`
	Ready      bool              `json:"ready,omitempty"` // it can lead
	Resting    bool              `json:"resting,omitempty"`
	Since      int64             `json:"since_ms,omitempty"` // Unix time by the candidate's own clock, for display
	Attributes map[string]string `json:"attributes,omitempty"`
}

// Request asks the leader under Token to step down. Of each term at most one is obeyed; a later term has another token.
type Request struct {
	Token   int64  `json:"token"`
	To      string `json:"to,omitempty"`      // the successor; empty: anybody
	Away    int64  `json:"away_ms,omitempty"` // for how long the leader doesn't campaign after that; zero: as it likes
	By      string `json:"by,omitempty"`
	Reason  string `json:"reason,omitempty"`
	Refused string `json:"refused,omitempty"` // the leader's answer, if it doesn't
}

// Encode returns the text of a note. It returns an error that wraps backend.ErrInvalid when that is longer than a store keeps.
func (n Note) Encode() (string, error) {
	text, err := json.Marshal(n)
	if err == nil && len(text) > backend.MaxNote {
		err = fmt.Errorf("%w: a note of %d bytes; at most %d can be listed", backend.ErrInvalid, len(text), backend.MaxNote)
	}
	return string(text), err
}

// Decode reads what Encode wrote. Another's text gives the zero Note: an entry of which nothing is known.
func Decode(text string) Note {
	var n Note
	if err := json.Unmarshal([]byte(text), &n); err != nil {
		return Note{}
	}
	return n
}

// Kept reports that a store has a roster. It looks through wrappers, which have the methods whatever is in them.
func Kept(s backend.LeaseStore) bool {
	for s != nil {
		_, has := s.(backend.Roster)
		u, wraps := s.(backend.Unwrapper)
		if !wraps {
			return has
		}
		s = u.Unwrap()
	}
	return false
}
