// Package memory keeps leases in this process: the reference store, for tests, for programs of one process and for trying things out.
//
//	store, err := backend.Open(ctx, "memory:demo")
//
// # Guarantees
//
// All of the contract, with all optional interfaces but the batch. It is the shortest reading of it: its rules are those of internal/record, and what other stores do in Lua or SQL stands there in Go.
//
// # Storage
//
// A [Server] holds the records and is shared by its clients: memory.New makes both, Server.Client another client. Stores opened by URL share one server per name for
// the life of the process.
//
// Of forgotten elections the server keeps the highest counter: the next token of every election is above it. An election whose counter is further above that and the clock's microseconds than a
// [backend.FloorHeadroom] is not forgotten.
//
// # Time
//
// Leases and entries of rosters expire by time.Now and its monotonic reading, so the store works inside of testing/synctest bubbles.
//
// # Permissions
//
// None.
//
// # URLs
//
// memory:NAME; no parameters. The name may be empty.
//
// # Limits
//
// Nothing survives the process.
package memory
