package config

import "testing"

func TestParseURL(t *testing.T) {
	for text, want := range map[string]string{
		"http://a":               "http://a",
		"http://a/":              "http://a",
		"http://a:8000/v1":       "http://a:8000",
		"http://a:8000/v1///":    "http://a:8000",
		"https://a/engine/v1/":   "https://a/engine",
		"http://a/v10":           "http://a/v10",
		"http://[::1]:8000/v1":   "http://[::1]:8000",
		"HTTP://a/openai/deploy": "http://a/openai/deploy",
	} {
		u, err := ParseURL(text)
		if err != nil || u.String() != want {
			t.Errorf("%q: %v, %v, want %q", text, u, err, want)
		}
	}
}

func TestWorkerName(t *testing.T) {
	for _, c := range []struct {
		worker Worker
		want   string
	}{
		{Worker{URL: "http://a"}, "a:80"},
		{Worker{URL: "https://a/v1"}, "a:443"},
		{Worker{URL: "http://a:8000"}, "a:8000"},
		{Worker{URL: "http://[::1]"}, "[::1]:80"},
		{Worker{URL: "http://[::1]:8000"}, "[::1]:8000"},
		{Worker{URL: "http://a", ID: "w1"}, "w1"},
		{Worker{URL: ":"}, ""},
	} {
		if got := c.worker.Name(); got != c.want {
			t.Errorf("%+v: %q, want %q", c.worker, got, c.want)
		}
	}
}

func TestBytes(t *testing.T) {
	for text, want := range map[string]Bytes{"0": 0, "7": 7, "7B": 7, "64KiB": 64 << 10, "3 MiB": 3 << 20, "8388607GiB": 8388607 << 30} {
		got, err := parseBytes(text)
		if err != nil || got != want {
			t.Errorf("%q: %d, %v, want %d", text, got, err, want)
		}
		if again, err := parseBytes(got.String()); err != nil || again != got {
			t.Errorf("%v is written as %q", got, got.String())
		}
	}
	for _, text := range []string{"", "-1", "1.5MiB", "64kb", "99999999999GiB", "KiB", "0x10"} {
		if got, err := parseBytes(text); err == nil {
			t.Errorf("%q is read as %d", text, got)
		}
	}
}
