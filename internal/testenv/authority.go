package testenv

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// Pair is a certificate and its key, as names of PEM files.
type Pair struct{ Cert, Key string }

// Authority is a certificate authority of the test's own. Its methods may be called from any goroutine; each call makes a new
// certificate in files of its own, which go away with the test.
type Authority struct {
	t    testing.TB
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey

	mu     sync.Mutex
	serial int64
}

// The names of the authority's own files.
const (
	caFile    = "ca.pem"
	probeCert = "probe.pem"
	probeKey  = "probe.key"
)

// NewAuthority makes an authority in a folder that the users of all servers can enter.
func NewAuthority(t testing.TB) *Authority {
	t.Helper()
	dir, err := folder(t, "authority")
	if err != nil {
		t.Fatalf("testenv: %v", err)
	}
	a := &Authority{t: t, dir: dir}
	pattern := a.pattern("tenure test authority")
	pattern.IsCA, pattern.BasicConstraintsValid = true, true
	pattern.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageCRLSign
	a.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err == nil {
		err = a.sign(pattern, pattern, a.key, a.CA())
	}
	if err != nil {
		t.Fatalf("testenv: authority: %v", err)
	}
	a.cert = pattern
	a.write("probe", a.pattern("probe"), Pair{Cert: filepath.Join(dir, probeCert), Key: filepath.Join(dir, probeKey)})
	return a
}

// CA is the file with the authority's own certificate.
func (a *Authority) CA() string { return filepath.Join(a.dir, caFile) }

// Server is a good certificate for 127.0.0.1, ::1 and localhost.
func (a *Authority) Server() Pair {
	a.t.Helper()
	return a.make("server", local(a.pattern("")))
}

// Expired is a certificate for this machine that was good until yesterday.
func (a *Authority) Expired() Pair {
	a.t.Helper()
	pattern := local(a.pattern(""))
	pattern.NotBefore, pattern.NotAfter = pattern.NotBefore.AddDate(0, 0, -2), pattern.NotBefore.AddDate(0, 0, -1)
	return a.make("expired", pattern)
}

// WrongName is a good certificate for the host other.example only.
func (a *Authority) WrongName() Pair {
	a.t.Helper()
	pattern := a.pattern("")
	pattern.DNSNames = []string{"other.example"}
	return a.make("wrong-name", pattern)
}

// Client is a certificate for a client; the name is its common name, by which etcd knows its user.
func (a *Authority) Client(name string) Pair {
	a.t.Helper()
	return a.make("client", a.pattern(name))
}

// pattern is a certificate of today. A server's has no common name: etcd's own HTTP gateway logs in with the server's
// certificate, and would do so as the user of that name.
func (a *Authority) pattern(commonName string) *x509.Certificate {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.serial++
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: big.NewInt(a.serial),
		Subject:      pkix.Name{CommonName: commonName},
		NotBefore:    now.Add(-time.Hour), // the clocks of one machine agree, those of containers may not
		NotAfter:     now.AddDate(0, 0, 1),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
}

// local makes a certificate one for this machine.
func local(pattern *x509.Certificate) *x509.Certificate {
	pattern.DNSNames = []string{"localhost"}
	pattern.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}
	return pattern
}

func (a *Authority) make(name string, pattern *x509.Certificate) Pair {
	a.t.Helper()
	file := filepath.Join(a.dir, fmt.Sprintf("%s-%d", name, pattern.SerialNumber))
	return a.write(name, pattern, Pair{Cert: file + ".pem", Key: file + ".key"})
}

// write makes a key, has its certificate signed by the authority and writes both.
func (a *Authority) write(name string, pattern *x509.Certificate, files Pair) Pair {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err == nil {
		err = a.sign(pattern, a.cert, key, files.Cert)
	}
	var der []byte
	if err == nil {
		der, err = x509.MarshalPKCS8PrivateKey(key)
	}
	if err == nil {
		err = os.WriteFile(files.Key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600)
	}
	if err != nil {
		a.t.Fatalf("testenv: certificate %s: %v", name, err)
	}
	return files
}

// sign writes the certificate of a key.
func (a *Authority) sign(pattern, parent *x509.Certificate, key *ecdsa.PrivateKey, file string) error {
	der, err := x509.CreateCertificate(rand.Reader, pattern, parent, key.Public(), a.key)
	if err != nil {
		return err
	}
	return os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o644)
}
