package admin

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gatewayd/internal/config"
	"gatewayd/internal/pool"
)

const testToken = "0123456789abcdef"

// changes keeps what it was told, and answers with err.
type changes struct {
	told []string
	err  error
}

func (c *changes) Config() Change { return Change{Number: uint64(len(c.told))} }
func (c *changes) Shadows() []pool.ShadowReport {
	return []pool.ShadowReport{{Chain: []string{"a"}, Decisions: 4, Agreed: 3}}
}
func (c *changes) Reload(context.Context) error                 { return c.tell("reload") }
func (c *changes) tell(what string) error                       { c.told = append(c.told, what); return c.err }
func (c *changes) Swap(_ context.Context, s, path string) error { return c.tell(s + "=" + path) }

// call sends one request with an Authorization header, if that is not empty.
func call(h http.Handler, method, path, authorization, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	if authorization != "" {
		r.Header.Set("Authorization", authorization)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// Without the token there are metrics and health, and nothing else happens.
func TestToken(t *testing.T) {
	c := &changes{}
	h := New(Options{Token: config.NewSecret(testToken), Metrics: http.NotFoundHandler(), Changer: c, Shadows: c})
	for _, path := range []string{"/plans", "/workers", "/strategies", "/shadow", "/config", "/version", "/reload", "/strategies/a/swap", "/nothing"} {
		for _, wrong := range []string{"", "Bearer", "Bearer wrong", "Basic " + testToken, testToken, "Bearer  " + testToken, "Bearer " + testToken + "x"} {
			for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
				if w := call(h, method, path, wrong, ""); w.Code != http.StatusUnauthorized || w.Header().Get("WWW-Authenticate") == "" || strings.Contains(w.Body.String(), testToken) {
					t.Errorf("%s %s with %q: status %d, %s", method, path, wrong, w.Code, w.Body)
				}
			}
		}
	}
	if len(c.told) > 0 {
		t.Errorf("without the token it did %v", c.told)
	}
	if w := call(h, http.MethodGet, "/health", "", ""); w.Code != http.StatusOK {
		t.Errorf("health: status %d", w.Code)
	}
	if w := call(h, http.MethodPost, "/metrics", "", ""); w.Code != http.StatusMethodNotAllowed {
		t.Errorf("POST of metrics: status %d", w.Code)
	}
	none := New(Options{Metrics: http.NotFoundHandler(), Changer: c})
	if w := call(none, http.MethodPost, "/reload", "Bearer ", ""); w.Code != http.StatusUnauthorized {
		t.Errorf("where there is no token, an empty one got status %d", w.Code)
	}
}

func TestChanges(t *testing.T) {
	for _, c := range []struct {
		method, path, body string
		err                error
		status             int
		told, says         string
	}{
		{"POST", "/reload", "", nil, 200, "reload", `"number": 1`},
		{"POST", "/reload", "", fmt.Errorf("%w: workers", ErrRefused), 422, "reload", "workers"},
		{"POST", "/reload", "", errors.New("busy"), 503, "reload", "busy"},
		{"GET", "/reload", "", nil, 405, "", "POST"},
		{"POST", "/strategies/mine/swap", `{"path":"/bin/mine"}`, nil, 200, "mine=/bin/mine", `"number": 1`},
		{"POST", "/strategies/mine/swap", "", nil, 200, "mine=", ""},
		{"POST", "/strategies/mine/swap", `{"path":"bin/mine"}`, nil, 400, "", "absolute"},
		{"POST", "/strategies/mine/swap", `{"binary":"/x"}`, nil, 400, "", "binary"},
		{"POST", "/strategies/mine/swap", "[" + strings.Repeat(" ", 1<<20) + "]", nil, 400, "", "body"},
		{"GET", "/strategies/mine/swap", "", nil, 405, "", "POST"},
		{"GET", "/shadow", "", nil, 200, "", `"agreed": 3`},
		{"GET", "/config", "", nil, 200, "", `"number": 0`},
	} {
		changes := &changes{err: c.err}
		h := New(Options{Token: config.NewSecret(testToken), Metrics: http.NotFoundHandler(), Changer: changes, Shadows: changes})
		w := call(h, c.method, c.path, "bearer "+testToken, c.body)
		if w.Code != c.status || strings.Join(changes.told, " ") != c.told || !strings.Contains(w.Body.String(), c.says) {
			t.Errorf("%s %s: status %d, want %d; told %q, want %q; %s", c.method, c.path, w.Code, c.status, changes.told, c.told, w.Body)
		}
	}
}

// The token is made once, kept, and read from no file that others may read.
func TestTokenFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "new", "admin.token")
	first, err := OpenToken(file)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 || len(first.Reveal()) < 32 {
		t.Errorf("mode %v, error %v, %d characters", info.Mode(), err, len(first.Reveal()))
	}
	if again, err := OpenToken(file); err != nil || again.Reveal() != first.Reveal() {
		t.Errorf("a second gateway has another token, error %v", err)
	}
	if other := NewToken(); other.Reveal() == first.Reveal() {
		t.Error("two tokens are the same")
	}
	if err := os.Chmod(file, 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenToken(file); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("a file that others can read: error %v", err)
	}
	if err := errors.Join(os.Chmod(file, 0o600), os.WriteFile(file, []byte("short\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadToken(file); err == nil || !strings.Contains(err.Error(), "remove the file") {
		t.Errorf("a short token: error %v", err)
	}
	if _, err := ReadToken(t.TempDir()); err == nil {
		t.Error("a folder was read as a token")
	}
}
