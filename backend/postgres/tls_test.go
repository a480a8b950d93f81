package postgres

import (
	"crypto/tls"
	"strings"
	"testing"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/testenv"
)

// With sslmode=verify-full a certificate must be good: signed by the authority that is given, of today, and for the host.
func TestTLS(t *testing.T) {
	t.Parallel()
	a, other := testenv.NewAuthority(t), testenv.NewAuthority(t)
	certificates := map[string]struct {
		pair testenv.Pair
		ca   string
		word string // in the error; empty: it works
	}{
		"good":                  {a.Server(), a.CA(), ""},
		"of another authority":  {a.Server(), other.CA(), "unknown authority"},
		"expired":               {a.Expired(), a.CA(), "expired"},
		"for another host":      {a.WrongName(), a.CA(), "127.0.0.1"},
		"unknown to the system": {a.Server(), "", "unknown authority"},
	}
	for what, c := range certificates {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			srv := testenv.Postgres(t, testenv.Options{Own: true, TLS: &c.pair})
			u := srv.URL()
			if c.ca != "" {
				u = with(t, u, "sslrootcert", c.ca)
			}
			s := client(t, u)
			_, err := s.Acquire(deadline(t, ample), claim("e", "a", time.Minute))
			if c.word == "" {
				if err != nil {
					t.Fatal(err)
				}
				if _, err := s.Watch(deadline(t, ample), "e"); err != nil {
					t.Errorf("watch: %v", err)
				}
				conn, err := inner(t, s).pool.Acquire(deadline(t, ample))
				if err != nil {
					t.Fatal(err)
				}
				defer conn.Release()
				if _, secure := conn.Conn().PgConn().Conn().(*tls.Conn); !secure {
					t.Error("the connection isn't encrypted")
				}
				return
			}
			class(t, "acquire", err, backend.Unknown)
			if err == nil || !strings.Contains(err.Error(), "certificate") || !strings.Contains(err.Error(), c.word) {
				t.Errorf("%v doesn't name the certificate and %q", err, c.word)
			}
			if _, err := s.Watch(deadline(t, ample), "e"); err == nil {
				t.Error("a watch took the certificate")
			}
		})
	}
}

// A server that asks for the client's certificate gets the one of the URL.
func TestClientCertificate(t *testing.T) {
	t.Parallel()
	a := testenv.NewAuthority(t)
	pair, mine := a.Server(), a.Client("postgres")
	srv := testenv.Postgres(t, testenv.Options{Own: true, TLS: &pair, ClientCA: a.CA()})
	u := with(t, srv.URL(), "sslrootcert", a.CA())
	acquire(t, client(t, with(t, u, "sslcert", mine.Cert, "sslkey", mine.Key)), claim("e", "a", time.Minute))
	_, err := client(t, u).Get(deadline(t, ample), "e")
	if err == nil {
		t.Error("it works without a certificate")
	}
}

// What can't be read is refused by Open.
func TestUnreadableCertificates(t *testing.T) {
	t.Parallel()
	for _, params := range []string{"sslmode=verify-full&sslrootcert=/nowhere", "sslmode=verify-full&sslcert=/nowhere&sslkey=/nowhere", "sslmode=sometimes", "cacert=/x"} {
		s, err := backend.Open(t.Context(), "postgres://u:secret@h/db?"+params)
		if err == nil {
			_ = s.Close()
		}
		class(t, params, err, backend.Invalid)
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%v shows the password", err)
		}
	}
}
