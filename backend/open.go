package backend

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// Driver is how a kind of store is opened by URL.
type Driver struct {
	// Schemes are the URL schemes, without a colon.
	Schemes []string
	// Params are the URL parameters that the driver knows; Open refuses others.
	Params []string
	// Open makes a store from a URL whose scheme and parameter names have been checked. It returns raw errors.
	Open func(ctx context.Context, u *URL) (LeaseStore, error)
}

var registry = struct {
	sync.RWMutex
	drivers map[string]Driver
}{drivers: map[string]Driver{}}

// Register makes a driver's schemes known to Open. Store packages call it when they are initialised. It panics when a scheme is taken: that is a mistake in the
// program's imports.
func Register(d Driver) {
	registry.Lock()
	defer registry.Unlock()
	for _, scheme := range d.Schemes {
		if _, taken := registry.drivers[scheme]; taken {
			panic("backend: scheme " + scheme + " is registered twice")
		}
		registry.drivers[scheme] = d
	}
}

// Schemes lists the URL schemes that Open knows, sorted.
func Schemes() []string {
	registry.RLock()
	defer registry.RUnlock()
	return slices.Sorted(maps.Keys(registry.drivers))
}

// Open opens the store at a URL and wraps it, see [Wrap]. It returns an error that wraps ErrInvalid and says what to do when the URL is malformed, its scheme is not known or it
// has a parameter which the store doesn't know. Passwords never show in its errors or in those of the store.
//
// What Open made, Close closes. It may succeed while the server is away. What endangers leases at a store that was opened, its [Warner] tells.
func Open(ctx context.Context, rawURL string) (LeaseStore, error) {
	u, err := ParseURL(rawURL)
	if err != nil {
		return nil, err
	}
	registry.RLock()
	d, known := registry.drivers[u.Scheme]
	registry.RUnlock()
	if !known {
		return nil, fmt.Errorf("%w: no store is registered for the scheme %q; known are %s. Import the store's package, or backend/all for every one",
			ErrInvalid, u.Scheme, strings.Join(Schemes(), ", "))
	}
	if err := checkParams(u, d.Params); err != nil {
		return nil, err
	}
	s, err := d.Open(ctx, u)
	if err != nil {
		return nil, &OpError{Op: "open", Store: u.Scheme, Err: redact(err, u.Secrets())}
	}
	return wrap(s, u.Secrets()), nil
}

func checkParams(u *URL, known []string) error {
	for _, name := range slices.Sorted(maps.Keys(u.Params)) {
		if !slices.Contains(known, name) {
			return fmt.Errorf("%w: %s URLs have no parameter %q; known are %s", ErrInvalid, u.Scheme, name, orNone(known))
		}
		if len(u.Params[name]) > 1 {
			return fmt.Errorf("%w: URL parameter %q is given %d times; give it once", ErrInvalid, name, len(u.Params[name]))
		}
	}
	return nil
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(slices.Sorted(slices.Values(names)), ", ")
}
