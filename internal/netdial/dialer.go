// Package netdial makes the connections of clients that a store has opened itself, so that closing the store ends them all at once. Drivers give connections up in the
// background, and wait there for a server that doesn't answer.
package netdial

import (
	"context"
	"errors"
	"net"
	"sync"
	"syscall"
	"time"
)

// keepAlive finds out within about 12 s that the other host is gone, at no cost to the server.
var keepAlive = net.KeepAliveConfig{Enable: true, Idle: 6 * time.Second, Interval: 2 * time.Second, Count: 3}

// Dialer makes connections and can end them all. It may be used from several goroutines.
type Dialer struct {
	plain net.Dialer

	mu     sync.Mutex
	closed bool
	dials  map[*context.CancelFunc]struct{} // under way
	conns  map[*Conn]struct{}               // open
}

// New returns a Dialer. A timeout of zero: contexts alone bound a dial.
func New(timeout time.Duration) *Dialer {
	return &Dialer{
		plain: net.Dialer{Timeout: timeout, KeepAliveConfig: keepAlive},
		dials: map[*context.CancelFunc]struct{}{}, conns: map[*Conn]struct{}{},
	}
}

// Dial connects. After Close it returns net.ErrClosed.
func (d *Dialer) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if err := d.begin(&cancel); err != nil {
		return nil, err
	}
	c, err := d.plain.DialContext(ctx, network, addr)
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.dials, &cancel)
	if err != nil {
		return nil, err
	}
	if d.closed {
		_ = c.Close() // nobody uses it
		return nil, net.ErrClosed
	}
	kept := &Conn{Conn: c, dialer: d}
	d.conns[kept] = struct{}{}
	return kept, nil
}

func (d *Dialer) begin(cancel *context.CancelFunc) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return net.ErrClosed
	}
	d.dials[cancel] = struct{}{}
	return nil
}

// Open is how many connections are open now.
func (d *Dialer) Open() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.conns)
}

// Drop ends all connections that are open now.
func (d *Dialer) Drop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for c := range d.conns {
		_ = c.Conn.Close() // it is given up
	}
	clear(d.conns)
}

// Close ends all connections and dials, also later ones.
func (d *Dialer) Close() {
	d.mu.Lock()
	d.closed = true
	for cancel := range d.dials {
		(*cancel)()
	}
	d.mu.Unlock()
	d.Drop()
}

// Conn is an open connection.
type Conn struct {
	net.Conn
	dialer *Dialer
}

// SyscallConn lets drivers look for what has arrived.
func (c *Conn) SyscallConn() (syscall.RawConn, error) {
	raw, ok := c.Conn.(syscall.Conn)
	if !ok {
		return nil, errors.ErrUnsupported
	}
	return raw.SyscallConn()
}

// Close implements net.Conn.
func (c *Conn) Close() error {
	c.dialer.mu.Lock()
	delete(c.dialer.conns, c)
	c.dialer.mu.Unlock()
	return c.Conn.Close()
}
