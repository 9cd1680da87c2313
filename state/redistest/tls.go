package redistest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// StartTLS runs a server that speaks TLS on a free port of 127.0.0.1, and
// returns its address, HOST:PORT, and what a client must trust.
func StartTLS(t testing.TB) (address string, roots *x509.CertPool, s *Server) {
	t.Helper()
	dir := temporary(t)
	certificate, key, roots := certify(t, dir)
	address, port := free(t)
	s = &Server{network: "unix", address: filepath.Join(dir, "s"), dir: dir}
	s.args = append(fresh(dir), "--port", "0", "--unixsocket", s.address, "--bind", "127.0.0.1", "--tls-port", port,
		"--tls-auth-clients", "no", "--tls-cert-file", certificate, "--tls-key-file", key, "--tls-ca-cert-file", certificate)
	s.run(t)
	return address, roots, s
}

// certify writes a certificate for 127.0.0.1 that signs itself, and its key.
func certify(t testing.TB, dir string) (certificate, key string, roots *x509.CertPool) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	public, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	must(t, err)
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	must(t, err)
	certificate, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: public})
	must(t, os.WriteFile(certificate, text, 0o600))
	must(t, os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), 0o600))
	roots = x509.NewCertPool()
	roots.AppendCertsFromPEM(text)
	return certificate, key, roots
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("redistest: make a certificate: %v", err)
	}
}
