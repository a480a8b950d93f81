// Package redis keeps leases in a Redis server, with Sentinel, or in a cluster: one hash per election, changed by Lua scripts.
//
//	store, err := backend.Open(ctx, "redis://:password@localhost:6379/0?prefix=billing")
//
// or, with a client of your own:
//
//	store, err := redis.New(client, redis.Options{Prefix: "billing"})
//
// # Guarantees
//
// All of the contract on one server that doesn't lose acknowledged writes: appendonly yes with appendfsync always. The default persistence, and every replica that is
// promoted, may lose the last writes. A live lease that was lost is granted to another at once, and both lead until the first one's next renewal, which answers
// backend.ErrNotHeld. Tokens still grow then (see Time), so guards at the resources refuse the first one.
//
// With wait=N each grant and each renewal waits until N replicas have it in memory. Where fewer acknowledge in time, a grant is taken back, and a renewal stands; the caller is told
// how many did, and that the outcome is unknown. That makes the loss rarer, not impossible: a promoted replica may be one that didn't acknowledge. A master that was cut off
// from its replicas grants and renews nothing then. In a cluster, wait=N can't follow a record whose slot is on its way to another node: it is neither granted nor renewed until the
// slot has arrived.
//
// A wake-up follows each grant, each release and each Forget. A record that somebody removes by hand (DEL, FLUSHALL) makes none: its holder notices at the next renewal, and others
// see the next grant.
//
// # Storage
//
// The record of an election is the hash {prefix:db:name}:lease, its changes are published on {prefix:db:name}:changes; prefix and name are percent-escaped. The braces keep
// both on one node of a cluster. There is one small hash for each name ever used, and it has no Redis TTL: keys with a TTL are evicted under volatile-* policies, and the
// counter must not go before the clock has passed it, see Forget. Scripts use commands that Redis 6.2 and later, Valkey and Dragonfly have.
//
// The candidates of an election that are listed are the hash {prefix:db:name}:roster, a field each. It has a Redis TTL, to the end of its longest entry: a roster may be lost at any time, and one that
// nobody uses any more shall leave nothing behind.
//
// Elections goes through all keys of the database with SCAN, for each page anew, at all masters of a cluster at the same time, in steps of 1000 that let others in between.
// Ask for many names at once.
//
// Many leases are renewed by one script for each 100 of them, which keeps the server from other work for about 3 ms; in a cluster, where each election has a slot of its
// own, by one pipeline for each node.
//
// A store opened by URL keeps a few connections of its own, and one more for all its watches once there is one.
//
// # Time
//
// By default (expiry=store) leases expire by the server's wall clock, read inside of the scripts in microseconds. If it steps forward, leases end early; say by how much it may
// step in clockstep. If it steps back, whatever it would keep for longer than its TTL ends like an observed lease.
//
// With expiry=observed no wall clock matters. A lease ends when a challenger takes it, and a challenger may do so when it has seen no sign of life, which each renewal changes, for the holder's
// TTL on its own monotonic clock; the script compares that sign again. So a candidate that sees a dead holder for the first time waits for one TTL from then on. The mode stands in
// the record, and challengers obey it and the holder's TTL whatever their own URL says.
//
// A token is the counter plus one, but never below the server's clock in microseconds nor the claim's floor, so that tokens grow even when the record is lost. So they do over Forget, which refuses a record
// whose counter that clock has not passed, as after a Raise or on a server whose clock is behind; from then on it is the clock alone that makes them grow. The last attempt is forgotten too: a late copy
// of an old Acquire may be granted once more, and keeps the election for a TTL.
//
// # Permissions
//
// The files deploy/policies/redis.acl and redis-cluster.acl have the rules of a user who may do what a store does and nothing else, in the form of Redis' aclfile. Put in the user's name,
// its password, the prefix and the database's number (both as they stand in keys: the prefix percent-escaped).
//
// Without the right to a command or to the keys that scripts use, calls fail with backend.ErrDenied. These rights are for comfort, or for one parameter:
//
//	+publish, the channels         else followers wait for the lease's end
//	+ping, +unsubscribe            else watches are woken without need
//	+info, +config|get             else Warnings knows less
//	+wait                          for wait=N
//	the rosters' keys, +hgetall,
//	+hrandfield, +hdel, +pttl,
//	+pexpire                       for Enlist, Delist and Candidates
//	+scan                          for Elections; it shows the names of all keys of the database, also those of others
//	+del                           for Forget
//	+select                        for databases other than 0
//
// # URLs
//
//	redis://user:password@host:6379/0                        one server; rediss:// with TLS
//	redis+sentinel://user:password@host1,host2/master?db=0   what Sentinel calls master; hosts are sentinels, by default on port 26379
//	redis+cluster://user:password@host1,host2                a cluster, found through any of its nodes
//
// Parameters:
//
//	prefix        parts elections of those who share a server; default tenure
//	expiry        who decides that a lease has ended: store (the default), or observed; see Time
//	wait          how many replicas must acknowledge grants and renewals; default 0
//	timeout       for dialling, and for reads and writes where the context has no earlier deadline; default 2s
//	pool          the number of connections; default 4
//	ping          silence after which the connection of the watches is checked; default 20s
//	clockstep     by how much the server's clock may step forward within a TTL; default 0
//	strict        1: Open asks the server, and fails when it is away or when Warnings has anything to say
//	db            redis+sentinel only: the database; default 0
//	sentinelauth  redis+sentinel only; 1: the sentinels want the same user and password
//	tls           redis+sentinel and redis+cluster; 1: connect with TLS, to sentinels too
//	cacert        with TLS: a PEM file of the authorities to trust; default: the system's
//	cert, key     with TLS: PEM files of the client's own certificate
//
// The server is dialled when it is first needed: Open succeeds while it is away. The first call that succeeds is followed by a look at its settings, for Warnings, at every
// master of a cluster: its version and role, an eviction policy that takes keys without a TTL, what it writes to disk, whether a master that is cut off from its
// replicas goes on, too few replicas for wait, and its clock.
//
// # Limits
//
// TTLs from 100 ms to 365 days, in steps of 1 ms. Servers in which several masters accept writes (active replicas of KeyDB) are refused once they are known as such, which is
// after the first call; with strict=1 before it.
//
// Elections may miss a record which a cluster moves to another node meanwhile; through a client that is neither a *redis.Client nor a *redis.ClusterClient it is refused, since what such a client
// tells may be a part. An entry of a roster is listed up to its TTL, and is lost where the server loses data.
//
// A client of the caller's is used as it is. If it repeats calls or ignores contexts, Warnings says so. A cancelled context never interrupts the driver: the call returns,
// its connection comes free at the client's ReadTimeout.
//
// The driver has one logger for the whole process, which writes to standard error. A server that is away makes no lines there, sentinels that are away do, without secrets;
// see SetLogger of go-redis. After Close a client of redis+sentinel whose sentinels were away may keep one goroutine for up to a second.
package redis
