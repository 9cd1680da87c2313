package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// client sends chat completions over connections of its own.
type client struct {
	base string
	http *http.Client
}

func newClient(base string) *client {
	return &client{base, &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 4096, DisableCompression: true}}}
}

func (c *client) close() { c.http.CloseIdleConnections() }

// send sends a request and returns the answer's head. The content is the prompt and
// names the session.
func (c *client) send(ctx context.Context, content string, stream bool) (*http.Response, error) {
	text, err := json.Marshal(map[string]any{
		"model": model, "stream": stream, "max_tokens": 20, "messages": []any{map[string]string{"role": "user", "content": content}},
	})
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+chatPath, strings.NewReader(string(text)))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Session-Id", content)
	return c.http.Do(r)
}

// ask sends a request and reads the answer, which must have the status 200 and, for
// a stream, be whole.
func (c *client) ask(ctx context.Context, content string, stream bool) error {
	resp, err := c.send(ctx, content, stream)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK || stream && !strings.HasSuffix(string(text), "data: [DONE]\n\n") {
		return fmt.Errorf("%s: %.300s", resp.Status, text)
	}
	return nil
}

// events calls each with the data of every event of a stream as it comes, and
// returns how the stream ended.
func events(resp *http.Response, each func(data string, at time.Time)) error {
	lines := bufio.NewReader(resp.Body)
	for {
		line, err := lines.ReadString('\n')
		at := time.Now()
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			each(strings.TrimSpace(data), at)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// token returns the text of an event; none if it has none.
func token(data string) string {
	var event struct {
		Choices []struct{ Delta struct{ Content string } }
	}
	if json.Unmarshal([]byte(data), &event) != nil || len(event.Choices) == 0 {
		return ""
	}
	return event.Choices[0].Delta.Content
}
