//go:build !linux && !darwin

package sqlite

// bootID is empty: this system has no boot clock that could be named.
func bootID() string { return "" }
