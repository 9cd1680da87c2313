package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const canary = "sk-canary-5f1d"

// TestKeys loads a file whose worker names a key file, with what that holds.
func TestKeys(t *testing.T) {
	for name, c := range map[string]struct {
		content, key, problem string
	}{
		"trimmed":  {content: "  " + canary + "\r\n\n", key: canary},
		"empty":    {content: " \n", problem: "is empty"},
		"two":      {content: canary + "\n" + canary, problem: "holds a space, a line break"},
		"foreign":  {content: canary + "é", problem: "not ASCII"},
		"too long": {content: strings.Repeat("a", maxKey+1), problem: "larger than"},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			write(t, filepath.Join(folder, "w.key"), c.content)
			file := filepath.Join(folder, "gw.yaml")
			write(t, file, "workers:\n  - url: http://a\n    api_key_file: w.key\n")
			got, err := LoadFile(file)
			if c.problem == "" {
				if err != nil || got.Workers[0].Key.Reveal() != c.key {
					t.Errorf("%+v, %v", got, err)
				}
				return
			}
			var e *Error
			if !errors.As(err, &e) || e.Problems[0].Line != 3 || !strings.Contains(err.Error(), c.problem) || strings.Contains(err.Error(), canary) {
				t.Errorf("error %v, want one in line 3 with %q", err, c.problem)
			}
		})
	}
}

func TestMissingFiles(t *testing.T) {
	folder := t.TempDir()
	if _, err := LoadFile(filepath.Join(folder, "gw.yaml")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	file := filepath.Join(folder, "gw.yaml")
	write(t, file, "workers: [{url: http://a, api_key_file: nowhere}]\n")
	if _, err := LoadFile(file); err == nil || !strings.Contains(err.Error(), file+":1:41: workers[0].api_key_file: ") {
		t.Errorf("no key file: %v", err)
	}
}

func TestPathsStartAtTheFile(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "gw.yaml")
	write(t, file, "workers: [{url: http://a}]\nplugins: {dir: p}\nstrategies: [./mine:a=b, /abs/mine, joule]\n")
	c, err := LoadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(c.Plugins.Dir, c.Strategies)
	want := fmt.Sprintf("%s/p[%s/mine:a=b /abs/mine joule]", folder, folder)
	if got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestSecretsDoNotShow prints a configuration with a key in every usual way.
func TestSecretsDoNotShow(t *testing.T) {
	c := Default()
	c.Workers = []Worker{{URL: "http://a", Key: NewSecret(canary)}}
	secret := NewSecret(canary)
	var out strings.Builder
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		fmt.Fprintf(&out, verb, secret)
		fmt.Fprintf(&out, verb, &secret)
		fmt.Fprintf(&out, verb, struct{ s Secret }{secret})
	}
	fmt.Fprintf(&out, "%v %+v", c, c.Workers)
	text, err := json.Marshal(map[string]any{"config": c, "secret": secret})
	if err != nil {
		t.Fatal(err)
	}
	out.Write(text)
	slog.New(slog.NewTextHandler(&out, nil)).Info("x", "secret", secret, "worker", c.Workers[0])
	slog.New(slog.NewJSONHandler(&out, nil)).Info("x", "secret", secret, "worker", c.Workers[0])
	if strings.Contains(out.String(), canary) || strings.Contains(out.String(), fmt.Sprintf("%x", canary)) {
		t.Errorf("a secret shows:\n%s", out.String())
	}
}

func write(t *testing.T, file, content string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// The password of the shared state is in no output of a configuration.
func TestRedisIsSecret(t *testing.T) {
	c, err := Load(strings.NewReader("workers: [{url: 'http://a'}]\nstate: {redis: 'redis://:hunter2@r:6379/0'}\nshadow: [[sticky, cacheroute:interval=1s], [joule]]\n"), "c.yaml")
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	hidden := struct{ c Config }{c}
	if all := fmt.Sprintf("%v %+v %#v %s %v %+v", c, c, c, text, hidden, hidden); strings.Contains(all, "hunter2") {
		t.Errorf("the password is shown: %s", all)
	}
	if c.State.Redis.Reveal() != "redis://:hunter2@r:6379/0" || len(c.Shadow) != 2 || len(c.Shadow[0]) != 2 || c.Shadow[1][0].Name != "joule" {
		t.Errorf("read %v", c)
	}
	for text, says := range map[string]string{
		"shadow: [[]]":                        "shadow[0]",
		"shadow: [sticky]":                    "shadow[0]",
		"shadow: [[a], [b], [c], [d], [e]]":   "more than 4",
		"shadow: [['']]":                      "shadow[0][0]",
		"state: {redis: 'http://:hunter2@r'}": "state.redis",
	} {
		_, err := Load(strings.NewReader("workers: [{url: 'http://a'}]\n"+text+"\n"), "c.yaml")
		if err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: error %v", text, err)
		}
	}
}
