package redis

import (
	"crypto/tls"
	"testing"

	"gatewayd/state/redistest"
)

// TestTLS: a server is trusted by its certificate, or if that is not checked.
func TestTLS(t *testing.T) {
	address, roots, _ := redistest.StartTLS(t)
	for _, c := range []struct {
		url     string
		options Options
		works   bool
	}{
		{"rediss://" + address, Options{Timeout: patience, TLS: &tls.Config{RootCAs: roots}}, true},
		{"rediss://" + address + "?skip_verify=true", Options{Timeout: patience}, true},
		{"rediss://" + address, Options{}, false},
		{"redis://" + address, Options{}, false},
	} {
		if err := works(t, open(t, c.url, c.options)); (err == nil) != c.works {
			t.Errorf("%s: %v, want it to work: %v", c.url, err, c.works)
		}
	}
}
