package redis

import (
	"context"
	"fmt"
	"slices"
	"sync"

	goredis "github.com/redis/go-redis/v9"

	"github.com/tenure-go/tenure/backend"
)

// scanStep is how many keys the server looks at in one step, in which it does nothing else.
const scanStep = 1000

// Elections implements backend.Lister. Redis keeps its keys in no order: each call goes through all keys of the database, in steps that let other clients in between, in a cluster at all masters at the
// same time. So ask for many names at once. A record that a cluster moves to another node meanwhile may be missing.
func (s *Store) Elections(ctx context.Context, after string, limit int) ([]string, error) {
	if err := s.usable(ctx); err != nil {
		return nil, err
	}
	p := &page{names: s.names, after: after, limit: limit}
	var err error
	switch c := s.client.(type) {
	case *goredis.Client:
		err = p.read(ctx, c)
	case *goredis.ClusterClient:
		err = c.ForEachMaster(ctx, p.read)
	default:
		return nil, fmt.Errorf("%w: the elections behind a %T can't be listed, which doesn't tell its servers; give New a *redis.Client or a *redis.ClusterClient", backend.ErrInvalid, c)
	}
	if err != nil {
		return nil, explain(err)
	}
	s.contact()
	p.trim()
	return p.found, nil
}

// page collects the first names after one.
type page struct {
	names names
	after string
	limit int

	mu    sync.Mutex
	found []string
}

// read goes through one server's keys, all steps on one connection: to another server, such as a replica that was promoted meanwhile, a cursor means nothing.
func (p *page) read(ctx context.Context, node *goredis.Client) error {
	conn := node.Conn()
	defer conn.Close()
	for cursor := uint64(0); ; {
		keys, next, err := conn.ScanType(ctx, cursor, p.names.all(), scanStep, "hash").Result()
		if err != nil {
			return err
		}
		p.add(keys)
		if cursor = next; cursor == 0 {
			return nil
		}
	}
}

func (p *page) add(keys []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, key := range keys {
		if name, ok := p.names.election(key); ok && name > p.after {
			p.found = append(p.found, name)
		}
	}
	if len(p.found) > 2*scanStep && len(p.found)/2 > p.limit {
		p.trim()
	}
}

// trim leaves the first names in order, each once: a server may tell a key more than once, and in a cluster two may have it while it moves.
func (p *page) trim() {
	slices.Sort(p.found)
	p.found = slices.Compact(p.found)
	p.found = p.found[:min(len(p.found), p.limit)]
}
