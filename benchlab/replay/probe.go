package replay

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"
)

// probeTimeout bounds each question to a server before the replay.
const probeTimeout = time.Minute

// Model asks a server for its models (GET /v1/models) and returns the first. Of c
// only Target, Options.APIKey and Options.Transport are used.
func Model(ctx context.Context, c Config) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	u := *c.Target
	u.Path, u.RawPath = trimBase(u.Path)+"/v1/models", ""
	via, done := carrier(c)
	defer done()
	r := (&http.Request{Method: http.MethodGet, URL: &u, Host: u.Host, Header: http.Header{"User-Agent": {"benchlab"}}}).WithContext(ctx)
	if c.Options.APIKey != "" {
		r.Header.Set("Authorization", "Bearer "+c.Options.APIKey)
	}
	resp, err := via.RoundTrip(r)
	if err != nil {
		return "", fmt.Errorf("list the models of %s: %w; name the model instead", c.Target.Redacted(), err)
	}
	defer resp.Body.Close()
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, wholeBytes))
	switch {
	case err != nil:
		return "", fmt.Errorf("list the models of %s: %w; name the model instead", c.Target.Redacted(), err)
	case resp.StatusCode != http.StatusOK:
		return "", fmt.Errorf("list the models of %s: %s: %s; name the model instead", c.Target.Redacted(), resp.Status, clip(string(text)))
	case json.Unmarshal(text, &list) != nil || len(list.Data) == 0 || list.Data[0].ID == "":
		return "", fmt.Errorf("list the models of %s: it lists none; name the model instead", c.Target.Redacted())
	}
	return list.Data[0].ID, nil
}

// Measured is what a server showed of itself.
type Measured struct {
	Tokens Tokens // how it counts a prompt's tokens
	Exact  bool   // it takes ignore_eos and min_tokens
}

// Lengths of the two prompts that are counted, in words.
const (
	shortProbe = 100
	longProbe  = 2000
)

// Measure sends two prompts that no other request shares and learns from the
// usage that the server reports. It fails when the server reports none.
func Measure(ctx context.Context, c Config) (m Measured, err error) {
	if err := c.complete(); err != nil {
		return m, err
	}
	s := newSender(c)
	via, done := carrier(c)
	defer done()
	s.transport, s.began, s.timeout, s.form.exact = via, time.Now(), probeTimeout, true
	samples := [2]sample{}
	for i, words := range [2]int{shortProbe, longProbe} {
		prompt := newText([]segment{{mixed(c.Options.Salt+3, uint64(i)), words * wordBytes}})
		e := s.send(ctx, prompt, 1, "")
		if e.outcome.Kind == Status && e.outcome.Status < http.StatusInternalServerError && s.form.exact {
			s.form.exact = false // perhaps it was that
			e = s.send(ctx, prompt, 1, "")
		}
		switch {
		case ctx.Err() != nil:
			return m, context.Cause(ctx)
		case e.outcome.Prompt < 0 && e.outcome.Kind != Complete && e.outcome.Kind != Empty:
			return m, fmt.Errorf("measure the tokens of %s: a short request failed (%s): %s", c.Target.Redacted(), e.outcome.failure(), e.message)
		case e.outcome.Prompt <= 0:
			return m, fmt.Errorf("measure the tokens of %s: it reports no usage; state its bytes per token", c.Target.Redacted())
		}
		samples[i] = sample{prompt.len(), int(e.outcome.Prompt)}
	}
	m.Exact = s.form.exact
	if m.Tokens, err = fit(samples[0], samples[1]); err != nil {
		return m, fmt.Errorf("measure the tokens of %s: %w; state its bytes per token", c.Target.Redacted(), err)
	}
	return m, nil
}

// carrier is the transport to use, and what to call when it is no longer needed.
func carrier(c Config) (via http.RoundTripper, done func()) {
	if c.Options.Transport != nil {
		return c.Options.Transport, func() {}
	}
	own := newTransport(4)
	return own, own.CloseIdleConnections
}
