package memory

import (
	"context"
	"slices"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/record"
)

// Elections implements backend.Lister.
func (s *Store) Elections(ctx context.Context, after string, limit int) ([]string, error) {
	var names []string
	err := s.within(ctx, func(server *Server, _ record.Clock) error {
		for name, e := range server.elections {
			if name > after && *e != (record.Entry{}) { // a look makes an empty one
				names = append(names, name)
			}
		}
		return nil
	})
	slices.Sort(names)
	return names[:min(limit, len(names))], err
}

// Forget implements backend.Forgetter. The tokens of all elections go on above the counter of the forgotten one.
func (s *Store) Forget(ctx context.Context, r backend.Record) error {
	return s.within(ctx, func(server *Server, c record.Clock) error {
		counter, err := server.entry(r.Election).Forget(r, c)
		if err != nil {
			return err
		}
		server.floor = max(server.floor, counter)
		delete(server.elections, r.Election)
		server.wake(r.Election)
		return nil
	})
}
