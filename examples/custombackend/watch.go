package custombackend

import (
	"context"
	"time"

	"github.com/tenure-go/tenure/backend"
)

// lookEvery is how often a watch looks at its file. A server would tell; don't poll one.
const lookEvery = 100 * time.Millisecond

// Watch implements backend.LeaseStore.
func (s *Store) Watch(ctx context.Context, election string) (<-chan struct{}, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.isClosed() {
		return nil, backend.ErrClosed
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	seen, err := s.look(election) // before Watch returns: what changes from then on is noticed
	if err != nil {
		return nil, err
	}
	wake := make(chan struct{}, 1) // room for one, which stands for any number
	s.watches.Go(func() { s.watch(ctx, election, seen, wake) })
	return wake, nil
}

func (s *Store) watch(ctx context.Context, election string, seen mark, wake chan<- struct{}) {
	defer close(wake)
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.closed:
			return
		case <-tick.C:
		}
		now, err := s.look(election)
		if err != nil {
			now = mark{unread: true} // the first look that succeeds wakes
		}
		if now != seen && err == nil {
			select {
			case wake <- struct{}{}:
			default: // one is waiting; never wait for the receiver
			}
		}
		seen = now
	}
}

// mark is what differs after a change that wakes: a grant, a release, a removal, a move; not a renewal.
type mark struct {
	token            int64
	attempt, movedTo string
	released, unread bool
}

// look needs no lock: a file is replaced as a whole.
func (s *Store) look(election string) (mark, error) {
	e, err := read(s.file(election), election)
	return mark{token: e.Token, attempt: e.Attempt, movedTo: e.MovedTo, released: e.Released}, err
}
