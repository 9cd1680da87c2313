package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// silence runs streams that speak, however slowly, and streams that fall silent, with
// the gateway's limits as they are by default.
type silence struct {
	token, slow      time.Duration // between two tokens of the steady streams
	span             time.Duration // of the steady streams
	head, first, gap time.Duration // limits: timeouts.response_head, first_token, token_gap
	late             time.Duration // how late a limit may strike
}

// silent is a stream that falls silent, and what must come of it.
type silent struct {
	name  string
	speak func(w http.ResponseWriter)
	limit string // of timeouts, which strikes
	after time.Duration
}

func (s silence) streams() []silent {
	return []silent{
		{"no head", func(http.ResponseWriter) {}, "response_head", s.head},
		{"no token", begin, "first_token", s.first},
		{"no further token", func(w http.ResponseWriter) { begin(w); say(w, "one") }, "token_gap", s.gap},
	}
}

func (s silence) run(ctx context.Context, l *lab) (*result, error) {
	all := s.streams()
	w, err := newWorker(0, func(w http.ResponseWriter, r *http.Request, body string) {
		for _, c := range all {
			if strings.Contains(body, c.name) {
				c.speak(w)
				<-r.Context().Done()
				return
			}
		}
		every := s.token
		if strings.Contains(body, "slow") {
			every = s.slow
		}
		begin(w)
		for end := time.Now().Add(s.span); time.Now().Before(end); {
			say(w, "on")
			if !pause(r.Context(), every) {
				return
			}
		}
		finish(w)
	})
	if err != nil {
		return nil, err
	}
	defer w.close()
	g, err := l.start(ctx, map[string]any{"timeouts": map[string]string{
		"response_head": s.head.String(), "first_token": s.first.String(), "token_gap": s.gap.String(),
	}}, w)
	if err != nil {
		return nil, err
	}
	defer g.stop()
	var r result
	c := newClient(g.api)
	defer c.close()
	var running sync.WaitGroup
	for _, name := range []string{"steady", "slow"} {
		running.Go(func() { s.steady(ctx, c, name, &r) })
	}
	for _, one := range all {
		running.Go(func() { s.silent(ctx, c, one, &r) })
	}
	running.Wait()
	return &r, ctx.Err()
}

// steady reads a stream that never falls silent for too long.
func (s silence) steady(ctx context.Context, c *client, name string, r *result) {
	began, tokens, whole := time.Now(), 0, false
	resp, err := c.send(ctx, name, true)
	if err == nil {
		defer resp.Body.Close()
		err = events(resp, func(data string, _ time.Time) {
			if token(data) != "" {
				tokens++
			}
			whole = data == "[DONE]"
		})
	}
	took := time.Since(began)
	if err != nil || !whole || took < s.span {
		r.breaks("the %s stream ended after %v with %d tokens: %v", name, took, tokens, err)
	}
	r.measure("%s stream: %d tokens in %.0f s", name, tokens, took.Seconds())
}

// silent reads a stream that falls silent.
func (s silence) silent(ctx context.Context, c *client, one silent, r *result) {
	began, last := time.Now(), ""
	resp, err := c.send(ctx, one.name, true)
	if err == nil {
		defer resp.Body.Close()
		last, err = ending(resp)
	}
	took := time.Since(began)
	if err != nil || !strings.Contains(last, `"code":"timeout_`+one.limit+`"`) || !strings.Contains(last, "timeouts."+one.limit) || took < one.after {
		r.breaks("%s: after %v %v %q", one.name, took, err, last)
	}
	r.measure("%s: timeouts.%s named after %.2f s", one.name, one.limit, took.Seconds())
	r.within(fmt.Sprintf("%s: timeouts.%s struck late", one.name, one.limit), took-one.after, s.late)
}

// ending returns the error that an answer tells of, in a stream or in place of one.
func ending(resp *http.Response) (last string, err error) {
	if resp.StatusCode == http.StatusOK {
		err = events(resp, func(data string, _ time.Time) { last = data })
		return last, err
	}
	text, err := io.ReadAll(resp.Body)
	return string(text), err
}
