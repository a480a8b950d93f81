package etcd

import (
	"context"
	"crypto/tls"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
)

// settings is what a URL says about the cluster.
type settings struct {
	endpoints      []string
	user, password string
	tls            *tls.Config // nil: plain
	timeout        time.Duration
}

// pingTime is how long a connection may be silent before the transport asks whether it is alive: the shortest that gRPC takes.
const pingTime = 10 * time.Second

// client makes a client for lease traffic only. It connects when it is first used.
func (c *settings) client() (*clientv3.Client, *login, error) {
	options := []grpc.DialOption{
		// The driver's default waits up to two minutes before it tries a member again.
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: 50 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: time.Second},
			MinConnectTimeout: c.timeout,
		}),
		// A member that can't be reached is an answer, which says why. The driver would wait for it until the call's end.
		grpc.WithChainUnaryInterceptor(failFast),
		grpc.WithChainStreamInterceptor(failFastStream),
	}
	var l *login
	if c.user != "" {
		l = &login{user: c.user, password: c.password}
		options = append(options, grpc.WithPerRPCCredentials(l))
	}
	client, err := clientv3.New(clientv3.Config{
		Endpoints: c.endpoints, TLS: c.tls, DialTimeout: c.timeout,
		DialKeepAliveTime: pingTime, DialKeepAliveTimeout: c.timeout,
		// A call's repeats are ours, since we know how much time is left.
		MaxUnaryRetries: 1,
		DialOptions:     options,
		Logger:          zap.NewNop(),
	})
	return client, l, err
}

func failFast(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, o ...grpc.CallOption) error {
	return invoke(ctx, method, req, reply, conn, append(o, grpc.WaitForReady(false))...)
}

func failFastStream(ctx context.Context, d *grpc.StreamDesc, conn *grpc.ClientConn, method string, open grpc.Streamer, o ...grpc.CallOption) (grpc.ClientStream, error) {
	return open(ctx, d, conn, method, append(o, grpc.WaitForReady(false))...)
}

// clientWarnings looks at a client of the caller's.
func clientWarnings(client *clientv3.Client) []string {
	var found []string
	if client.Username != "" {
		found = append(found, "The client has a user and a password, and its driver logs in anew for each renewal, which costs the cluster a password hash and a write: "+
			"open the store by URL instead, or use client certificates.")
	}
	if len(client.Endpoints()) == 1 {
		found = append(found, "The client has a single endpoint: give it all members, so that a renewal can go to another when one hangs.")
	}
	return found
}
