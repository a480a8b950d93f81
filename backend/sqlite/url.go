package sqlite

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/tenure-go/tenure/backend"
)

func init() {
	backend.Register(backend.Driver{Schemes: []string{"sqlite"}, Params: []string{"busy"}, Open: openURL})
}

func openURL(ctx context.Context, u *backend.URL) (backend.LeaseStore, error) {
	if len(u.Hosts) > 0 || u.User != "" || u.Password != "" {
		return nil, fmt.Errorf("%w: a sqlite URL has no host and no user; write sqlite:///absolute/path.db or sqlite:relative/path.db", backend.ErrInvalid)
	}
	busy, err := u.Duration("busy", defaultBusy)
	if err != nil {
		return nil, err
	}
	path := filepath.FromSlash(u.Path)
	if len(path) > 1 && filepath.VolumeName(path[1:]) != "" { // sqlite:///C:/folder/file.db
		path = path[1:]
	}
	s, err := Open(ctx, path, Options{Busy: busy})
	if err != nil {
		return nil, err // not s: a nil *Store in an interface is not nil
	}
	return s, nil
}
