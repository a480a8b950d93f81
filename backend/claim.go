package backend

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/tenure-go/tenure/fence"
)

// MaxToken is the greatest fencing token: every store keeps it exactly.
const MaxToken = fence.MaxValue

// FloorHeadroom is how far a Floor may lie above both the counter and the store's clock in microseconds. A floor beyond is a mistake that would use up all tokens.
const FloorHeadroom = 1 << 48

// Attempt identifies one attempt to lead: 128 random bits. See [fence.Attempt].
type Attempt = fence.Attempt

// Candidate is one incarnation of a participant. A restarted process is a new candidate.
type Candidate struct {
	// ID is unique among all candidates, 1 to MaxName bytes of UTF-8.
	ID string
	Description
}

// Description is what people and followers want to know of a candidate. All fields are optional; it decides nothing.
type Description struct {
	App     string `json:"app,omitempty"`
	Host    string `json:"host,omitempty"`
	Port    int    `json:"port,omitempty"`
	Version string `json:"version,omitempty"`
	Address string `json:"address,omitempty"` // where the candidate is reached, a URL or host:port
}

// String returns the description for people: "app version on host:port", as far as known.
func (d Description) String() string {
	s := d.App
	if d.Version != "" {
		s += " " + d.Version
	}
	if d.Host != "" {
		s += " on " + d.Host
		if d.Port != 0 {
			s += ":" + strconv.Itoa(d.Port)
		}
	}
	return s
}

// Encode returns the text under which stores keep a description.
func (d Description) Encode() string {
	text, err := json.Marshal(d)
	if err != nil {
		panic("backend: a description of strings and a number can't fail to encode: " + err.Error())
	}
	return string(text)
}

// DecodeDescription reads what [Description.Encode] wrote. A text that it can't read gives the zero Description: a description decides nothing.
func DecodeDescription(text string) Description {
	var d Description
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		return Description{}
	}
	return d
}

// Claim is a request to lead an election.
type Claim struct {
	Election  string
	Candidate Candidate
	TTL       time.Duration
	// Attempt is kept over all Acquire calls of one campaign until one of them is granted, and never used again after that.
	Attempt Attempt
	// Abandoned lists attempts of the same candidate that were given up without knowing whether they were granted: a live lease of one of them
	// doesn't stand in this claim's way.
	Abandoned []Attempt
	// Seen is the counter as last read, when known.
	Seen Seen
	// Floor is the highest token that the candidate has seen; a new token is greater. Zero: none.
	Floor int64
}

// Seen is a counter that was read earlier, or nothing: the zero value is "not known".
type Seen struct {
	Counter int64
	Known   bool
}

// SeenAt returns a known counter.
func SeenAt(counter int64) Seen { return Seen{Counter: counter, Known: true} }

// NextToken is the rule by which every store makes the token of a new grant: above the counter, above the floor, and not below the store's own
// lower bound (zero if it has none). ok is false when the tokens are used up.
func NextToken(counter, floor, bound int64) (token int64, ok bool) {
	token = max(counter+1, floor+1, bound)
	return token, token <= MaxToken
}

// FloorInRange reports whether a store with the given counter and clock may accept floor.
func FloorInRange(floor, counter int64, now time.Time) bool {
	return floor >= 0 && floor <= max(counter, now.UnixMicro())+FloorHeadroom
}
