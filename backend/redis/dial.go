package redis

import (
	"context"
	"crypto/tls"
	"net"
	"sync"
	"syscall"
	"time"
)

// keepAlive finds out within about 12 s that the other host is gone, at no cost to the server.
var keepAlive = net.KeepAliveConfig{Enable: true, Idle: 6 * time.Second, Interval: 2 * time.Second, Count: 3}

// dialer makes the connections of a client that Open made, and can end them all.
type dialer struct {
	tls   *tls.Config // nil: plain
	plain net.Dialer

	mu     sync.Mutex
	closed bool
	dials  map[*context.CancelFunc]struct{} // under way
	conns  map[*conn]struct{}               // open
}

func newDialer(timeout time.Duration, config *tls.Config) *dialer {
	return &dialer{
		tls: config, plain: net.Dialer{Timeout: timeout, KeepAliveConfig: keepAlive},
		dials: map[*context.CancelFunc]struct{}{}, conns: map[*conn]struct{}{},
	}
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
	ctx, cancel := context.WithTimeout(ctx, d.plain.Timeout)
	defer cancel()
	if err := d.begin(&cancel); err != nil {
		return nil, err
	}
	defer d.finish(&cancel)
	c, err := d.plain.DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	kept, err := d.keep(c.(*net.TCPConn))
	if err != nil || d.tls == nil {
		return kept, err
	}
	config := d.tls.Clone()
	if host, _, err := net.SplitHostPort(addr); err == nil && config.ServerName == "" {
		config.ServerName = host
	}
	secure := tls.Client(kept, config)
	if err := secure.HandshakeContext(ctx); err != nil {
		_ = kept.Close() // the handshake's error tells more
		return nil, err
	}
	return secure, nil
}

func (d *dialer) begin(cancel *context.CancelFunc) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return net.ErrClosed
	}
	d.dials[cancel] = struct{}{}
	return nil
}

func (d *dialer) finish(cancel *context.CancelFunc) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.dials, cancel)
}

func (d *dialer) keep(c *net.TCPConn) (net.Conn, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		_ = c.Close() // nobody uses it
		return nil, net.ErrClosed
	}
	kept := &conn{TCPConn: c, dialer: d}
	d.conns[kept] = struct{}{}
	return kept, nil
}

// drop ends all connections that are open now.
func (d *dialer) drop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for c := range d.conns {
		_ = c.TCPConn.Close() // it is given up
	}
	clear(d.conns)
}

// close ends all connections and dials, also later ones.
func (d *dialer) close() {
	d.mu.Lock()
	d.closed = true
	for cancel := range d.dials {
		(*cancel)()
	}
	d.mu.Unlock()
	d.drop()
}

// conn is an open connection. It stays a *net.TCPConn so that the driver can look for surplus data.
type conn struct {
	*net.TCPConn
	dialer *dialer
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.dialer.mu.Lock()
	delete(c.dialer.conns, c)
	c.dialer.mu.Unlock()
	return c.TCPConn.Close()
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
