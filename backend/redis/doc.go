// Package redis keeps leases in a Redis server: one hash per election, changed by Lua scripts.
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
// A wake-up follows each grant and each release. A record that somebody removes by hand (DEL, FLUSHALL) makes none: its holder notices at the next renewal, and others
// see the next grant.
//
// # Storage
//
// The record of an election is the hash {prefix:db:name}:lease, its changes are published on {prefix:db:name}:changes; prefix and name are percent-escaped. The braces keep
// both on one node of a cluster. There is one small hash for each name ever used, and it has no Redis TTL: keys with a TTL are evicted under volatile-* policies, and the
// counter must never go. Scripts use commands that Redis 6.2 and later, Valkey and Dragonfly have.
//
// A store opened by URL keeps a few connections of its own, and one more for all its watches once there is one.
//
// # Time
//
// Leases expire by the server's wall clock, read inside of the scripts in microseconds. If it steps forward, leases end early; say by how much it may step in clockstep. A
// token is the counter plus one, but never below that clock nor the claim's floor, so that tokens grow even when the record is lost.
//
// # Permissions
//
// A user for the prefix "billing" and database 0:
//
//	ACL SETUSER billing on >password resetkeys ~{billing:0:*}:lease resetchannels &{billing:0:*}:changes -@all
//	    +eval +evalsha +time +hmget +hlen +hset +persist +publish +subscribe +unsubscribe +ping +info
//	    +select                                                    for databases other than 0
//	    +cluster|slots +cluster|shards +command +asking +readonly  for a cluster
//
// Without +publish wake-ups are missing and followers wait for the lease's end; without +info Warnings knows less.
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
//	timeout       for dialling, and for reads and writes where the context has no earlier deadline; default 2s
//	pool          the number of connections; default 4
//	ping          silence after which the connection of the watches is checked; default 20s
//	clockstep     by how much the server's clock may step forward within a TTL; default 0
//	strict        1: Open asks the server, and fails when it is away or when Warnings has anything to say
//	db            redis+sentinel only: the database; default 0
//	sentinelauth  redis+sentinel only; 1: the sentinels want the same user and password
//	tls           redis+sentinel and redis+cluster; 1: connect with TLS
//
// The server is dialled when it is first needed: Open succeeds while it is away. The first call that succeeds is followed by a look at its settings, for Warnings.
//
// # Limits
//
// TTLs from 100 ms to 365 days, in steps of 1 ms. Servers in which several masters accept writes (active replicas of KeyDB) are refused.
//
// A client of the caller's is used as it is. If it repeats calls or ignores contexts, Warnings says so. A cancelled context never interrupts the driver: the call returns,
// its connection comes free at the client's ReadTimeout.
package redis
