package consul

import (
	"context"
	"crypto/tls"
	"errors"
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

	tokenHeader = "X-Consul-Token"
	// placeholder keeps the client from looking for a token in the environment, or in a file that it names. It is never sent.
	placeholder = "of-the-url"
)

// keepAlive finds out within about 12 s that the other host is gone, at no cost to the server.
var keepAlive = net.KeepAliveConfig{Enable: true, Idle: 6 * time.Second, Interval: 2 * time.Second, Count: 3}

// client makes a client for lease traffic only, so that a heartbeat never waits behind other work.
func (c *settings) client() (*api.Client, *wire, error) {
	plain := net.Dialer{Timeout: c.timeout, KeepAliveConfig: keepAlive}
	w := &wire{hosts: c.hosts, token: c.token, calls: map[*http.Request]flight{}, http: &http.Transport{
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			conn, err := plain.DialContext(ctx, network, addr)
			if err != nil {
				return nil, &unsent{err}
			}
			return conn, nil
		},
		TLSClientConfig: c.tls, TLSHandshakeTimeout: c.timeout,
		MaxConnsPerHost: connections, MaxIdleConnsPerHost: connections, IdleConnTimeout: idleTimeout,
		// No proxy, whatever the environment says: leases must not hang on one that nobody has asked for.
	}}
	scheme := "http"
	if c.tls != nil {
		scheme = "https"
	}
	client, err := api.NewClient(&api.Config{Address: c.hosts[0], Scheme: scheme, Token: placeholder, Transport: w.http, HttpClient: &http.Client{Transport: w}})
	return client, w, err
}

// unsent says that a host could not be reached, so that nothing was sent.
type unsent struct{ error }

func (u *unsent) Unwrap() error { return u.error }

// wire is the way of a client that Open made to its hosts. With several of them it uses one, until that fails.
type wire struct {
	http  *http.Transport
	hosts []string
	token string // of the URL; empty: none

	mu    sync.Mutex
	at    int                      // which of hosts is in use
	calls map[*http.Request]flight // under way
}

// flight is a request under way.
type flight struct {
	at    int
	until time.Time
}

// RoundTrip implements http.RoundTripper. A request that could not be sent goes to the next host at once. One that was sent is not repeated, since it may have been
// applied: it fails with its host, and the next request goes to the next one.
func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	at := w.take(r)
	defer w.drop(r)
	var first error
	for i := range w.hosts {
		host := (at + i) % len(w.hosts)
		reply, err := w.send(r, w.hosts[host])
		if _, away := errors.AsType[*unsent](err); !away {
			switch {
			case err != nil || reply.StatusCode >= http.StatusInternalServerError || reply.StatusCode == http.StatusTooManyRequests:
				w.move(at, host+1)
			default:
				w.move(at, host)
			}
			return reply, err
		}
		if first == nil {
			first = err
		}
	}
	w.move(at, at+1) // the time may have been up before the others were tried
	return nil, first
}

func (w *wire) send(r *http.Request, host string) (*http.Response, error) {
	c := r.Clone(r.Context())
	c.URL.Host, c.Host = host, host
	if r.GetBody != nil {
		body, err := r.GetBody()
		if err != nil {
			return nil, err
		}
		c.Body = body
	}
	// The client adds these from the environment, where a URL doesn't name them.
	query := c.URL.Query()
	query.Del("ns")
	query.Del("partition")
	c.URL.RawQuery = query.Encode()
	c.Header.Del(tokenHeader)
	if w.token != "" {
		c.Header.Set(tokenHeader, w.token)
	}
	return w.http.RoundTrip(c)
}

// take notes a request and returns the host for it: the next one, if a request to the present one is out of time. That one's caller may ask again sooner than it
// returns here.
func (w *wire) take(r *http.Request) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	for _, f := range w.calls {
		if f.at == w.at && !f.until.IsZero() && !now.Before(f.until) {
			w.at = (w.at + 1) % len(w.hosts)
			break
		}
	}
	until, _ := r.Context().Deadline()
	w.calls[r] = flight{w.at, until}
	return w.at
}

func (w *wire) drop(r *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.calls, r)
}

// move goes on to another host, once for all the requests that have found out about the present one.
func (w *wire) move(from, to int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.at == from {
		w.at = to % len(w.hosts)
	}
}

func (w *wire) close() { w.http.CloseIdleConnections() }
