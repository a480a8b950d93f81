package etcd

import (
	"context"
	"sync"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// login keeps the token of a client that Open made. The driver's own way asks for a new token with each stream, which costs the server a password hash and an entry in its
// log for every renewal, and doesn't open a client while the server is away.
type login struct {
	user, password string
	asking         sync.Mutex // one asks, the others wait for it

	mu    sync.Mutex
	token string
}

func (l *login) current() string {
	if l == nil {
		return ""
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.token
}

// GetRequestMetadata implements credentials.PerRPCCredentials.
func (l *login) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	token := l.current()
	if token == "" {
		return nil, nil //nolint:nilnil // no header
	}
	return map[string]string{rpctypes.TokenFieldNameGRPC: token}, nil
}

// RequireTransportSecurity implements credentials.PerRPCCredentials. Whether the network is trusted, the URL's scheme says.
func (l *login) RequireTransportSecurity() bool { return false }

// renew asks for a token unless another call has replaced the used one meanwhile.
func (l *login) renew(ctx context.Context, client *clientv3.Client, used string) error {
	l.asking.Lock()
	defer l.asking.Unlock()
	if l.current() != used {
		return nil
	}
	got, err := client.Authenticate(ctx, l.user, l.password)
	if is(err, rpctypes.ErrAuthNotEnabled) {
		return nil
	}
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.token = got.Token
	return nil
}
