package consul

import (
	"net/url"
	"strings"
	"testing"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/testenv"
)

// with adds parameters for files to a URL.
func with(rawURL string, params map[string]string) string {
	for name, value := range params {
		rawURL += "&" + name + "=" + url.QueryEscape(value)
	}
	return rawURL
}

// The right authority lets in, also with a client's certificate and with a watch; without one the server refuses.
func TestTLS(t *testing.T) {
	t.Parallel()
	a := testenv.NewAuthority(t)
	pair, own := a.Server(), a.Client("candidate")
	srv := start(t, testenv.Options{TLS: &pair, ClientCA: a.CA()})
	if !strings.HasPrefix(srv.URL(), "consuls://") {
		t.Fatal("the server speaks no TLS")
	}
	s := client(t, with(srv.URL(), map[string]string{"cacert": a.CA(), "cert": own.Cert, "key": own.Key}), "")
	wake := watching(t, s, "e")
	l := acquire(t, s, claim("e", "P"))
	woken(t, "a grant", wake)
	renew(t, s, l)
	release(t, s, l)
	_, err := client(t, with(srv.URL(), map[string]string{"cacert": a.CA()}), "").Get(deadline(t, ample), "e")
	class(t, "get without a client's certificate", err, backend.Unknown)
	if err != nil && !strings.Contains(err.Error(), "certificate required") && !strings.Contains(err.Error(), "bad certificate") {
		t.Errorf("the error doesn't say that a certificate is missing: %v", err)
	}
}

// Certificates that prove nothing are refused with an error that says why.
func TestBrokenCertificates(t *testing.T) {
	t.Parallel()
	a, other := testenv.NewAuthority(t), testenv.NewAuthority(t)
	for what, c := range map[string]struct {
		pair     testenv.Pair
		ca, says string
	}{
		"another authority":   {a.Server(), other.CA(), "unknown authority"},
		"the system's own":    {a.Server(), "", "unknown authority"},
		"expired":             {a.Expired(), a.CA(), "expired"},
		"for another machine": {a.WrongName(), a.CA(), "127.0.0.1"},
	} {
		srv := start(t, testenv.Options{TLS: &c.pair})
		params := map[string]string{}
		if c.ca != "" {
			params["cacert"] = c.ca
		}
		s := client(t, with(srv.URL(), params), "")
		eventually(t, what+": the error says "+c.says, func() bool { // a busy machine may take too long for a handshake first
			_, err := s.Acquire(deadline(t, ample), claim("e", "P"))
			class(t, "acquire with a certificate: "+what, err, backend.Unknown)
			return err != nil && strings.Contains(err.Error(), c.says)
		})
	}
}
