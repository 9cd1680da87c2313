package worker

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// TestScripts runs testdata/*.txt over real HTTP, on a clock that does not
// wait. Random IDs are shown as prefix-ID, times as T.
//
//	server [models=(a,b)] [key=K] [context=N] [body=BYTES] [inflight=N]
//	get|post path=P [key=K] [show=WHAT]     the input is the request body; WHAT is in shown
//	close
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		s := &script{}
		datadriven.RunTest(t, path, s.do)
		s.close()
	})
}

type script struct {
	worker *Server
	http   *httptest.Server
}

func (s *script) close() {
	if s.worker != nil {
		s.worker.Close()
		s.http.Close()
	}
}

func (s *script) do(t *testing.T, d *datadriven.TestData) string {
	switch d.Cmd {
	case "server":
		s.close()
		c := Config{Clock: newEagerClock()}
		limit, inflight := 0, 0
		d.MaybeScanArgs(t, "models", &c.Models)
		d.MaybeScanArgs(t, "key", &c.APIKey)
		d.MaybeScanArgs(t, "context", &c.ContextLen)
		d.MaybeScanArgs(t, "body", &limit)
		d.MaybeScanArgs(t, "inflight", &inflight)
		c.MaxBodyBytes, c.MaxInFlight = int64(limit), inflight
		s.worker = start(t, c)
		s.http = httptest.NewServer(s.worker.Handler())
		return ""
	case "get", "post":
		return s.request(t, d)
	case "close":
		s.worker.Close()
		return ""
	}
	t.Fatalf("%s: no command %q", d.Pos, d.Cmd)
	return ""
}

var (
	randomID = regexp.MustCompile(`(chatcmpl|cmpl|embd)-[0-9a-f]{32}`)
	created  = regexp.MustCompile(`"created":170000000\d`)
	shown    = map[string]*regexp.Regexp{
		"end":     regexp.MustCompile(`"finish_reason":"\w+"|"usage":.*`),
		"usage":   regexp.MustCompile(`"usage":.*`),
		"samples": regexp.MustCompile(`^vllm:\w+(_total|_info|_perc|running|waiting|_count|_sum){.*`),
		"types":   regexp.MustCompile(`^# TYPE.*`),
	}
)

func (s *script) request(t *testing.T, d *datadriven.TestData) string {
	var path, key, show string
	d.ScanArgs(t, "path", &path)
	d.MaybeScanArgs(t, "key", &key)
	d.MaybeScanArgs(t, "show", &show)
	r, err := http.NewRequestWithContext(context.Background(), strings.ToUpper(d.Cmd), s.http.URL+path, strings.NewReader(d.Input))
	if err != nil {
		t.Fatal(err)
	}
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	w, err := s.http.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Body.Close()
	data, err := io.ReadAll(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	body := randomID.ReplaceAllString(string(data), "$1-ID")
	body = created.ReplaceAllString(body, `"created":T`)
	body = strings.ReplaceAll(body, "\n\n", "\n") // a blank line ends expected output
	if what := shown[show]; what != nil {
		var kept []string
		for line := range strings.Lines(body) {
			kept = append(kept, what.FindAllString(line, -1)...)
		}
		return strings.Join(kept, "\n") + "\n"
	}
	head := fmt.Sprintf("%d %s\n", w.StatusCode, cmp.Or(w.Header.Get("Content-Type"), "-"))
	if body == "" {
		return head
	}
	return head + strings.TrimSuffix(body, "\n") + "\n"
}
