// Package record is the contract's rules in Go, for the stores which decide in Go: memory, which keeps entries in a map, and sqlite, which keeps them in rows. The rules
// are pure: the caller brings the clock and makes each step atomic.
package record
