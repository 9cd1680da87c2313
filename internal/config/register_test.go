package config

import (
	"net/url"
	"strings"
	"testing"
)

func TestAdmits(t *testing.T) {
	closed, open := Discovery{}, Discovery{Register: []string{"10.1.0.0/16", "127.0.0.0/8", "::1/128", "Llama.internal"}}
	for host, want := range map[string][2]bool{
		"93.184.216.34": {true, true}, "[2001:db8::1]": {true, true},
		"10.1.2.3": {false, true}, "10.2.0.1": {false, false}, "127.0.0.1": {false, true}, "[::1]": {false, true}, "[::ffff:127.0.0.1]": {false, true},
		"[::ffff:10.2.0.1]": {false, false}, "169.254.169.254": {false, false}, "[fe80::1%25eth0]": {false, false}, "[fd00::1]": {false, false},
		"0.0.0.0": {false, false}, "[::]": {false, false}, "224.0.0.1": {false, false}, "255.255.255.255": {false, false}, "100.100.100.200": {false, false},
		"llama.internal": {false, true}, "localhost": {false, false}, "2130706433": {false, false}, "0x7f.1": {false, false}, "example.com": {false, false},
	} {
		u, err := url.Parse("http://" + host + ":8000")
		if err != nil {
			t.Fatal(err)
		}
		for i, d := range []Discovery{closed, open} {
			if err := d.Admits(u); (err == nil) != want[i] {
				t.Errorf("%s where %v may be registered: %v", host, d.Register, err)
			}
		}
	}
	for _, text := range []string{"10.0.0.0", "10.0.0.0/33", "a b", "http://a", "''"} {
		if _, err := Load(strings.NewReader("workers: [{url: http://a}]\ndiscovery: {register: ["+text+"]}"), "f"); err == nil || !strings.Contains(err.Error(), "register[0]") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
