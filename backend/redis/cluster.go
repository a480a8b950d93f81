package redis

import (
	"context"
	"strings"
	"sync"

	goredis "github.com/redis/go-redis/v9"

	"github.com/tenure-go/tenure/backend"
)

// renewInCluster renews leases with one pipeline for each node: a script works on one slot, and each election has its own.
func (s *Store) renewInCluster(ctx context.Context, c *goredis.ClusterClient, leases []backend.Lease) []backend.Renewal {
	renewals := make([]backend.Renewal, len(leases))
	places := map[*goredis.Client][]int{}
	for i, l := range leases {
		node, err := c.MasterForKey(ctx, s.names.key(l.Election))
		if err != nil {
			renewals[i].Err = explain(err)
			continue
		}
		places[node] = append(places[node], i)
	}
	var all sync.WaitGroup
	for node, places := range places {
		all.Go(func() { s.renewAt(ctx, node, leases, places, renewals) })
	}
	all.Wait()
	return renewals
}

// sent is a renewal in a pipeline.
type sent struct {
	place      int // among the leases
	key, nonce string
	args       []any
	reply      *goredis.Cmd
}

// renewAt renews the leases at places on the node that has them.
func (s *Store) renewAt(ctx context.Context, node *goredis.Client, leases []backend.Lease, places []int, renewals []backend.Renewal) {
	conn := node.Conn() // WAIT counts what was written on its own connection
	defer conn.Close()
	calls := make([]*sent, len(places))
	for i, place := range places {
		nonce := s.nonce()
		calls[i] = &sent{place: place, key: s.names.key(leases[place].Election), nonce: nonce, args: s.arguments(nonce, renewal(leases[place]))}
	}
	pipeline(ctx, conn, calls, renewScript.EvalSha)
	var unread []*sent
	for _, c := range calls {
		if goredis.HasErrorPrefix(c.reply.Err(), "NOSCRIPT") { // it was not run
			unread = append(unread, c)
		}
	}
	pipeline(ctx, conn, unread, renewScript.Eval)
	var short error
	if s.wait > 0 {
		short = s.acknowledged(ctx, conn)
	}
	for _, c := range calls {
		l := leases[c.place]
		if err := c.reply.Err(); elsewhere(err) { // it was not run here; the client knows the way
			s.rediscover(ctx, err)
			renewals[c.place].Lease, renewals[c.place].Err = s.Renew(ctx, l)
			continue
		}
		renewals[c.place] = s.renewed(l, c, short)
	}
}

// renewed reads the reply to one renewal.
func (s *Store) renewed(l backend.Lease, c *sent, short error) backend.Renewal {
	reply, err := c.reply.StringSlice()
	if err != nil {
		return backend.Renewal{Err: explain(err)}
	}
	a, err := s.read(c.key, c.nonce, reply)
	if err == nil {
		err = short
	}
	return s.renewals([]backend.Lease{l}, []string{c.key}, a, err)[0]
}

// pipeline sends calls together; each gets its own reply or error.
func pipeline(ctx context.Context, conn *goredis.Conn, calls []*sent, run func(context.Context, goredis.Scripter, []string, ...any) *goredis.Cmd) {
	if len(calls) == 0 {
		return
	}
	p := conn.Pipeline()
	for _, c := range calls {
		c.reply = run(ctx, p, []string{c.key}, c.args...)
	}
	_, _ = p.Exec(ctx) // each reply has its own error
}

// elsewhere reports that a node of a cluster has refused a call, without running it, because another has the key.
func elsewhere(err error) bool {
	return err != nil && (strings.HasPrefix(err.Error(), "MOVED ") || strings.HasPrefix(err.Error(), "ASK "))
}
