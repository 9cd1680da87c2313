package gateway

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
)

// BenchmarkExchange is a whole request and its answer over loopback: client,
// gateway and a worker that answers at once share the processors.
func BenchmarkExchange(b *testing.B) {
	for name, body := range map[string]string{
		"whole":  `{"model":"m","messages":[{"role":"user","content":"` + strings.Repeat("word ", 800) + `"}]}`,
		"stream": `{"model":"m","stream":true,"messages":[{"role":"user","content":"` + strings.Repeat("word ", 800) + `"}]}`,
	} {
		b.Run(name, func(b *testing.B) {
			stream := strings.Repeat(event("token"), 20) + usageEvent + "data: [DONE]\n\n"
			f := newFake(b, func(w http.ResponseWriter, r *http.Request, body []byte) {
				if !bytes.Contains(body, []byte(`"stream":true`)) {
					answerJSON(w, r, body)
					return
				}
				w.Header().Set("Content-Type", "text/event-stream")
				io.WriteString(w, stream)
			})
			w := newWorld(b, nil, f)
			client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
			defer client.CloseIdleConnections()
			b.SetParallelism(8)
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					resp, err := client.Post(w.URL+"/v1/chat/completions", "application/json", strings.NewReader(body))
					if err != nil {
						b.Error(err)
						return
					}
					if _, err := io.Copy(io.Discard, resp.Body); err != nil || resp.StatusCode != http.StatusOK {
						b.Errorf("%s, %v", resp.Status, err)
					}
					resp.Body.Close()
				}
			})
		})
	}
}
