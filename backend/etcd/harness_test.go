package etcd

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/elector"
	"github.com/tenure-go/tenure/internal/testenv"
)

// counter counts a client's requests by method.
type counter struct {
	mu sync.Mutex
	n  map[string]int
}

func (c *counter) add(method string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n == nil {
		c.n = map[string]int{}
	}
	c.n[method[strings.LastIndexByte(method, '/')+1:]]++
}

// take returns what was counted since the last call.
func (c *counter) take() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.n
	c.n = nil
	return n
}

// counted is a store on a client of the caller's, whose requests are counted. fault, if it isn't nil, may fail a request in place of the server.
func counted(t testing.TB, srv *testenv.Server, fault func(method string) error) (backend.LeaseStore, *counter) {
	t.Helper()
	c := &counter{}
	judge := func(method string) error {
		c.add(method)
		if fault != nil {
			return fault(method)
		}
		return nil
	}
	client := must[*clientv3.Client](t)(clientv3.New(clientv3.Config{
		Endpoints: []string{"http://" + srv.Addr()}, Logger: zap.NewNop(), MaxUnaryRetries: 1,
		DialOptions: []grpc.DialOption{
			grpc.WithChainUnaryInterceptor(func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, o ...grpc.CallOption) error {
				if err := judge(method); err != nil {
					return err
				}
				return invoke(ctx, method, req, reply, cc, o...)
			}),
			grpc.WithChainStreamInterceptor(func(ctx context.Context, d *grpc.StreamDesc, cc *grpc.ClientConn, method string, open grpc.Streamer, o ...grpc.CallOption) (grpc.ClientStream, error) {
				if err := judge(method); err != nil {
					return nil, err
				}
				return open(ctx, d, cc, method, o...)
			}),
		},
	}))
	s := backend.Wrap(must[*Store](t)(New(client, Options{})))
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		_ = client.Close()
	})
	return s, c
}

// leading is the index of the member that leads the cluster.
func leading(t *testing.T, c *testenv.Cluster) int {
	t.Helper()
	found := -1
	eventually(t, "the cluster has a leader", func() bool {
		found = c.Leader()
		return found >= 0
	})
	return found
}

// contest is electors for one election, each with a store of its own, and what they did.
type contest struct {
	t       *testing.T
	ctx     context.Context //nolint:containedctx // ends with the contest
	mu      sync.Mutex
	begun   []*elector.Term // whose functions run
	active  atomic.Int64
	terms   atomic.Int64
	last    atomic.Int64
	running sync.WaitGroup
	cancel  context.CancelFunc
}

// compete starts n candidates. A leader works until its term's context ends.
func compete(t *testing.T, rawURL, election string, ttl time.Duration, n int) *contest {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	c := &contest{t: t, ctx: ctx, cancel: cancel}
	for range n {
		c.join(rawURL, election, ttl)
	}
	t.Cleanup(c.stop)
	return c
}

// join adds a candidate.
func (c *contest) join(rawURL, election string, ttl time.Duration) {
	c.t.Helper()
	e := must[*elector.Elector](c.t)(elector.New(elector.Config{
		Store: client(c.t, rawURL, ""), Election: election, TTL: ttl, Logger: slog.New(slog.DiscardHandler),
	}))
	c.running.Go(func() {
		_ = e.Run(c.ctx, c.lead)
		_ = e.Close()
	})
}

func (c *contest) stop() {
	c.cancel()
	c.running.Wait()
}

func (c *contest) lead(ctx context.Context, term *elector.Term) error {
	// What counts is belief: on a busy machine a goroutine may hear of its end late.
	c.mu.Lock()
	for _, other := range c.begun {
		if left := other.Remaining(); left > 0 && term.Valid() {
			c.t.Errorf("two lead %s at once: token %d has %v left when %d begins", term.Election(), other.Token().Value, left, term.Token().Value)
		}
	}
	c.begun = append(c.begun, term)
	c.mu.Unlock()
	c.active.Add(1)
	defer c.ended(term)
	token := term.Token().Value
	if before := c.last.Swap(token); before >= token {
		c.t.Errorf("token %d after %d", token, before)
	}
	c.terms.Add(1)
	<-ctx.Done()
	c.active.Add(-1)
	return nil
}

// ended takes a term out when its function has returned.
func (c *contest) ended(term *elector.Term) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.begun = slices.DeleteFunc(c.begun, func(t *elector.Term) bool { return t == term })
}

// led waits until somebody leads, in a term after the given number.
func (c *contest) led(after int64) {
	c.t.Helper()
	eventually(c.t, "somebody leads", func() bool { return c.active.Load() == 1 && c.terms.Load() > after })
}
