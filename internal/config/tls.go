package config

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"slices"
)

// TLS says which connections are encrypted, and how.
type TLS struct {
	CertFile     string `yaml:"cert_file" doc:"certificate chain of the API in PEM, for HTTPS; \"\" serves it without TLS. A relative path starts at the configuration file's folder"`
	KeyFile      string `yaml:"key_file" doc:"private key of that certificate in PEM"`
	WorkerCAFile string `yaml:"worker_ca_file" doc:"certificates in PEM by which those of https:// workers may be signed, beside the system's"`

	// Certificate is what LoadFile found in CertFile and KeyFile, nil for none.
	Certificate *tls.Certificate
	// WorkerCAs are the system's certificates and those that LoadFile found in
	// WorkerCAFile, nil for the system's alone.
	WorkerCAs *x509.CertPool
}

// Files returns the files that are named.
func (t TLS) Files() []string {
	return slices.DeleteFunc([]string{t.CertFile, t.KeyFile, t.WorkerCAFile}, func(file string) bool { return file == "" })
}

// same reports whether the files are the same and held the same.
func (t TLS) same(o TLS) bool {
	return slices.Equal(t.Files(), o.Files()) && slices.EqualFunc(t.chain(), o.chain(), bytes.Equal) && t.WorkerCAs.Equal(o.WorkerCAs)
}

// chain returns the certificates of the API, which belong to one key.
func (t TLS) chain() [][]byte {
	if t.Certificate == nil {
		return nil
	}
	return t.Certificate.Certificate
}

// check notes half a pair.
func (t TLS) check(p *problems) {
	if (t.CertFile == "") != (t.KeyFile == "") {
		p.at("tls", "has one of cert_file and key_file", "name both, or neither")
	}
}

// read reads the files that are named. The path of an error is that of the setting.
func (t *TLS) read() (path string, err error) {
	if t.CertFile != "" && t.KeyFile != "" {
		pair, err := tls.LoadX509KeyPair(t.CertFile, t.KeyFile)
		if err != nil {
			return "tls.cert_file", fmt.Errorf("read the certificate and its key: %w", err)
		}
		t.Certificate = &pair
	}
	if t.WorkerCAFile == "" {
		return "", nil
	}
	text, err := os.ReadFile(t.WorkerCAFile)
	if err != nil {
		return "tls.worker_ca_file", fmt.Errorf("read certificates: %w", err)
	}
	if t.WorkerCAs, err = x509.SystemCertPool(); err != nil {
		t.WorkerCAs = x509.NewCertPool()
	}
	if !t.WorkerCAs.AppendCertsFromPEM(text) {
		return "tls.worker_ca_file", errors.New("holds no certificate in PEM")
	}
	return "", nil
}
