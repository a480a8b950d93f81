// Package postgres keeps leases in a Postgres database: one row per election, changed by single statements.
//
//	store, err := backend.Open(ctx, "postgres://user:password@localhost:5432/app?prefix=billing")
//
// or, with a pool of your own:
//
//	store, err := postgres.New(pool, postgres.Options{Prefix: "billing"})
//
// # Guarantees
//
// All of the contract on one server with fsync on, and with replicas as long as only synchronous ones are promoted. A role's or database's synchronous_commit = off or local is overridden for leases.
// A commit for which the server stopped to wait for its replicas counts as unknown, see Notice.
//
// After a crash of the server, and after a replica was promoted, writes may be missing that somebody still trusts in. So each grant and each renewal notes the server's epoch, its time line and the
// time of its start. A row of another epoch, held, expired or free, is out of reach until a challenger has seen it unchanged for the longer of the row's TTL and its own. The
// holder's own renewals go on meanwhile; an election that is new to the database is granted at once. An asynchronous replica that is promoted may lack a grant: its holder is told not held at the next renewal, nobody else is
// granted within a TTL, and tokens grow on.
//
// With expiry=observed a lease ends when a challenger has seen no sign of life for its TTL on its own monotonic clock, whatever the server's clock does. Challengers obey what the
// record says, so that both kinds mix.
//
// Forget keeps that promise: a row of another epoch is forgotten only after this store has seen it unchanged for the longer of its TTL and 30 s. A fail-over may lose the grant that comes after Forget, as
// it may lose the first one of any election.
//
// Fence ties a transaction on the same database to a lease. Nobody else is granted the election before the transaction ends.
//
// # Storage
//
// Three tables in one schema, tenure_lease, tenure_roster and tenure_schema, and a trigger which notifies. The tables are made at the first use, or by Migrate; any number of processes may do so at once. There is one
// small row for each election ever used; nothing but Forget deletes it, since the counter must not go before the clock has passed it. Names appear as they are, but for a backslash or a zero byte. Losers read, they lock and write nothing; a renewal
// writes one row version in place and touches no index. A transaction that is open for hours anywhere in the database keeps such versions from being cleaned up.
//
// The roster, which lists candidates, is an unlogged table, empty after a crash of the server until they enlist again. Databases of an earlier release lack it: it is made when it is first used, or by Migrate. A
// store whose role may not make it says so with backend.ErrDenied, and its leases go on without. Rows of the dead are removed by whoever enlists in the same election, and everywhere by each
// store's first call on a roster.
//
// Elections reads a page in the order of the primary key, and looks through the names of the whole prefix for those with a zero byte, which have another order there.
//
// A store opened by URL has a small pool of its own, and one connection more for all its watches once there is one. A renewal is one request, a grant two: a look and a write. There are no named statements, so that
// it goes through PgBouncer in transaction mode.
//
// LISTEN doesn't go through that mode. Open looks at a server that answers within a second, and where a pooler swallows notifications Limits says timed: followers then wait for the lease's end. A
// server that is away at Open, and New, can't tell: Warnings do later. Set listen=0 or NoListen there, or give the server's own address.
//
// # Time
//
// Leases expire by the server's wall clock (clock_timestamp, read after the row's lock was had). If it steps forward, leases end early: say by how much it may step in clockstep, or use
// expiry=observed. A token is the counter plus one, but never below that clock in microseconds nor the claim's floor. Forget refuses a row whose counter the clock has not passed, as after a Raise or on a server
// whose clock is behind; from then on it is the clock alone that makes tokens grow.
//
// Each request carries the time that is left of its context as statement_timeout and lock_timeout, so that the server doesn't go on with what the caller has given up. A wait for synchronous
// replicas is not bounded by these, nor, before Postgres 17, a wait for the rest of a request whose client was cut off or frozen in the midst of sending it: the row stays locked until the server finds the
// connection dead, so set its tcp_keepalives_idle to a few seconds.
//
// # Permissions
//
// deploy/policies/postgres.sql: USAGE on the schema, SELECT on tenure_schema, and SELECT, INSERT and UPDATE on tenure_lease. Forget needs DELETE on tenure_lease too, and
// rosters need SELECT, INSERT, UPDATE and DELETE on tenure_roster; leases need neither. The role that makes the tables needs CREATE on the schema, and on
// the database if the schema isn't there.
//
// # URLs
//
//	postgres://user:password@host1:5432,host2/database?sslmode=verify-full&target_session_attrs=read-write
//
// The scheme is postgres or postgresql. With the meaning that they have in libpq: sslmode, sslrootcert, sslcert, sslkey, sslsni, sslnegotiation, channel_binding, target_session_attrs,
// connect_timeout, application_name, host (a folder with a socket, in a URL without hosts), passfile; and the environment variables PGPASSFILE, PGSSLMODE and their like. Other parameters:
//
//	prefix     parts elections of those who share a database; default tenure
//	schema     where the tables are; default public
//	pool       the number of connections, at least 2; default 4
//	timeout    for connecting, shared among the hosts, and for each call whose context ends later; default 5s
//	expiry     store: by the server's clock; observed: by what challengers see; default store
//	clockstep  by how much the server's clock may step forward within a TTL; default 0
//	listen     0: no connection for wake-ups
//	strict     1: Open fails when the server is away or when Warnings has anything to say
//
// # Limits
//
// TTLs from 100 ms to 365 days, in steps of 1 µs. Postgres 14 and later, in a database whose encoding is UTF8. Databases that only speak its protocol are not supported: the guarantees rest on its
// row locks.
//
// A transaction that holds an election's row locked, such as a forgotten one of an operator, makes renewals of that election fail as unknown; in a batch it doesn't hold up the others. A pool of
// the caller's is used as it is: its size, its hooks and its timeouts.
package postgres
