// Package etcd keeps leases in an etcd cluster: each is a key bound to an etcd lease, granted and released by transactions.
//
//	store, err := backend.Open(ctx, "etcd://a:2379,b:2379,c:2379?prefix=billing")
//
// or, with a client of your own:
//
//	store, err := etcd.New(client, etcd.Options{Prefix: "billing"})
//
// # Guarantees
//
// All of the contract, also while members crash, hang or are cut off, as long as no majority loses its disks. [Store.Compare] binds a transaction of your own on the
// same cluster to one term: the one place where a deposed leader's write is refused by the store itself.
//
// A wake-up follows each grant, each release, each end by expiry, and each removal by hand. A member that hangs costs a part of a call's time: the request is sent to the next
// one as well. Give all members, and a TTL of 5 s or more, so that a lease outlives the election of another leader of the cluster.
//
// When etcd's space quota is used up (alarm NOSPACE), leaders keep their leases until the cluster elects another leader, but nobody can acquire, and a release fails, since the election could have no successor: it
// then ends by expiry. The error says what to do.
//
// # Storage
//
// Three keys for each election, prefix and name percent-escaped:
//
//	prefix/name/leader    token and attempt of the present term, on an etcd lease: it is there while the election is held
//	prefix/name/counter   the counter, and all about the last term, in JSON; no etcd lease, deleted by Forget alone
//	prefix/name/reserved  for whom the election is kept, on an etcd lease of its own; there while a reservation runs
//
// Besides, where no name of an election reaches:
//
//	prefix/~roster/name/candidate  an entry of the election's roster, in JSON, on an etcd lease of its own
//	prefix/~floor                  the highest counter of all elections that were forgotten; there after the first, never deleted
//
// An election without a counter is granted its first token above the floor, by a transaction which compares that too: so a claim from before Forget can't come true after it, and as long as nothing is
// forgotten it takes no request more.
//
// An entry that is enlisted again as it is writes nothing: its etcd lease is refreshed. Close leaves entries to their time.
//
// Each grant gets an etcd lease of its own, which a single renewal refreshes. Leases that are renewed together (backend.RenewAll) move to shared ones, 120 keys each, so that
// a thousand of them take nine refreshes and nine reads. An etcd lease is refreshed only by a call that renews everything on it: what is no longer renewed ends at its time,
// whoever shared its lease. A claim whose outcome stays unknown leaves its etcd lease to itself, so that a grant which comes late ends within a TTL.
//
// Renewals don't write: no entry in etcd's log, and Record.Renewals stays zero. The exception is the first one after the cluster has elected another leader, which moves the key
// to a new etcd lease. For a member that led, was frozen and goes on may revoke leases that it takes for expired, though its successor keeps them alive (seen on etcd 3.7.3); it
// doesn't know the new ones.
//
// # Time
//
// etcd counts whole seconds, on its leader's monotonic clock: no wall clock decides anything. It looks for leases that have ended twice a second. When the cluster elects
// another leader all leases begin their TTL anew, so that a dead holder is followed up to a TTL and an election time-out later. Record.Remaining is rounded up to seconds.
// Record.Age compares the wall clocks of two hosts, and is for display.
//
// A leader key that somebody has put by hand, without an etcd lease, would stay for ever. Its holder binds it again at the next renewal; if there is none, the others take over
// when they haven't seen it change for a TTL.
//
// A restored snapshot brings old counters back. Restore with --bump-revision and --mark-compacted, and let tokens grow on from the claim's floor (the elector passes the
// highest token that it has seen), or from Raise.
//
// # Permissions
//
// Read and write on the prefix, for rosters, lists and Forget too, see deploy/policies/etcd.sh:
//
//	etcdctl role grant-permission --prefix billing readwrite billing/
//
// A store opened by URL logs in when its token has ended. The driver of a client of your own logs in for each renewal, which costs the cluster a password hash and a write.
//
// # URLs
//
//	etcd://user:password@host1:2379,host2,host3    etcds:// with TLS
//
// Parameters:
//
//	prefix   parts elections of those who share a cluster; default tenure
//	timeout  for connecting, and for calls whose context has no deadline; default 2s
//	ping     silence after which the stream of the watches is asked for a sign of life; default 10s
//	strict   1: Open asks the cluster, and fails when it is away, refuses user and password, or when Warnings has anything to say
//	cacert   etcds only: file with the authority that has signed the members' certificates; default the system's
//	cert     etcds only: file with the client's own certificate; read again for each connection
//	key      etcds only: file with its key
//
// The cluster is connected to when it is first needed: Open succeeds while it is away. The first call that succeeds is followed by a look at the members, for Warnings.
//
// # Limits
//
// TTLs from 2 s to 365 days, in steps of 1 s. A cluster with longer election time-outs keeps no shorter TTL than one and a half of them: a claim for less is refused, with the
// range. A reservation, and an entry of a roster, lasts 2 s at least; when the cluster elects another leader entries begin their time anew, as leases do. Elections reads
// the names of all keys for each page. Proxies and namespaces of the driver are not supported: use the prefix.
package etcd
