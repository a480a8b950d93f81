package testenv

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/url"
	"os"
	"strings"
	"testing"
)

// trusting is a client that verifies the server, and shows its certificate if it is given one.
func trusting(t *testing.T, a *Authority, own ...Pair) *tls.Config {
	t.Helper()
	pem, err := os.ReadFile(a.CA())
	if err != nil {
		t.Fatal(err)
	}
	config := &tls.Config{RootCAs: x509.NewCertPool(), ServerName: "localhost"}
	if !config.RootCAs.AppendCertsFromPEM(pem) {
		t.Fatal("no certificate in the file of the authority")
	}
	for _, p := range own {
		cert, err := tls.LoadX509KeyPair(p.Cert, p.Key)
		if err != nil {
			t.Fatal(err)
		}
		config.Certificates = append(config.Certificates, cert)
	}
	return config
}

// ask probes the server as a client with this configuration does.
func ask(t *testing.T, k kind, s *Server, config *tls.Config) error {
	return k.probe(t.Context(), target{addr: s.Addr(), tls: config})
}

func TestTLS(t *testing.T) {
	t.Parallel()
	for _, k := range kinds {
		t.Run(k.kind.name, func(t *testing.T) {
			t.Parallel()
			a := NewAuthority(t)
			pair := a.Server()
			s := k.open(t, Options{TLS: &pair})
			serves(t, k.kind, s)
			for _, name := range []string{"localhost", "127.0.0.1", "::1"} {
				config := trusting(t, a)
				config.ServerName = name
				if err := ask(t, k.kind, s, config); err != nil {
					t.Errorf("a client that verifies %s: %v", name, err)
				}
			}
			var unknown x509.UnknownAuthorityError
			if err := ask(t, k.kind, s, trusting(t, NewAuthority(t))); !errors.As(err, &unknown) {
				t.Errorf("a client that trusts another authority: %v", err)
			}
			if err := ask(t, k.kind, s, nil); err == nil {
				t.Error("it answers without TLS")
			}
			u, err := url.Parse(s.URL())
			if err != nil {
				t.Fatal(err)
			}
			if got := u.Scheme + "?" + u.Query().Get("sslmode"); !strings.Contains("rediss? etcds? postgres?verify-full consuls?", got) {
				t.Errorf("URL %s", s.URL())
			}
			s.Kill()
			s.Start()
			s.Restart()
			serves(t, k.kind, s)
		})
	}
}

func TestBrokenCertificates(t *testing.T) {
	t.Parallel()
	for _, k := range kinds {
		t.Run(k.kind.name, func(t *testing.T) {
			t.Parallel()
			a := NewAuthority(t)
			expired, wrongName := a.Expired(), a.WrongName()
			var invalid x509.CertificateInvalidError
			if err := ask(t, k.kind, k.open(t, Options{TLS: &expired}), trusting(t, a)); !errors.As(err, &invalid) || invalid.Reason != x509.Expired {
				t.Errorf("expired: %v", err)
			}
			s := k.open(t, Options{TLS: &wrongName})
			var host x509.HostnameError
			if err := ask(t, k.kind, s, trusting(t, a)); !errors.As(err, &host) {
				t.Errorf("wrong name: %v", err)
			}
			config := trusting(t, a)
			config.ServerName = "other.example"
			if err := ask(t, k.kind, s, config); err != nil {
				t.Errorf("the name of the certificate: %v", err)
			}
		})
	}
}

func TestClientCertificates(t *testing.T) {
	t.Parallel()
	for _, k := range kinds {
		t.Run(k.kind.name, func(t *testing.T) {
			t.Parallel()
			a, stranger := NewAuthority(t), NewAuthority(t)
			pair := a.Server()
			s := k.open(t, Options{TLS: &pair, ClientCA: a.CA(), Auth: true})
			serves(t, k.kind, s)
			if err := ask(t, k.kind, s, trusting(t, a, a.Client("root"))); err != nil {
				t.Errorf("with a certificate: %v", err)
			}
			if err := ask(t, k.kind, s, trusting(t, a)); err == nil {
				t.Error("it answers a client without a certificate")
			}
			forged := trusting(t, a)
			forged.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
				own := trusting(t, stranger, stranger.Client("root")).Certificates[0]
				return &own, nil
			}
			if err := ask(t, k.kind, s, forged); err == nil {
				t.Error("it answers a client with a certificate of another authority")
			}
		})
	}
}

func TestEtcdAsksForThePassword(t *testing.T) {
	t.Parallel()
	s := Etcd(t, Options{Auth: true})
	read := func(password string) error {
		token, err := etcdToken(t.Context(), s.at, password)
		if err != nil {
			return err
		}
		_, err = s.at.post(t.Context(), "/v3/kv/range", map[string]string{"key": "aw=="}, token)
		return err
	}
	check := func(when string) {
		t.Helper()
		if err := read(Password()); err != nil {
			t.Errorf("%s: with the password: %v", when, err)
		}
		if err := read("wrong"); err == nil || !strings.Contains(err.Error(), "invalid user ID or password") {
			t.Errorf("%s: with a wrong password: %v", when, err)
		}
		if _, err := s.at.post(t.Context(), "/v3/kv/range", map[string]string{"key": "aw=="}, nil); err == nil {
			t.Errorf("%s: it answers a stranger", when)
		}
	}
	check("at first")
	s.Kill()
	s.Start()
	check("after a crash")
	s.Restart()
	check("after it lost its data")
}
