package memory

import (
	"context"
	"sync"

	"github.com/tenure-go/tenure/backend"
)

// named holds the servers of stores opened by URL: the same name means the same server, as with an address.
var named = struct {
	sync.Mutex
	servers map[string]*Server
}{servers: map[string]*Server{}}

func init() {
	backend.Register(backend.Driver{Schemes: []string{"memory"}, Open: open})
}

func open(_ context.Context, u *backend.URL) (backend.LeaseStore, error) {
	named.Lock()
	defer named.Unlock()
	name := u.Path
	for _, h := range u.Hosts {
		name = h + name // memory://NAME is read as memory:NAME
	}
	s := named.servers[name]
	if s == nil {
		s = NewServer()
		named.servers[name] = s
	}
	return s.Client(), nil
}
