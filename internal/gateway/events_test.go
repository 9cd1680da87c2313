package gateway

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"gatewayd/pkg/router"
)

// read feeds a stream in pieces that end at the given offsets.
func readEvents(stream string, cuts ...int) *events {
	var e events
	from := 0
	for _, cut := range append(cuts, len(stream)) {
		e.feed([]byte(stream[from:cut]))
		from = cut
	}
	e.close()
	return &e
}

const wholeStream = ": keep-alive\r\n\r\n" +
	"event: message\r\n" +
	`data: {"id":"c-1","model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}` + "\r\n\r\n" +
	"\n\n" +
	`data: {"id":"c-1","choices":[{"index":0,"delta":{"content":"h\u00e9llo 🚀"}}]}` + "\n\n" +
	`data:{"id":"c-1","choices":[{"index":0,"delta":{"content":"日本"},"finish_reason":null}]}` + "\n\n" +
	`data: {"id":"c-1","choices":[{"index":0,"delta":{"content":"\"usage\":{\"prompt_tokens\":99}"}}]}` + "\n\n" +
	`data: {"id":"c-1","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n" +
	`data: {"id":"c-1","choices":[],"usage":{"prompt_tokens":11,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":8}}}` + "\n\n" +
	"data: [DONE]\n\n"

// A stream is read alike however it is cut, also within a character.
func TestEventsCutAnywhere(t *testing.T) {
	check := func(e *events, how string) {
		t.Helper()
		if e.tokens != 3 || e.usage != (router.Usage{PromptTokens: 11, OutputTokens: 3, CachedTokens: 8}) || !e.hasUsage || !e.done || e.failed ||
			e.id != "c-1" || e.model != "m" || !slices.Equal(e.finishes, []string{"stop"}) {
			t.Errorf("%s: %+v", how, e)
		}
	}
	check(readEvents(wholeStream), "whole")
	for i := range wholeStream {
		check(readEvents(wholeStream, i), fmt.Sprint("cut at ", i))
	}
	var every []int
	for i := range len(wholeStream) {
		every = append(every, i)
	}
	check(readEvents(wholeStream, every...), "byte by byte")
	check(readEvents(strings.ReplaceAll(strings.ReplaceAll(wholeStream, "\r\n", "\n"), "\n", "\r\n")), "CRLF")
}

func TestEndsOfStreams(t *testing.T) {
	token := event("t")
	for stream, want := range map[string]events{
		token + "data: [DONE]\n\n":   {done: true},
		token + "data: [DONE]":       {done: true},
		token + "data: [DONE]\r\n":   {done: true},
		token + "data:[DONE]\n":      {done: true},
		token + "data: [DONE] \n":    {done: true},
		token + "data: DONE\n\n":     {},
		token + ": data: [DONE]\n\n": {},
		token + "data: [DONE":        {},
		token:                        {},
		token + `data: {"error":{"message":"out of memory","code":500}}` + "\n\ndata: [DONE]\n\n":     {done: true, failed: true},
		token + `data: {"error": {"message": "too long", "code": 400}}` + "\n\ndata: [DONE]\n\n":      {done: true, failed: true, blamed: true},
		token + `data: {"error":"broken"}` + "\n\n":                                                   {failed: true},
		token + `data: {"object":"error","message":"no"}` + "\n\n":                                    {failed: true},
		token + `data: {"error":null,"choices":[{"delta":{"content":"x"}}]}` + "\n\ndata: [DONE]\n\n": {done: true},
		token + "data: " + strings.Repeat("x", maxEventLine+1) + "\n" + token + "data: [DONE]\n\n":    {done: true},
		token + "data: " + strings.Repeat("x", 3*maxEventLine) + "\ndata: [DONE]\n\n":                 {done: true},
		token + `data: {"choices":[],"usage":null}` + "\n\n" + "id: 7\nretry: 10\n\ndata: [DONE]\n\n": {done: true},
	} {
		for _, cuts := range [][]int{nil, {len(stream) / 2}, {len(stream) - 1}} {
			got := readEvents(stream, cuts...)
			if got.done != want.done || got.failed != want.failed || got.blamed != want.blamed || got.tokens < 1 || got.hasUsage {
				t.Errorf("%.200q cut at %v: %+v", stream, cuts, got)
			}
			if n := cap(got.line); n > 2*maxEventLine {
				t.Errorf("%.200q: %d bytes kept", stream, n)
			}
		}
	}
	var open events
	if open.feed([]byte(token + "data: [DO")); open.done {
		t.Error("half an end was taken for one")
	}
	if open.feed([]byte("NE]")); !open.done {
		t.Error("the end of a stream was not seen before its line ended")
	}
}

// What counts as a token: generated content, in whatever field it comes.
func TestFirstToken(t *testing.T) {
	for choice, tokens := range map[string]int{
		`{"delta":{"role":"assistant"}}`:                     0,
		`{"delta":{"role":"assistant","content":""}}`:        0,
		`{"delta":{"content":null}}`:                         0,
		`{"delta":{"content":"a"}}`:                          1,
		`{"delta":{"reasoning_content":"a"}}`:                1,
		`{"delta":{"reasoning":"a"}}`:                        1,
		`{"delta":{"tool_calls":[{"index":0}]}}`:             1,
		`{"text":"a"}`:                                       1,
		`{"text":""}`:                                        0,
		`{"delta":{}},{"index":1,"delta":{"content":"b"}}`:   1,
		`{"delta":{},"finish_reason":"length"}`:              0,
		`{"delta":{"content":"a"},"finish_reason":"length"}`: 1,
	} {
		if e := readEvents(`data: {"choices":[` + choice + `]}` + "\n\n"); e.tokens != tokens {
			t.Errorf("%s: %d tokens, want %d", choice, e.tokens, tokens)
		}
	}
	several := readEvents(`data: {"choices":[{"index":0,"delta":{"content":"a"}},{"index":1,"delta":{"content":"b"}}]}` + "\n\n" +
		`data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n" + `data: {"choices":[{"index":1,"delta":{},"finish_reason":"length"}]}` + "\n\n")
	if !slices.Equal(several.finishes, []string{"stop", "length"}) {
		t.Errorf("finish reasons of two choices: %v", several.finishes)
	}
}

func TestUsageOfAnswers(t *testing.T) {
	usage := `"usage":{"prompt_tokens":7,"completion_tokens":3,"total_tokens":10}`
	want := router.Usage{PromptTokens: 7, OutputTokens: 3, CachedTokens: -1}
	for name, body := range map[string]string{
		"short":           `{"id":"x",` + usage + `,"choices":[]}`,
		"long":            `{"data":["` + strings.Repeat("0.123,", 1<<20) + `"],` + usage + `}`,
		"long, spaced":    `{"data":["` + strings.Repeat("0.123,", 1<<20) + `"],` + strings.ReplaceAll(usage, ":", " :\n ") + ` }`,
		"just not cut":    `{"data":["` + strings.Repeat("x", 2*maxRead-200) + `"],` + usage + `}`,
		"usage in a text": `{"choices":[{"message":{"content":"\"usage\":{\"prompt_tokens\":1}"}}],` + usage + `}`,
	} {
		for _, piece := range []int{len(body), 1 << 20, 1000} {
			var a answer
			for b := []byte(body); len(b) > 0; {
				n := min(piece, len(b))
				a.take(b[:n], n == len(b))
				b = b[n:]
			}
			if piece == len(body) && a.kept != nil {
				t.Errorf("%s in one piece: %d bytes kept", name, len(a.kept))
			}
			if got, ok := a.usage(); !ok || got != want {
				t.Errorf("%s in pieces of %d: %+v, %v", name, piece, got, ok)
			}
			if n := cap(a.kept); n > 8*maxRead {
				t.Errorf("%s: %d bytes kept", name, n)
			}
		}
	}
	for _, body := range []string{"", "x", `{"usage":7}`, `{"usage":null}`, `[]`, `{"a":"` + strings.Repeat("x", 4*maxRead) + `"}`} {
		for _, last := range []bool{true, false} {
			var a answer
			a.take([]byte(body), last)
			if got, ok := a.usage(); ok {
				t.Errorf("%.50s, last: %v: usage %+v", body, last, got)
			}
		}
	}
	for number, want := range map[string]int{"-5": 0, "1e40": 0, "12.7": 12, `"9"`: 0, "null": 0, "true": 0} {
		if got, ok := readUsage([]byte(`{"usage":{"prompt_tokens":` + number + `}}`)); !ok || got.PromptTokens != want {
			t.Errorf("%s tokens were read as %d", number, got.PromptTokens)
		}
	}
}
