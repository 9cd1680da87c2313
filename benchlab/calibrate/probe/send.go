package probe

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// Bounds of one answer.
const (
	maxEventBytes = 1 << 20
	maxErrorBytes = 4 << 10
)

// answer is what one request brought; times are since the probe's origin.
type answer struct {
	sent, first, last      time.Duration
	chunks                 int // with content
	prompt, output, cached int // tokens, by the server's usage
}

// chunk is what matters of one event of a stream.
type chunk struct {
	Choices []struct {
		Delta struct {
			Content   string `json:"content"`
			Reasoning string `json:"reasoning_content"`
		} `json:"delta"`
	} `json:"choices"`
	Usage *struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
		Details    *struct {
			Cached int `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
	} `json:"usage"`
	Error json.RawMessage `json:"error"`
}

// send asks for exactly output tokens and reads the answer to its end.
func (p *Probe) send(ctx context.Context, prompt string, output int) (a answer, err error) {
	body, err := json.Marshal(map[string]any{
		"model": p.model, "stream": true, "stream_options": map[string]bool{"include_usage": true},
		"max_tokens": output, "min_tokens": output, "ignore_eos": true, "temperature": 0,
		"messages": []map[string]string{{"role": "user", "content": prompt}},
	})
	if err != nil {
		return a, err
	}
	request, err := p.request(ctx, http.MethodPost, "/v1/chat/completions", bytes.NewReader(body))
	if err != nil {
		return a, err
	}
	request.Header.Set("Content-Type", "application/json")
	a.sent = time.Since(p.origin)
	response, err := p.config.Client.Do(request)
	if err != nil {
		return a, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		said, _ := io.ReadAll(io.LimitReader(response.Body, maxErrorBytes)) // what came of it is what there is to say
		return a, fmt.Errorf("the server answered %s: %s", response.Status, bytes.TrimSpace(said))
	}
	return a, a.read(response.Body, func() time.Duration { return time.Since(p.origin) })
}

// read reads the events of a stream.
func (a *answer) read(body io.Reader, now func() time.Duration) error {
	s := bufio.NewScanner(body)
	s.Buffer(nil, maxEventBytes)
	for s.Scan() {
		data, ok := bytes.CutPrefix(s.Bytes(), []byte("data:"))
		if data = bytes.TrimSpace(data); !ok || len(data) == 0 || string(data) == "[DONE]" {
			continue
		}
		var c chunk
		if err := json.Unmarshal(data, &c); err != nil {
			return fmt.Errorf("an event of the stream is not JSON: %w", err)
		}
		if len(c.Error) > 0 && string(c.Error) != "null" {
			return fmt.Errorf("the stream ended with an error: %.200s", c.Error)
		}
		for _, choice := range c.Choices {
			if choice.Delta.Content != "" || choice.Delta.Reasoning != "" {
				if a.last = now(); a.chunks == 0 {
					a.first = a.last
				}
				a.chunks++
			}
		}
		if c.Usage != nil {
			a.prompt, a.output = c.Usage.Prompt, c.Usage.Completion
			if c.Usage.Details != nil {
				a.cached = c.Usage.Details.Cached
			}
		}
	}
	switch {
	case s.Err() != nil:
		return fmt.Errorf("reading the stream: %w", s.Err())
	case a.chunks == 0:
		return errors.New("the stream had no content")
	case a.prompt < 1 || a.output < 1:
		return errors.New("the stream had no usage, so that token counts are unknown; the server must support stream_options.include_usage")
	}
	return nil
}
