package redis

import (
	"context"
	"fmt"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/tenure-go/tenure/backend"
)

// nodes returns how to find the master that has a key.
func nodes(client goredis.UniversalClient) (master func(ctx context.Context, key string) (*goredis.Client, error), ok bool) {
	switch c := client.(type) {
	case *goredis.Client:
		return func(context.Context, string) (*goredis.Client, error) { return c, nil }, true
	case *goredis.ClusterClient:
		return c.MasterForKey, true
	}
	return nil, false
}

// change calls a script that grants or renews. Where replicas must acknowledge, short tells that too few did: the change was made, but may be lost with its master.
func (s *Store) change(ctx context.Context, script *goredis.Script, keys []string, args ...any) (a answer, short, err error) {
	if s.wait == 0 {
		a, err = s.call(ctx, s.client, script, keys, args...)
		return a, nil, err
	}
	master, _ := nodes(s.client)
	node, err := master(ctx, keys[0])
	if err != nil {
		return answer{}, nil, explain(err)
	}
	conn := node.Conn() // WAIT counts what was written on its own connection
	defer conn.Close()
	a, err = s.call(ctx, conn, script, keys, args...)
	if err != nil {
		s.rediscover(ctx, err)
		return a, nil, err
	}
	if a.status == "granted" || a.status == "renewals" {
		short = s.acknowledged(ctx, conn)
	}
	return a, short, nil
}

// rediscover looks for the cluster's masters again after one has sent a call away.
func (s *Store) rediscover(ctx context.Context, err error) {
	if c, ok := s.client.(*goredis.ClusterClient); ok && elsewhere(err) {
		c.ReloadState(ctx)
	}
}

// acknowledged waits until enough replicas have what was written on conn.
func (s *Store) acknowledged(ctx context.Context, conn *goredis.Conn) error {
	within := s.patience(ctx)
	n, err := conn.Wait(ctx, s.wait, within).Result()
	switch {
	case err != nil:
		return fmt.Errorf("waiting for %d replicas to acknowledge: %w", s.wait, explain(err))
	case int(n) < s.wait:
		return fmt.Errorf("%d of %d replicas acknowledged within %v", n, s.wait, within)
	}
	return nil
}

// patience is most of the time that is left for the call: a part stays for the reply, and for taking a grant back. WAIT takes zero for ever.
func (s *Store) patience(ctx context.Context) time.Duration {
	left := s.timeout
	if deadline, ok := ctx.Deadline(); ok {
		left = min(left, time.Until(deadline))
	}
	return max(left/4*3, time.Millisecond).Truncate(time.Millisecond)
}

// takeBack releases what one call was granted, and too few replicas know. The caller may have gone on and repeated that call meanwhile: what the repeat was granted stays.
func (s *Store) takeBack(ctx context.Context, c backend.Claim, call string, short error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.timeout)
	defer cancel()
	a, err := s.run(ctx, releaseScript, c.Election, c.Candidate.ID, c.Attempt.String(), "0", "", 0, s.names.channel(c.Election), call)
	switch {
	case err != nil:
		return fmt.Errorf("the grant was not kept: %w; nor could it be taken back: %v", short, err) //nolint:errorlint // its class is not the call's
	case a.status != "released":
		return fmt.Errorf("the grant was not kept, and is not there any more: %w", short)
	}
	return fmt.Errorf("the grant was taken back: %w", short)
}
