package main

import (
	"context"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/tenure-go/tenure/backend"
)

const storeVariable = "TENURE_STORE"

// open opens the store that the user chose. Neither its errors nor anything else shows the URL.
func (a *app) open(ctx context.Context) (backend.LeaseStore, error) {
	raw, from := a.store, "--store"
	if raw == "" {
		raw, from = os.Getenv(storeVariable), storeVariable
	}
	if raw == "" {
		var err error
		if raw, err = defaultStore(); err != nil {
			return nil, err
		}
		from = "the default store"
	}
	s, err := backend.Open(ctx, raw)
	switch {
	case err == nil:
		return s, nil
	case errors.Is(err, backend.ErrInvalid):
		return nil, usage("%s: %w", from, err)
	}
	return nil, exit(exitUnavailable, "%s: %w", from, err)
}

// passwordShows tells whether the URL came in by a flag, where everybody can read it, and has a password.
func (a *app) passwordShows() bool {
	u, err := backend.ParseURL(a.store)
	return a.store != "" && err == nil && len(u.Secrets()) > 0
}

// defaultStore is a file of this user alone.
func defaultStore() (string, error) {
	dir, err := stateFolder()
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err != nil {
		return "", usage("there is no folder for the default store: %w; give one with --store or %s", err, storeVariable)
	}
	path := filepath.ToSlash(filepath.Join(dir, "tenure.db"))
	if !strings.HasPrefix(path, "/") { // C:/…
		path = "/" + path
	}
	return "sqlite://" + (&url.URL{Path: path}).EscapedPath(), nil
}

// stateFolder is ${XDG_STATE_HOME:-$HOME/.local/state}/tenure, on Windows %LocalAppData%\tenure.
func stateFolder() (string, error) {
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "tenure"), nil
	}
	if runtime.GOOS == "windows" {
		dir, err := os.UserCacheDir()
		return filepath.Join(dir, "tenure"), err
	}
	home, err := os.UserHomeDir()
	return filepath.Join(home, ".local", "state", "tenure"), err
}
