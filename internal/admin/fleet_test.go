package admin

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"gatewayd/internal/config"
)

// registrar keeps what it was told, and answers with err.
type registrar struct {
	told []string
	err  error
}

func (r *registrar) tell(args ...any) error {
	r.told = append(r.told, fmt.Sprint(args...))
	return r.err
}
func (r *registrar) Register(w config.Worker) error {
	return r.tell("register ", w.ID, " ", w.URL, w.Models, w.Concurrency, w.Ranks)
}
func (r *registrar) Remove(id string) error         { return r.tell("remove ", id) }
func (r *registrar) Drain(id string, on bool) error { return r.tell("drain ", id, " ", on) }

func TestChangesOfWorkers(t *testing.T) {
	for _, c := range []struct {
		method, path, body string
		err                error
		status             int
		told               string
	}{
		{"POST", "/workers", `{"url":"http://w:1","id":"w","models":["m"],"concurrency":3,"ranks":"0-1"}`, nil, 200, "register w http://w:1[m] 30-1"},
		{"POST", "/workers", `{"url":"http://127.0.0.1:1"}`, fmt.Errorf("%w: not public", ErrRefused), 422, "register  http://127.0.0.1:1[] 0"},
		{"POST", "/workers", `{"url":"http://w:1","api_key_file":"/etc/passwd"}`, nil, 400, ""},
		{"POST", "/workers", `{"url":"http://w:1"} {}`, nil, 400, ""},
		{"POST", "/workers", `[]`, nil, 400, ""},
		{"POST", "/workers", "", nil, 400, ""},
		{"POST", "/workers", `{"url":"` + strings.Repeat("a", maxBody) + `"}`, nil, 400, ""},
		{"DELETE", "/workers/a:1", "", nil, 200, "remove a:1"},
		{"DELETE", "/workers/a:1", "", fmt.Errorf("%w: none", ErrRefused), 422, "remove a:1"},
		{"POST", "/workers/a:1@4/drain", "", nil, 200, "drain a:1@4 true"},
		{"POST", "/workers/a:1@4/resume", "", nil, 200, "drain a:1@4 false"},
		{"GET", "/workers/a:1/drain", "", nil, 405, ""},
		{"GET", "/workers/a:1", "", nil, 404, ""},
		{"DELETE", "/workers", "", nil, 405, ""},
	} {
		r := &registrar{err: c.err}
		h := New(Options{Token: config.NewSecret(testToken), Metrics: http.NotFoundHandler(), Gateway: gateway{}, Workers: workerList{}, Registrar: r})
		if w := call(h, c.method, c.path, "", c.body); w.Code != http.StatusUnauthorized || len(r.told) > 0 {
			t.Errorf("%s %s without a token: status %d, %v", c.method, c.path, w.Code, r.told)
		}
		w := call(h, c.method, c.path, "Bearer "+testToken, c.body)
		if told := strings.Join(r.told, "; "); w.Code != c.status || told != c.told {
			t.Errorf("%s %s %.80s: status %d, told %q; want %d, %q\n%s", c.method, c.path, c.body, w.Code, told, c.status, c.told, w.Body)
		}
	}
}

func TestSources(t *testing.T) {
	h := New(Options{Token: config.NewSecret(testToken), Metrics: http.NotFoundHandler(), Gateway: gateway{}, Workers: workerList{}})
	w := call(h, "GET", "/sources", "Bearer "+testToken, "")
	text := strings.Join(strings.Fields(w.Body.String()), "")
	if !strings.Contains(text, `{"name":"filea","workers":2,"age_seconds":`) || !strings.Contains(text, `{"name":"dnsb","workers":0,"error":"noanswer"}`) {
		t.Errorf("status %d: %s", w.Code, w.Body)
	}
}
