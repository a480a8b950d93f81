package redis

import (
	"strings"
	"testing"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/testenv"
)

// A server that speaks TLS only, with a certificate of the authority in cacert: everything works, watches too.
func TestTLS(t *testing.T) {
	ca := testenv.NewAuthority(t)
	pair := ca.Server()
	srv := testenv.Redis(t, testenv.Options{TLS: &pair})
	s := client(t, srv.URL(), "cacert="+ca.CA())
	wake := watching(t, s, "e")
	l := acquire(t, s, claim("e", "a"))
	woken(t, "grant", wake)
	renew(t, s, l)
	release(t, s, l)
	woken(t, "release", wake)
}

// A certificate that is signed by another authority, over, or for another host is refused, with the reason.
func TestTLSRefusesWrongCertificates(t *testing.T) {
	ca, other := testenv.NewAuthority(t), testenv.NewAuthority(t)
	good, expired, elsewhere := ca.Server(), ca.Expired(), ca.WrongName()
	for what, c := range map[string]struct {
		pair   testenv.Pair
		params string
		want   string
	}{
		"another authority":      {good, "cacert=" + other.CA(), "unknown authority"},
		"the system's only":      {good, "", "unknown authority"},
		"an expired one":         {expired, "cacert=" + ca.CA(), "expired"},
		"one for another host":   {elsewhere, "cacert=" + ca.CA(), "cannot validate certificate for 127.0.0.1"},
		"strict says it at once": {expired, "strict=1&cacert=" + ca.CA(), "expired"},
	} {
		t.Run(what, func(t *testing.T) {
			srv := testenv.Redis(t, testenv.Options{TLS: &c.pair})
			if strings.Contains(c.params, "strict") {
				_, err := backend.Open(deadline(t, ample), srv.URL()+"?"+c.params)
				refusedWith(t, err, c.want)
				return
			}
			s := client(t, srv.URL(), c.params)
			_, err := s.Acquire(deadline(t, ample), claim("e", "a"))
			refusedWith(t, err, c.want)
			_, err = s.Watch(deadline(t, ample), "e")
			refusedWith(t, err, c.want)
		})
	}
}

func refusedWith(t *testing.T, err error, want string) {
	t.Helper()
	class(t, "a wrong certificate", err, backend.Unknown)
	if err != nil && !strings.Contains(err.Error(), want) {
		t.Errorf("%v doesn't say %q", err, want)
	}
}

// A server that wants certificates of its clients lets in who has one, and nobody else.
func TestTLSClientCertificate(t *testing.T) {
	ca := testenv.NewAuthority(t)
	pair, own := ca.Server(), ca.Client("tenure")
	srv := testenv.Redis(t, testenv.Options{TLS: &pair, ClientCA: ca.CA()})
	without := client(t, srv.URL(), "cacert="+ca.CA())
	_, err := without.Acquire(deadline(t, ample), claim("e", "a"))
	class(t, "acquire without a certificate", err, backend.Unknown)
	with := client(t, srv.URL(), "cacert="+ca.CA()+"&cert="+own.Cert+"&key="+own.Key)
	acquire(t, with, claim("e", "a"))
}
