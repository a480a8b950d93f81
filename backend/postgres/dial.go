package postgres

import (
	"context"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// keepAlive finds out within about 12 s that the other host is gone, at no cost to the server.
var keepAlive = net.KeepAliveConfig{Enable: true, Idle: 6 * time.Second, Interval: 2 * time.Second, Count: 3}

// dialer makes the connections of a pool that Open made, and can end them all: the driver gives a connection up in the background, where it waits for the server for long.
type dialer struct {
	plain net.Dialer

	mu     sync.Mutex
	closed bool
	dials  map[*context.CancelFunc]struct{} // under way
	conns  map[*conn]struct{}               // open
}

func newDialer() *dialer {
	return &dialer{
		plain: net.Dialer{KeepAliveConfig: keepAlive},
		dials: map[*context.CancelFunc]struct{}{}, conns: map[*conn]struct{}{},
	}
}

func (d *dialer) dial(ctx context.Context, network, addr string) (net.Conn, error) {
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
	kept := &conn{Conn: c, dialer: d}
	d.conns[kept] = struct{}{}
	return kept, nil
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

// close ends all connections and dials, also later ones.
func (d *dialer) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	for cancel := range d.dials {
		(*cancel)()
	}
	for c := range d.conns {
		_ = c.Conn.Close() // it is given up
	}
	clear(d.conns)
}

// conn is an open connection.
type conn struct {
	net.Conn
	dialer *dialer
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.dialer.mu.Lock()
	delete(c.dialer.conns, c)
	c.dialer.mu.Unlock()
	return c.Conn.Close()
}

// perHost is each host's part of the time for connecting, so that one which doesn't answer leaves time for the next.
func perHost(c *pgconn.Config, timeout time.Duration) time.Duration {
	hosts := 1
	last := net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port)))
	for _, f := range c.Fallbacks { // one with TLS and one without follow each other, and share a host's time
		if next := net.JoinHostPort(f.Host, strconv.Itoa(int(f.Port))); next != last {
			last = next
			hosts++
		}
	}
	return timeout / time.Duration(hosts)
}
