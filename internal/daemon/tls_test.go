package daemon

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"gatewayd/internal/config"
)

// pair makes a certificate with a serial number and its key, in PEM.
func pair(t *testing.T, number int64) (cert, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	about := &x509.Certificate{SerialNumber: big.NewInt(number), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	signed, err := x509.CreateCertificate(rand.Reader, about, about, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	b, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: b})
}

// Certificates change when their files do: a pair that does not fit leaves the old one
// in force and says why, and connections from before go on. So do those by which
// workers are known.
func TestCertificatesAreReplaced(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, text []byte) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	worker := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/models" {
			fmt.Fprint(w, `{"data":[{"id":"m"}]}`)
		}
	}))
	worker.Config.ErrorLog = hclog.NewNullLogger().StandardLogger(nil)
	t.Cleanup(worker.Close)
	cert, key := pair(t, 1)
	write("cert.pem", cert)
	write("key.pem", key)
	write("ca.pem", cert)
	text := fmt.Sprintf("listen: 127.0.0.1:0\nadmin_listen: 127.0.0.1:0\nadmin_token_file: token\nstrategies: []\nplugins: {start_timeout: 100ms, trial_time: 0s}\n"+
		"workers: [{url: %s, id: w}]\ntls: {cert_file: cert.pem, key_file: key.pem, worker_ca_file: ca.pem}\n", worker.URL)
	write("gatewayd.yaml", []byte(text))
	file := filepath.Join(dir, "gatewayd.yaml")
	c, err := config.LoadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = pair(t, 2) // in the moment before the files are watched
	write("cert.pem", cert)
	write("key.pem", key)
	d, err := Start(t.Context(), Options{
		Config: c, Logger: hclog.NewNullLogger(), Getenv: func(string) string { return "" },
		Load: func() (config.Config, error) { return config.LoadFile(file) }, File: file, Text: []byte(text),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Shutdown(t.Context())
	serial := func() int64 {
		t.Helper()
		conn, err := tls.Dial("tcp", d.Addr(), &tls.Config{InsecureSkipVerify: true})
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		return conn.ConnectionState().PeerCertificates[0].SerialNumber.Int64()
	}
	until(t, "what changed before it was watched", func() bool { return serial() == 2 })
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	defer client.CloseIdleConnections()
	health := func() *tls.ConnectionState {
		t.Helper()
		resp, err := client.Get("https://" + d.Addr() + "/healthz")
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			t.Fatal(err)
		}
		return resp.TLS
	}
	health()
	if text := garbled(t, d.Addr()); !strings.HasPrefix(text, "HTTP/1.1 400 ") || !strings.Contains(text, `"code":"malformed_request"`) {
		t.Errorf("a request without a host is answered with %q", text)
	}

	before := d.Config().Number
	cert, key = pair(t, 3)
	write("cert.pem", cert)
	until(t, "the error of half a pair", func() bool { return strings.Contains(d.Config().Error, "tls.cert_file") })
	if n := serial(); n != 2 || d.Config().Number != before {
		t.Errorf("half a pair is in force: %d", n)
	}
	write("key.pem", key)
	until(t, "the whole pair", func() bool { return serial() == 3 && d.Config().Error == "" })
	if n := health().PeerCertificates[0].SerialNumber.Int64(); n != 2 {
		t.Errorf("a connection from before has certificate %d", n)
	}

	up := func() bool { w := d.Workers(); return len(w) == 1 && w[0].Up }
	if up() {
		t.Error("a worker that nobody has signed for is up")
	}
	write("ca.pem", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: worker.Certificate().Raw}))
	until(t, "a worker that is known now", up)
	write("gatewayd.yaml", []byte(strings.Replace(text, "cert_file: cert.pem, key_file: key.pem, ", "", 1)))
	until(t, "the refusal of an API without TLS", func() bool { return strings.Contains(d.Config().Error, "TLS cannot change") })
}

// garbled sends what cannot be read as a request over TLS and returns all of the answer.
func garbled(t *testing.T, address string) string {
	t.Helper()
	c, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, "GET /v1/models HTTP/1.1\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(c)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
