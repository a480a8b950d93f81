package backend

import "context"

// LeaseStore keeps leases. Implementations must be safe for concurrent use and keep the numbered contract of the package comment.
type LeaseStore interface {
	// Acquire tries once to get the election for c.Candidate, without waiting for another holder. It returns
	// *HeldError (errors.Is ErrHeld) with the present record when another attempt holds the election or it is reserved for another candidate,
	// ErrNotHeld when c.Attempt was granted before and its lease has ended, and ErrOutdated when c.Seen is known and no longer true.
	Acquire(ctx context.Context, c Claim) (Lease, error)

	// Renew extends l by l.TTL from now and returns it with the TTL now granted. It returns ErrNotHeld when the lease is expired,
	// released or another's.
	Renew(ctx context.Context, l Lease) (Lease, error)

	// Release ends l at once. The zero Handover frees the election for everybody; otherwise it stays reserved, see Handover. It returns ErrNotHeld
	// when there is nothing to release.
	Release(ctx context.Context, l Lease, h Handover) error

	// Get reads the election's record. An election that never had a holder has the zero record but for its name.
	Get(ctx context.Context, election string) (Record, error)

	// Watch reports changes of the election: after it has returned, each later change is followed by at least one receive. Look
	// with Get after each one: a wake-up carries no content, may be spurious, and stands for any number of changes.
	// The channel is closed when ctx ends or the store is closed.
	Watch(ctx context.Context, election string) (<-chan struct{}, error)

	// Limits tells what this store can keep and what its guarantees rest on. It does no I/O and may be called after Close.
	Limits() Limits

	// Close ends all watches and frees what Open made; a client given to a constructor stays open. Later calls return ErrClosed. Leases are not
	// released. A second Close returns nil.
	Close() error
}

// Unwrapper is implemented by a store which decorates another one.
type Unwrapper interface {
	Unwrap() LeaseStore
}

// As finds the first store in the chain s, s.Unwrap(), … that implements T, an optional interface such as [TokenRaiser].
func As[T any](s LeaseStore) (T, bool) {
	for s != nil {
		if t, ok := s.(T); ok {
			return t, true
		}
		u, ok := s.(Unwrapper)
		if !ok {
			break
		}
		s = u.Unwrap()
	}
	var none T
	return none, false
}

// TokenRaiser is an optional interface of stores whose counter can be lifted without a grant, for example after a move from another store.
type TokenRaiser interface {
	// Raise sets the election's counter to at least token. It is idempotent, and leaves a live lease, its token and its attempt alone. A token far above everything
	// that the store knows is refused with ErrInvalid, as a Floor is.
	Raise(ctx context.Context, election string, token int64) error
}

// Warner is an optional interface of stores which look at their server's or file's settings when they are opened or first used. The elector does not log the warnings; a program asks:
//
//	if w, ok := backend.As[backend.Warner](store); ok {
//		for _, text := range w.Warnings() {
//			log.Print(text)
//		}
//	}
type Warner interface {
	// Warnings lists settings that endanger leases, each as one sentence that says what to change. It does no I/O.
	Warnings() []string
}
