// Package custombackend is a lease store as somebody outside of this project would write it: a folder with one JSON file per election. It uses the public packages alone, and is meant to be
// read, copied and replaced by what you have. docs/backend-authors.md tells what a store must do; here is how little that can be.
//
//	store.go     the seven methods, each one short call of change
//	rules.go     the contract as functions of a record and the time
//	file.go      read, decide and write as one step, also between processes
//	lock_unix.go the mutual exclusion, by a lock that the kernel gives back when its process dies
//	watch.go     wake-ups
//	url.go       folder:///path for backend.Open
//
// # Guarantees
//
// All of the contract, for the processes of one host.
//
// # Storage
//
// The file of an election is named by the SHA-256 of its name: names may be longer than file names, and differ in case alone. It is replaced as a whole, by rename, so that it can be read at any moment, and the
// change is on disk before a call reports it. A file with the ending .lock stands beside it and is never replaced.
//
// # Time
//
// Leases expire by the host's wall clock, which all its processes share. It may step forward by 50 ms within a TTL, which the elector takes off each lease. Where a time daemon
// steps it by more rather than slewing it, raise Limits.ClockStep, and the TTL with it.
//
// # Permissions
//
// The folder is made with mode 0700, files with 0600.
//
// # URLs
//
// folder:///absolute/path or folder:relative/path; no parameters.
//
// # Limits
//
// Linux and macOS; a local file system. Watches look at the file ten times a second. A process that is frozen (SIGSTOP) in the middle of a write keeps the calls of all others for that election from succeeding.
package custombackend
