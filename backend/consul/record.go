package consul

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/fence"
)

// state says whether the last term goes on.
type state string

const (
	held     state = "held"
	released state = "released"
)

// leader is the value of an election's leader key.
type leader struct {
	Version     int                 `json:"version"`
	State       state               `json:"state,omitempty"`
	Mode        backend.Mode        `json:"mode,omitempty"`
	Holder      string              `json:"holder,omitempty"` // stays after a release
	Description backend.Description `json:"description,omitzero"`
	Token       int64               `json:"token,omitempty"`
	Attempt     attempt             `json:"attempt,omitzero"`
	TTL         millis              `json:"ttl_ms,omitempty"`
	Granted     int64               `json:"granted_ms,omitempty"` // by the holder's wall clock, for display
	ReservedTo  string              `json:"reserved_to,omitempty"`
	Reserved    millis              `json:"reserved_ms,omitempty"`
	MovedTo     string              `json:"moved_to,omitempty"`
}

// UnmarshalJSON implements json.Unmarshaler. Of a later format it reads the version alone.
func (l *leader) UnmarshalJSON(text []byte) error {
	var version struct{ Version int }
	if err := json.Unmarshal(text, &version); err != nil {
		return err
	}
	*l = leader{Version: version.Version}
	switch {
	case version.Version < 1:
		return errForeign
	case version.Version > backend.Version:
		return nil
	}
	type plain leader
	return json.Unmarshal(text, (*plain)(l))
}

// beat is the value of its beat key: every grant and every renewal makes it another. Consul skips a write of the value that is there, and moves no index then.
type beat struct {
	Attempt  attempt `json:"attempt"`
	Token    int64   `json:"token"`  // so that each of the three keys knows it, whichever are removed
	TTL      millis  `json:"ttl_ms"` // the present one, which a renewal may change
	Renewals int64   `json:"renewals"`
	Repeats  int64   `json:"repeats,omitempty"` // of the claim, which extend the lease too
}

// counter is the value of its counter key.
type counter struct {
	Highest int64  `json:"highest"` // granted or raised
	Granted int64  `json:"granted"` // zero: there was no grant yet
	TTL     millis `json:"ttl_ms"`  // of the last grant
}

// millis is a duration as records keep it.
type millis int64

// inMillis rounds up.
func inMillis(d time.Duration) millis {
	return millis((d + time.Millisecond - 1) / time.Millisecond)
}

func (m millis) span() time.Duration { return time.Duration(m) * time.Millisecond }

// attempt is a backend.Attempt as records keep it.
type attempt backend.Attempt

// MarshalText implements encoding.TextMarshaler.
func (a attempt) MarshalText() ([]byte, error) { return []byte(backend.Attempt(a).String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (a *attempt) UnmarshalText(text []byte) error {
	parsed, err := fence.ParseAttempt(string(text))
	*a = attempt(parsed)
	return err
}

// encode can't fail: the values are made of strings and numbers.
func encode(value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		panic("consul: a record of strings and numbers can't fail to encode: " + err.Error())
	}
	return text
}

// decode reads a value of ours.
func decode(key string, text []byte, value any) error {
	if err := json.Unmarshal(text, value); err != nil {
		return foreign(key)
	}
	return nil
}

// foreign is the error for a key with a value that is not ours. Nothing overwrites it.
func foreign(key string) error {
	return fmt.Errorf("%w: the key %s holds something that is not a lease record; choose another prefix", errForeign, key)
}
