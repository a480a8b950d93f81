package backend

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
)

// TLSParams are the URL parameters that [URL.TLS] reads, for the Params of a Driver.
var TLSParams = []string{"cacert", "cert", "key"}

// TLS returns the configuration for connections with TLS 1.2 or later, or nil when on is false. The server's certificate must be valid for the host's name and be signed by
// one of the certificates in the PEM file that the parameter cacert names, without it by one of the system's. The files in cert and key are the client's own
// certificate; they are read again for each connection, so that they can be renewed while the store is open. Parameters for TLS where it is off are refused with ErrInvalid,
// and so are files that can't be used.
func (u *URL) TLS(on bool) (*tls.Config, error) { //nolint:revive // parameters for TLS are judged in both cases
	if !on {
		for _, name := range TLSParams {
			if _, given := u.Params[name]; given {
				return nil, fmt.Errorf("%w: URL parameter %s is for TLS, which this URL doesn't use; give the scheme with TLS", ErrInvalid, name)
			}
		}
		return nil, nil
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if file := u.Text("cacert", ""); file != "" {
		pem, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("%w: URL parameter cacert: %w", ErrInvalid, err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%w: URL parameter cacert: %s holds no certificate in PEM form", ErrInvalid, file)
		}
	}
	cert, key := u.Text("cert", ""), u.Text("key", "")
	if cert == "" && key == "" {
		return config, nil
	}
	if cert == "" || key == "" {
		return nil, fmt.Errorf("%w: URL parameters cert and key go together", ErrInvalid)
	}
	load := func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
		pair, err := tls.LoadX509KeyPair(cert, key)
		return &pair, err
	}
	if _, err := load(nil); err != nil {
		return nil, fmt.Errorf("%w: URL parameters cert and key: %w", ErrInvalid, err)
	}
	config.GetClientCertificate = load
	return config, nil
}
