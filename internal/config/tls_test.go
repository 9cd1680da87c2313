package config

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// certificate writes a certificate of its own and its key.
func certificate(t *testing.T, folder string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	about := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"gateway"}}
	signed, err := x509.CreateCertificate(rand.Reader, about, about, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{"cert.pem": {Type: "CERTIFICATE", Bytes: signed}, "key.pem": {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(filepath.Join(folder, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// Certificates and keys are read with the file that names them, and no output
// shows the key; what cannot be read is an error that names the setting.
func TestTLSFiles(t *testing.T) {
	folder := t.TempDir()
	certificate(t, folder)
	path := filepath.Join(folder, "gw.yaml")
	load := func(settings string) (Config, error) {
		t.Helper()
		if err := os.WriteFile(path, []byte("workers: [{url: 'https://w'}]\ntls: {"+settings+"}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return LoadFile(path)
	}
	c, err := load("cert_file: cert.pem, key_file: key.pem, worker_ca_file: cert.pem")
	if err != nil {
		t.Fatal(err)
	}
	if c.TLS.Certificate == nil || c.TLS.WorkerCAs == nil || c.TLS.CertFile != filepath.Join(folder, "cert.pem") {
		t.Errorf("%+v", c.TLS)
	}
	if shown := fmt.Sprintf("%v %+v", c, c.TLS); strings.Contains(shown, "PrivateKey") {
		t.Errorf("the key is shown: %s", shown)
	}
	again, err := load("cert_file: cert.pem, key_file: key.pem, worker_ca_file: cert.pem")
	if err != nil || !again.Same(c) || len(c.TLS.Files()) != 3 {
		t.Errorf("read twice, it differs: %v", err)
	}
	certificate(t, folder)
	for _, settings := range []string{"cert_file: cert.pem, key_file: key.pem", "worker_ca_file: cert.pem"} {
		before, err := load(settings)
		if err != nil {
			t.Fatal(err)
		}
		certificate(t, folder)
		if after, err := load(settings); err != nil || after.Same(before) {
			t.Errorf("%s: another certificate makes no difference: %v", settings, err)
		}
	}
	for settings, at := range map[string]string{
		"cert_file: no.pem, key_file: key.pem":    "tls.cert_file: read the certificate and its key: open ",
		"cert_file: cert.pem, key_file: cert.pem": "tls.cert_file: read the certificate and its key: tls: ",
		"cert_file: cert.pem":                     "tls: has one of cert_file and key_file",
		"worker_ca_file: no.pem":                  "tls.worker_ca_file: read certificates: open ",
		"worker_ca_file: key.pem":                 "tls.worker_ca_file: holds no certificate in PEM",
	} {
		if _, err := load(settings); err == nil || !strings.Contains(err.Error(), at) {
			t.Errorf("%s: %v", settings, err)
		}
	}
}
