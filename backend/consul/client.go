package consul

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/hashicorp/consul/api"
)

// settings is what a URL says about the servers.
type settings struct {
	hosts   []string
	token   string
	tls     *tls.Config // nil: plain
	timeout time.Duration
}

const (
	// connections is how many a store has at most: two wait for changes while somebody watches, the others are for calls. Agents take 200 from one address.
	connections = 8
	idleTimeout = 90 * time.Second
)

// keepAlive finds out within about 12 s that the other host is gone, at no cost to the server.
var keepAlive = net.KeepAliveConfig{Enable: true, Idle: 6 * time.Second, Interval: 2 * time.Second, Count: 3}

// client makes a client for lease traffic only, so that a heartbeat never waits behind other work.
func (c *settings) client() (*api.Client, *wire, error) {
	w := &wire{hosts: c.hosts, tls: c.tls, timeout: c.timeout, anonymous: c.token == "", plain: net.Dialer{Timeout: c.timeout, KeepAliveConfig: keepAlive}}
	w.http = &http.Transport{
		DialContext: w.dial, DialTLSContext: w.dialTLS, TLSHandshakeTimeout: c.timeout,
		MaxConnsPerHost: connections, MaxIdleConnsPerHost: connections, IdleConnTimeout: idleTimeout,
		// No proxy, whatever the environment says: leases must not hang on one that nobody has asked for.
	}
	scheme := "http"
	if c.tls != nil {
		scheme = "https"
	}
	client, err := api.NewClient(&api.Config{Address: c.hosts[0], Scheme: scheme, Token: c.token, Transport: w.http, HttpClient: &http.Client{Transport: w}})
	return client, w, err
}

// wire is the way of a client that Open made to its hosts. With several of them it uses one, until that fails.
type wire struct {
	http      *http.Transport
	hosts     []string
	tls       *tls.Config
	timeout   time.Duration
	anonymous bool
	plain     net.Dialer

	mu sync.Mutex
	at int // counts the changes of host
}

// RoundTrip implements http.RoundTripper. A request is sent once: it fails with its host, and the next one goes to the next host.
func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	// The client adds these from the environment, where a URL doesn't name them.
	query := r.URL.Query()
	for _, name := range []string{"ns", "partition"} {
		query.Del(name)
	}
	r.URL.RawQuery = query.Encode()
	if w.anonymous {
		r.Header.Del("X-Consul-Token")
	}
	at := w.turn()
	reply, err := w.http.RoundTrip(r)
	if err != nil || reply.StatusCode >= http.StatusInternalServerError {
		w.move(at)
	}
	return reply, err
}

func (w *wire) turn() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.at
}

// move goes on to the next host, once for all the requests that have failed with one.
func (w *wire) move(from int) {
	if len(w.hosts) == 1 {
		return
	}
	w.mu.Lock()
	moved := w.at == from
	if moved {
		w.at++
	}
	w.mu.Unlock()
	if moved {
		w.http.CloseIdleConnections()
	}
}

// dial tries all hosts, from the present one on. Nothing was sent yet, so that to try another is harmless.
func (w *wire) dial(ctx context.Context, network, _ string) (net.Conn, error) {
	return w.first(func(host string) (net.Conn, error) { return w.plain.DialContext(ctx, network, host) })
}

func (w *wire) dialTLS(ctx context.Context, network, _ string) (net.Conn, error) {
	return w.first(func(host string) (net.Conn, error) { return w.secure(ctx, network, host) })
}

func (w *wire) secure(ctx context.Context, network, host string) (net.Conn, error) {
	conn, err := w.plain.DialContext(ctx, network, host)
	if err != nil {
		return nil, err
	}
	config := w.tls.Clone()
	if name, _, err := net.SplitHostPort(host); err == nil {
		config.ServerName = name
	}
	secure := tls.Client(conn, config)
	ctx, cancel := context.WithTimeout(ctx, w.timeout)
	defer cancel()
	if err := secure.HandshakeContext(ctx); err != nil {
		_ = conn.Close() // the handshake's error tells more
		return nil, err
	}
	return secure, nil
}

// first returns the first connection that can be made, or the error of the first host.
func (w *wire) first(connect func(host string) (net.Conn, error)) (net.Conn, error) {
	at := w.turn()
	var failed error
	for i := range w.hosts {
		conn, err := connect(w.hosts[(at+i)%len(w.hosts)])
		if err == nil {
			return conn, nil
		}
		if failed == nil {
			failed = err
		}
	}
	return nil, failed
}

func (w *wire) close() { w.http.CloseIdleConnections() }
