package memory

import (
	"sync"
	"time"

	"github.com/tenure-go/tenure/internal/record"
)

// Server holds the records of all its clients. The zero value is ready; it must not be copied after first use.
type Server struct {
	mu        sync.Mutex
	elections map[string]*record.Entry
	floor     int64 // the highest counter of a forgotten election
	watchers  map[string]map[*watcher]struct{}
	rosters   map[string]map[string]listed // by election and candidate
	swept     int64                        // when entries that had run out were last dropped
	start     time.Time
	offset    time.Duration
}

// NewServer returns an empty server.
func NewServer() *Server { return new(Server) }

// StepClock moves the server's clock by d against all others, for tests of what a stepped clock does to leases.
func (s *Server) StepClock(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.offset += d
}

// Remove deletes an election's record, as an operator would who knows no better. The counter stays, so tokens still
// grow; stores whose record holds the counter rest on their clock then.
func (s *Server) Remove(election string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.elections[election]; e != nil {
		*e = record.Entry{Counter: e.Counter}
		s.wake(election)
	}
}

// clock is the server's time; callers hold mu. It counts from the first call by time.Now's monotonic reading.
func (s *Server) clock() record.Clock {
	if s.start.IsZero() {
		s.start = time.Now()
	}
	now := s.start.Add(time.Since(s.start) + s.offset)
	c := record.Clock{Now: now.UnixNano(), Wall: now}
	if s.floor > 0 {
		c.Bound = s.floor + 1
	}
	return c
}

// Plant marks an election's record as moved to another store (unless moved is empty) and as written in the given format, as a bridge or a later
// release would.
func (s *Server) Plant(election, moved string, version int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.entry(election)
	e.MovedTo, e.Version = moved, version
	s.wake(election)
}

// entry returns the election's entry, made if need be; callers hold mu.
func (s *Server) entry(election string) *record.Entry {
	e := s.elections[election]
	if e == nil {
		if s.elections == nil {
			s.elections = make(map[string]*record.Entry)
		}
		e = new(record.Entry)
		s.elections[election] = e
	}
	return e
}

// wake tells the watchers of an election; callers hold mu.
func (s *Server) wake(election string) {
	for w := range s.watchers[election] {
		w.wake(true)
	}
}
