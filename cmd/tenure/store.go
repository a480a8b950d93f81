package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/tenure-go/tenure/backend"
)

const storeVariable = "TENURE_STORE"

// open opens the store that the user chose. Neither its errors nor anything else shows the URL.
func (a *app) open(ctx context.Context) (backend.LeaseStore, error) {
	raw, from, err := a.storeURL()
	if err != nil {
		return nil, err
	}
	if err := checkScheme(raw); err != nil {
		return nil, usage("%s: %w", from, err)
	}
	s, err := backend.Open(ctx, raw)
	switch {
	case err == nil:
		return s, nil
	case errors.Is(err, backend.ErrInvalid):
		return nil, usage("%s: %s", from, plainly(err))
	}
	return nil, exit(exitUnavailable, "%s: %w", from, err)
}

// openToLook opens the store for a command that only reads. A file that isn't there is an answer for nobody: a mistyped path would look like an election without a
// leader.
func (a *app) openToLook(ctx context.Context) (backend.LeaseStore, error) {
	raw, from, err := a.storeURL()
	if err != nil {
		return nil, err
	}
	if u, err := backend.ParseURL(raw); err == nil && u.Scheme == "sqlite" {
		if _, err := os.Stat(u.Path); errors.Is(err, os.ErrNotExist) {
			return nil, exit(exitUnavailable, "%s: there is no file %s: nobody has campaigned there", from, u.Path)
		}
	}
	return a.open(ctx)
}

// storeURL returns the URL that the user chose, and where. An empty one is a mistake, such as a variable that cron doesn't know: with the default store in its
// place each machine would elect a leader of its own.
func (a *app) storeURL() (raw, from string, err error) {
	if a.choseNone() {
		raw, err = defaultStore()
		return raw, "the default store", err
	}
	raw, from = a.store, "--store"
	if !a.storeGiven() {
		raw, from = os.Getenv(storeVariable), storeVariable
	}
	if raw == "" {
		return "", "", usage("%s is empty: give the URL of the store, or leave it out for a store of this user on this machine alone", from)
	}
	return raw, from, nil
}

// choseNone tells whether the user chose no store.
func (a *app) choseNone() bool {
	_, set := os.LookupEnv(storeVariable)
	return !set && !a.storeGiven()
}

// checkScheme refuses what no other process could share, and names the stores that there are. A URL without // may begin with a part of
// a password, which is not shown.
func checkScheme(raw string) error {
	scheme, rest, found := strings.Cut(raw, ":")
	schemes := slices.DeleteFunc(backend.Schemes(), func(s string) bool { return s == "memory" })
	known := "known are " + strings.Join(schemes, ", ")
	switch scheme = strings.ToLower(scheme); {
	case !found || slices.Contains(schemes, scheme):
		return nil
	case scheme == "memory":
		return errors.New("the memory store lives in one process: each would elect itself; " + known)
	case strings.HasPrefix(rest, "//"):
		return fmt.Errorf("there is no store for the scheme %s; %s", shown(scheme), known)
	}
	return errors.New("the URL has no scheme that is known; it must look like redis://host:6379/0 or sqlite:///path; " + known)
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
