package testenv

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
)

// target is where a server is and how it is spoken to.
type target struct {
	addr string
	tls  *tls.Config // nil where the server speaks without TLS
}

// target is the server of these options at an address. Nothing is verified: some servers have broken certificates on purpose,
// and a probe doesn't send a secret that they don't know.
func (o Options) target(addr string) (target, error) {
	if o.TLS == nil {
		return target{addr: addr}, nil
	}
	config := &tls.Config{InsecureSkipVerify: true}
	if o.ClientCA != "" {
		dir := filepath.Dir(o.ClientCA)
		own, err := tls.LoadX509KeyPair(filepath.Join(dir, probeCert), filepath.Join(dir, probeKey))
		if err != nil {
			return target{}, fmt.Errorf("Options.ClientCA isn't the file of an Authority: %w", err)
		}
		config.Certificates = []tls.Certificate{own}
	}
	return target{addr: addr, tls: config}, nil
}

// scheme is the plain one, or with TLS the same with an s.
func (at target) scheme(plain string) string {
	if at.tls == nil {
		return plain
	}
	return plain + "s"
}

// dial connects to a server. The context's deadline holds for the whole exchange.
func (at target) dial(ctx context.Context) (net.Conn, error) {
	c, err := at.dialPlain(ctx)
	if err != nil || at.tls == nil {
		return c, err
	}
	return tls.Client(c, at.tls), nil // it shakes hands at the first write
}

func (at target) dialPlain(ctx context.Context) (net.Conn, error) {
	c, err := new(net.Dialer).DialContext(ctx, "tcp", at.addr)
	if err != nil {
		return nil, err
	}
	if deadline, ok := ctx.Deadline(); ok {
		err = c.SetDeadline(deadline)
	}
	return c, err
}

// request is one HTTP request.
type request struct {
	method, path string
	header       http.Header
	body         string
}

// get is a request without a header.
func get(path string) request { return request{method: http.MethodGet, path: path} }

// do sends an HTTP request and returns the body of the answer, which must be 200.
func (at target) do(ctx context.Context, r request) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, r.method, at.scheme("http")+"://"+at.addr+r.path, strings.NewReader(r.body))
	if err != nil {
		return nil, err
	}
	if r.header != nil {
		req.Header = r.header
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: at.tls}} // leaves no goroutine
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 8<<20))
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s %s%s: %s: %.300q", r.method, at.addr, r.path, resp.Status, body)
	}
	return body, nil
}

// answers asks a path and returns nil when the answer is 200 with a body that contains the text.
func (at target) answers(ctx context.Context, path, text string) error {
	body, err := at.do(ctx, get(path))
	if err == nil && !bytes.Contains(body, []byte(text)) {
		err = fmt.Errorf("%s%s: %.300q, which has no %s", at.addr, path, body, text)
	}
	return err
}
