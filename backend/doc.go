// Package backend is the contract between the elector and the stores that keep its leases.
//
// A store grants an election to one candidate at a time, for a TTL, under a fencing token, and keeps time by its own clock. Everything else
// (when to renew, when to stop believing, whom to tell) is the elector's part. Users open a store by URL:
//
//	store, err := backend.Open(ctx, "redis://localhost:6379/0?prefix=billing")
//
// or make one from a client that they already have, with the constructor in the store's package. Store packages register their URL schemes when
// they are imported; package backend/all imports them all.
//
// # Contract
//
// Each sentence below that says "must" is checked by the conformance suite under its number. T is the TTL granted.
//
// S1 exclusive. By the store's clock, two unexpired leases of one election must never exist.
//
// S2 token. The token of each new grant must be greater than every earlier token of that election and than Claim.Floor, whatever lies between:
// release, expiry, a restart of the store. The counter is a field of its own, outlives the lease and must never be reset or deleted.
// Tokens lie between 1 and [MaxToken]. Where a store can lose acknowledged data, its Limits say on what the growth of tokens rests.
//
// S3 idempotent acquire. A repeat with the same Attempt, while its lease lives, must give the same token and extend the lease. A live record of another attempt
// is held, whoever the candidate: the same candidate with another attempt must get [ErrHeld], unless that attempt is listed in
// Claim.Abandoned. Once the election's last lease has ended, its attempt must never be granted again ([ErrNotHeld]); records
// need not remember older attempts, which Seen refuses. If Claim.Seen is known, a new grant must be refused
// with [ErrOutdated] when the counter is not the one seen. So a late copy of an old call can't bring back a finished term.
//
// S4 renew. Renew must extend only a live lease with equal holder, token and attempt; for an expired, released or foreign one it must return
// [ErrNotHeld], also when nobody else has taken it. An expired lease is never revived.
//
// Where Limits.Expiry is Observed or Beat, a lease ends when a challenger takes it, and until then its holder may renew or release it.
//
// S5 release. Release must free only its own lease, and the next Acquire must then succeed at once. It must return nil when this attempt's lease is
// released, also by an earlier call, and ErrNotHeld otherwise. A Lease with Token 0 stands for whatever token its attempt was granted.
//
// S6 expiry. A lease must not end before T has passed by the store's clock, and must be grantable to another within T + Limits.ExpiryLag. Where
// Limits.Expiry is Observed or Beat, to one that has looked (Acquire or Get) since the last renewal.
//
// S7 watch. After Watch has returned, each later change of the election that a store makes (grant, release; not renewal) must be followed by at least one receive; a wake-up must follow each
// reconnect. Wake-ups are coalesced and may be spurious. The channel must be closed when ctx ends or the store is closed.
//
// S8 get. Get must tell holder, token, counter and remaining time as of a moment within the call. A free election has an empty holder and the last token.
//
// S9 errors. Only ErrHeld, ErrNotHeld, ErrOutdated, ErrMoved, ErrVersion, ErrInvalid and ErrClosed mean that nothing was changed. Every other error of Acquire, Renew or Release
// must be taken as unknown: the call may have been applied. [ErrDenied] marks those that name missing credentials.
//
// S10 context. Every call must return within 100 ms of its context's end. Close must leave no goroutine, connection or lease timer behind.
//
// S11 names. Any UTF-8 name of 1 to [MaxName] bytes must be safe and isolated from every other name; others must be refused with ErrInvalid.
//
// S12 TTL. A TTL that the store can't keep exactly must be rounded up and reported in Lease.TTL; one outside of Limits.MinTTL and
// Limits.MaxTTL must be refused with ErrInvalid and an error text that tells the range.
//
// S13 batch. Renewing many leases at once must equal renewing each: one lost lease must not harm the others.
//
// Anchor. Acquire and Renew must report success only if a request that was sent within the call moved the record's expiry to at least the call's start + T.
// A store that must answer from an older refresh says how much older in Lease.AnchorAge.
//
// Stores may implement more: [BatchRenewer], [TokenRaiser], [Notifier], [Roster], [Lister], [Forgetter]. Find them with [As]; what they must keep stands there.
//
// # Who does what
//
// [Wrap] adds to every store what must be the same in all of them: names, TTL ranges and rounding, time-outs that hold, closing, and the one error wrapper
// [*OpError]. A store implements the rest and returns raw errors. [Open] and the elector wrap; to wrap twice is harmless.
//
// # Time
//
// Durations are time.Duration; a store keeps at least milliseconds. No store uses the wall clock of a candidate for anything but display.
package backend
