package etcd

import (
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/testenv"
)

func TestURLs(t *testing.T) {
	for rawURL, want := range map[string]settings{
		"etcd://h":                        {endpoints: []string{"http://h:2379"}, timeout: defaultTimeout},
		"etcd://h/":                       {endpoints: []string{"http://h:2379"}, timeout: defaultTimeout},
		"etcd://a,b:1,[::1],[::2]:3":      {endpoints: []string{"http://a:2379", "http://b:1", "http://[::1]:2379", "http://[::2]:3"}, timeout: defaultTimeout},
		"etcd://u:p%2Fw@h?timeout=150ms":  {endpoints: []string{"http://h:2379"}, user: "u", password: "p/w", timeout: 150 * time.Millisecond},
		"etcds://h?prefix=a%20b&ping=20s": {endpoints: []string{"https://h:2379"}, timeout: defaultTimeout},
	} {
		u := must[*backend.URL](t)(backend.ParseURL(rawURL))
		got, o, strict, err := parse(u)
		if err != nil || strict {
			t.Errorf("%s: %v, strict %v", rawURL, err, strict)
			continue
		}
		if !slices.Equal(got.endpoints, want.endpoints) || got.user != want.user || got.password != want.password || got.timeout != want.timeout {
			t.Errorf("%s: got %+v, want %+v", rawURL, got, want)
		}
		if (got.tls != nil) != (u.Scheme == "etcds") {
			t.Errorf("%s: TLS %v", rawURL, got.tls)
		}
		if u.Scheme == "etcds" && (o.Prefix != "a b" || o.Ping != 20*time.Second) {
			t.Errorf("%s: options %+v", rawURL, o)
		}
	}
}

func TestRefusedURLs(t *testing.T) {
	for _, rawURL := range []string{
		"etcd://", "etcd:x", "etcd://h/path", "etcd://u@h", "etcd://:secret-word@h", "etcd://h?timeout=1ns", "etcd://h?ping=never", "etcd://h?strict=maybe",
		"etcd://h?prefix=", "etcd://h?pool=3", "etcd://h?cacert=x.pem", "etcds://h?cacert=missing.pem", "etcds://h?cert=x.pem", "etcd://u:p/secret-word@h",
	} {
		s, err := backend.Open(t.Context(), rawURL)
		if err == nil {
			_ = s.Close()
		}
		class(t, rawURL, err, backend.Invalid)
		if err != nil && strings.Contains(err.Error(), "secret-word") {
			t.Errorf("%s: the error %v shows a part of a password", rawURL, err)
		}
	}
}

func TestRefusedOptions(t *testing.T) {
	c := must[*clientv3.Client](t)(clientv3.New(clientv3.Config{Endpoints: []string{"http://127.0.0.1:1"}}))
	defer c.Close()
	for what, f := range map[string]func() (*Store, error){
		"no client":      func() (*Store, error) { return New(nil, Options{}) },
		"negative":       func() (*Store, error) { return New(c, Options{Ping: -1}) },
		"prefix no UTF8": func() (*Store, error) { return New(c, Options{Prefix: "\xff"}) },
	} {
		_, err := f()
		class(t, what, err, backend.Invalid)
	}
}

// The right authority is trusted. A server with another authority's certificate, an expired one or one for another name is refused, soon and with the reason.
func TestTLS(t *testing.T) {
	right, wrong := testenv.NewAuthority(t), testenv.NewAuthority(t)
	open := func(srv *testenv.Server, params url.Values) backend.LeaseStore {
		return client(t, srv.URL(), params.Encode())
	}
	good, expired, named := right.Server(), right.Expired(), right.WrongName()
	srv := testenv.Etcd(t, testenv.Options{TLS: &good})
	s := open(srv, url.Values{"cacert": {right.CA()}})
	release(t, s, acquire(t, s, claim("tls", "a")))
	for what, c := range map[string]struct {
		srv    *testenv.Server
		ca     string
		reason string
	}{
		"wrong authority": {srv, wrong.CA(), "x509: certificate signed by unknown authority"},
		"expired":         {testenv.Etcd(t, testenv.Options{TLS: &expired}), right.CA(), "x509: certificate has expired"},
		"wrong name":      {testenv.Etcd(t, testenv.Options{TLS: &named}), right.CA(), "x509: cannot validate certificate"},
	} {
		s := open(c.srv, url.Values{"cacert": {c.ca}})
		began := time.Now()
		_, err := s.Acquire(deadline(t, time.Hour), claim("tls", "a"))
		class(t, what, err, backend.Unknown)
		if err == nil || !strings.Contains(err.Error(), c.reason) {
			t.Errorf("%s: %v doesn't say %q", what, err, c.reason)
		}
		_, err = s.Watch(deadline(t, time.Hour), "tls")
		class(t, what+": watch", err, backend.Unknown)
		if took := time.Since(began); took > ample {
			t.Errorf("%s: refused after %v", what, took)
		}
	}
}

// A server that wants certificates of its clients gets the one in the URL, and refuses others.
func TestClientCertificate(t *testing.T) {
	right, wrong := testenv.NewAuthority(t), testenv.NewAuthority(t)
	good := right.Server()
	srv := testenv.Etcd(t, testenv.Options{TLS: &good, ClientCA: right.CA()})
	params := func(a *testenv.Authority) string {
		p := url.Values{"cacert": {right.CA()}}
		if a != nil {
			own := a.Client("billing")
			p.Set("cert", own.Cert)
			p.Set("key", own.Key)
		}
		return p.Encode()
	}
	s := client(t, srv.URL(), params(right))
	release(t, s, acquire(t, s, claim("tls", "a")))
	for what, a := range map[string]*testenv.Authority{"none": nil, "of another authority": wrong} {
		s := client(t, srv.URL(), params(a))
		eventually(t, "client certificate "+what+" is refused with the reason", func() bool { // the connection may break before the reason arrives
			_, err := s.Acquire(deadline(t, 3*time.Second), claim("tls", "a"))
			if err == nil {
				t.Fatalf("client certificate %s is accepted", what)
			}
			return backend.ClassOf(err) == backend.Denied
		})
	}
}
