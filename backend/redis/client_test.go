package redis

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/testenv"
)

func TestNewRefusesWhatCantWork(t *testing.T) {
	c := goredis.NewClient(&goredis.Options{Addr: "127.0.0.1:1"})
	defer c.Close()
	ring := goredis.NewRing(&goredis.RingOptions{Addrs: map[string]string{"a": "127.0.0.1:1"}, HeartbeatFrequency: time.Hour})
	defer ring.Close()
	for what, open := range map[string]func() (*Store, error){
		"no client":       func() (*Store, error) { return New(nil, Options{}) },
		"a ring":          func() (*Store, error) { return New(ring, Options{}) },
		"a long prefix":   func() (*Store, error) { return New(c, Options{Prefix: strings.Repeat("x", 257)}) },
		"a negative time": func() (*Store, error) { return New(c, Options{Timeout: -1}) },
	} {
		s, err := open()
		if s != nil {
			t.Errorf("%s gives a store", what)
		}
		class(t, what, err, backend.Invalid)
	}
}

// R57 and its kind: settings of a user's client that endanger leases are told, each with what to change.
func TestClientWarnings(t *testing.T) {
	for _, c := range []struct {
		options goredis.Options
		want    []string
	}{
		{goredis.Options{}, []string{"ContextTimeoutEnabled", "MaxRetries"}},
		{goredis.Options{ContextTimeoutEnabled: true, MaxRetries: -1, PoolSize: 1}, []string{"PoolSize"}},
		{goredis.Options{ContextTimeoutEnabled: true, MaxRetries: -1}, nil},
	} {
		c.options.Addr = "127.0.0.1:1"
		client := goredis.NewClient(&c.options)
		s := must[*Store](t)(New(client, Options{}))
		got := s.Warnings()
		if len(got) != len(c.want) {
			t.Errorf("%d warnings, want %d: %q", len(got), len(c.want), got)
		}
		for i, word := range c.want {
			if i < len(got) && !strings.Contains(got[i], word) {
				t.Errorf("%q doesn't name %s", got[i], word)
			}
		}
		_ = s.Close()
		_ = client.Close()
	}
	for _, rawURL := range []string{"redis://h", "redis+cluster://h"} {
		s := inner(t, client(t, rawURL, ""))
		if got := clientWarnings(s.client); len(got) > 0 {
			t.Errorf("our own client for %s has warnings: %q", rawURL, got)
		}
	}
}

// The store of a user's client works in the client's database, and finds what one opened by URL wrote.
func TestClientAndURLSeeTheSame(t *testing.T) {
	srv := testenv.Redis(t)
	at := strings.TrimSuffix(srv.URL(), "/0") + "/3"
	byURL := client(t, at, "prefix=p")
	byClient := must[*Store](t)(New(raw(t, at), Options{Prefix: "p"}))
	defer byClient.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	wake := must[<-chan struct{}](t)(byClient.Watch(ctx, "e"))
	l := acquire(t, byURL, claim("e", "a"))
	woken(t, "grant", wake)
	if r := get(t, byClient, "e"); r.Token != l.Token {
		t.Errorf("the client's store sees %v", r)
	}
}

// A server that speaks TLS with a certificate which we trust, and one that we don't.
func TestTLS(t *testing.T) {
	dir := t.TempDir()
	pool := certificate(t, dir)
	port := freePort(t)
	srv := testenv.Redis(t, testenv.Options{Settings: []string{
		fmt.Sprint("tls-port ", port), "tls-cert-file " + dir + "/cert.pem", "tls-key-file " + dir + "/key.pem",
		"tls-ca-cert-file " + dir + "/cert.pem", "tls-auth-clients no",
	}})
	rawURL := fmt.Sprintf("rediss://:%s@127.0.0.1:%d/0", testenv.Password(), port)
	untrusting := client(t, rawURL, "")
	_, err := untrusting.Get(deadline(t, ample), "e")
	class(t, "get with an unknown authority", err, backend.Unknown)
	if unknown := new(tls.CertificateVerificationError); !errors.As(err, &unknown) {
		t.Errorf("%v is no %T", err, unknown)
	}

	c, o, _, err := parsed(t, rawURL)
	if err != nil {
		t.Fatal(err)
	}
	c.tls.RootCAs = pool
	trusting := backend.Wrap(dial(c, o))
	defer trusting.Close()
	wake := watching(t, trusting, "e")
	l := acquire(t, trusting, claim("e", "a"))
	woken(t, "grant", wake)
	renew(t, trusting, l)
	if r := get(t, client(t, srv.URL(), ""), "e"); r.Token != l.Token {
		t.Errorf("without TLS there is %v", r)
	}
}

func freePort(t *testing.T) int {
	t.Helper()
	l := must[net.Listener](t)(net.Listen("tcp", "127.0.0.1:0"))
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// certificate writes cert.pem and key.pem for 127.0.0.1, signed by itself.
func certificate(t *testing.T, dir string) *x509.CertPool {
	t.Helper()
	key := must[*ecdsa.PrivateKey](t)(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	cert := must[[]byte](t)(x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key))
	private := must[[]byte](t)(x509.MarshalPKCS8PrivateKey(key))
	write := func(name, kind string, der []byte) []byte {
		text := pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
		return text
	}
	write("key.pem", "PRIVATE KEY", private)
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(write("cert.pem", "CERTIFICATE", cert))
	return pool
}
