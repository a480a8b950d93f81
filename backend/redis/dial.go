package redis

import (
	"context"
	"crypto/tls"
	"net"
	"syscall"
	"time"

	"github.com/tenure-go/tenure/internal/netdial"
)

// dialer makes the connections of a client that Open made, and can end them all.
type dialer struct {
	*netdial.Dialer
	tls     *tls.Config // nil: plain
	timeout time.Duration
}

func newDialer(timeout time.Duration, config *tls.Config) *dialer {
	return &dialer{Dialer: netdial.New(timeout), tls: config, timeout: timeout}
}

// dial never fails: a connection that can't be made is one whose first use tells why. The driver would answer a failed dial with a line on standard error and,
// after some, with a goroutine that looks once a second and refuses all calls meanwhile.
func (d *dialer) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	c, err := d.connect(ctx, network, addr)
	if err != nil {
		return unmade{dialError{err}}, nil //nolint:nilerr // see above
	}
	return c, nil
}

func (d *dialer) connect(ctx context.Context, network, addr string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	c, err := d.Dial(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	if d.tls == nil {
		return c, nil
	}
	config := d.tls.Clone()
	if host, _, err := net.SplitHostPort(addr); err == nil && config.ServerName == "" {
		config.ServerName = host
	}
	secure := tls.Client(c, config)
	if err := secure.HandshakeContext(ctx); err != nil {
		_ = c.Close() // the handshake's error tells more
		return nil, err
	}
	return secure, nil
}

// dialError is an error with one more layer, since the driver takes one off the error of a connection's first use.
type dialError struct{ error }

func (e dialError) Unwrap() error { return e.error }

// unmade is a connection that could not be made.
type unmade struct{ err error }

func (u unmade) Read([]byte) (int, error)         { return 0, u.err }
func (u unmade) Write([]byte) (int, error)        { return 0, u.err }
func (u unmade) Close() error                     { return nil }
func (u unmade) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (u unmade) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (u unmade) SetDeadline(time.Time) error      { return nil }
func (u unmade) SetReadDeadline(time.Time) error  { return nil }
func (u unmade) SetWriteDeadline(time.Time) error { return nil }

// SyscallConn tells the driver's pool, which looks at an idle connection before it uses it, that this one is no good.
func (u unmade) SyscallConn() (syscall.RawConn, error) { return nil, u.err }
