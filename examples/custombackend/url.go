package custombackend

import (
	"context"
	"fmt"

	"github.com/tenure-go/tenure/backend"
)

func init() {
	backend.Register(backend.Driver{Schemes: []string{"folder"}, Open: openURL})
}

// openURL is called by backend.Open, which has checked the scheme and that there are no parameters but those that Register names.
func openURL(_ context.Context, u *backend.URL) (backend.LeaseStore, error) {
	if len(u.Hosts) > 0 || u.Path == "" {
		return nil, fmt.Errorf("%w: write folder:///absolute/path or folder:relative/path", backend.ErrInvalid)
	}
	return Open(u.Path)
}
