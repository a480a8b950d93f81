package consul

import (
	"context"
	"fmt"
	"time"

	"github.com/tenure-go/tenure/backend"
)

// Get implements backend.LeaseStore.
func (s *Store) Get(ctx context.Context, election string) (backend.Record, error) {
	v, err := s.look(ctx, election)
	if err != nil {
		return backend.Record{}, err
	}
	return v.record(), nil
}

// Raise implements backend.TokenRaiser. It writes the counter key alone, so that beats and fences of a living lease go on.
func (s *Store) Raise(ctx context.Context, election string, token int64) error {
	return s.settle(ctx, election, func(v *view) error {
		if token <= 0 || token > backend.MaxToken || !backend.FloorInRange(token, v.counter.Highest, time.Now()) {
			return fmt.Errorf("%w: token %d is out of range or far above the counter %d", backend.ErrInvalid, token, v.counter.Highest)
		}
		if token <= v.counter.Highest {
			return nil
		}
		raised := v.counter
		raised.Highest = max(token, v.ground())
		_, err := s.apply(ctx, append(v.grounded(s.names), swap(s.names.counter(election), v.counterIndex, raised))...)
		return err
	})
}
