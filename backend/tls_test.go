package backend

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTLSOfAURL(t *testing.T) {
	noPEM := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(noPEM, []byte("nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	for params, want := range map[string]string{
		"cacert=/nowhere/ca.pem":                    "cacert",
		"cacert=" + noPEM:                           "no certificate in PEM form",
		"cert=/nowhere/c.pem":                       "go together",
		"key=/nowhere/c.key":                        "go together",
		"cert=/nowhere/c.pem&key=/nowhere/c.pem":    "cert and key",
		"cert=/nowhere/c.pem&key=/nowhere/c.pem&a=": "cert and key",
	} {
		u, err := ParseURL("etcds://host?" + params)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := u.TLS(true); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want an error that says %q", params, err, want)
		}
		if _, err := u.TLS(false); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), "is for TLS") {
			t.Errorf("%s without TLS: got %v", params, err)
		}
	}
	u, err := ParseURL("etcds://host")
	if err != nil {
		t.Fatal(err)
	}
	if c, err := u.TLS(true); err != nil || c == nil || c.RootCAs != nil {
		t.Errorf("TLS with the system's certificates: %v, %v", c, err)
	}
	if c, err := u.TLS(false); err != nil || c != nil {
		t.Errorf("no TLS: %v, %v", c, err)
	}
}
