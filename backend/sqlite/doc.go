// Package sqlite keeps leases in one SQLite file, for the processes of one host. It needs no server and no C compiler.
//
//	store, err := backend.Open(ctx, "sqlite:///var/lib/app/leader.db")
//
// # Guarantees
//
// All of the contract, for processes of one host. The rules are those of the memory store; each call applies them in one transaction, under SQLite's write
// lock (BEGIN IMMEDIATE). The time is read after the lock was got, so a renewal that waited past its lease's end is refused. A refused Acquire only reads.
//
// The store follows the path, not the open file. When the file, its -wal or its -shm is removed or replaced, the next call opens what is there now, and a lease that isn't in
// it is not held any more: a leader learns at its next renewal that it leads no longer, rather than renewing for ever in a file that nobody else sees. Until then
// two may believe that they lead, as with every record removed by hand; tokens still grow and fence the old one off. When the file was removed without its -wal and -shm, or they without it, calls fail
// until all processes have let go of the old ones, which each of their stores does at its next call.
//
// Watchers are woken at once by changes of the same Store. For changes of others, the store looks at the file four times per second, while somebody watches: one look for all of them, so that watches by
// Notify cost no goroutine each.
//
// The store also has a roster, lists its elections and forgets them: see [backend.Roster], [backend.Lister] and [backend.Forgetter].
//
// # Storage
//
// One row per election in the table tenure_lease; the counter is a column of its own. A row goes when its election is forgotten: then its counter goes into the one row of tenure_floor, unless a higher one is there, and
// the tokens of all elections stay above it. An election whose counter is further above that and the clock's microseconds than a [backend.FloorHeadroom] is not forgotten. The file is in WAL mode; -wal and -shm beside it belong to it. A commit
// of a grant, a release or a raised counter waits for the disk (synchronous=FULL), since a token may have been shown to others. A renewal doesn't
// (NORMAL): it survives the process, and when the host loses power there is no leader left to whom it could matter. So a busy disk doesn't cost
// leadership. New tokens are at least the host's wall clock in microseconds: they grow even if the file is lost or restored from a backup, as long as that clock isn't set back.
//
// Who takes part stands in tenure_roster, a row per candidate; what has run out is deleted when somebody enlists. It is written as renewals are.
//
// A file of an earlier release is brought to this one's layout when it is opened, and is refused by the earlier release from then on.
//
// Give tenure a file of its own: one with other tables is refused. Back it up with the sqlite3 tool's .backup; never copy over a file in use.
// In containers mount the folder, not the file alone, or -wal and -shm are not shared.
//
// # Time
//
// Leases expire by the host's boot clock, which all processes share, which counts suspend and never steps; setting the wall clock neither ends nor prolongs a lease. Each
// row names the boot whose clock it was stamped with. A row of another boot (the host was restarted, or the file came from another host) counts as held until this process has seen it
// unchanged for one TTL of the holder on its monotonic clock; [backend.Record].Mode is then Observed and Remaining an upper bound. The same holds between containers in different
// time namespaces. Entries of the roster run out by the same clock, and those of another boot by the host's wall clock, since they decide nothing. On systems without a boot clock, Windows among them, leases expire by the wall clock; Limits says so.
//
// # Permissions
//
// The file, -wal and -shm are made with mode 0600, a missing folder with 0700 (one level: more is taken for a mistyped path). An existing file is used as it is: others may share it on purpose. What is open to other
// users is listed by Warnings. The user must be able to write the file and its folder; that is enough for rosters, lists and forgetting too.
//
// # URLs
//
// sqlite:///absolute/path.db or sqlite:relative/path.db. Parameter: busy, how long a call waits for the write lock of another process (1s by default; keep it below the time-out
// of an attempt, which is at most a quarter of the TTL).
//
// # Limits
//
// One host. File systems that several hosts may share (NFS, SMB, Ceph, 9p, sshfs and other FUSE kinds) are refused, also when only one host uses them.
//
// A write holds the lock for some milliseconds. A process that is frozen (SIGSTOP, a debugger, a paused container) in just that time stops all other writers: renewals fail with an error that says so, the leader
// steps down at its deadline, and nobody leads until the frozen process goes on or is killed. It never makes two leaders. Readers go on.
//
// POSIX locks belong to the process: if other code in a candidate's process opens and closes the file, SQLite's locks are gone. Look at the file with another process.
//
// A hard disk that lies about flushing loses grants with the power; then tokens rest on the wall clock.
package sqlite
