package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"time"
)

// Header fields by which the generator tells the worker to stream.
const (
	eventsField = "X-Bench-Events" // how many events
	gapField    = "X-Bench-Gap"    // time between two of them, as Go writes durations
)

const model = "bench"

// event is one event of a stream, about as long as those of a real engine.
const event = `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"` + model +
	`","choices":[{"index":0,"delta":{"content":" word"},"logprobs":null,"finish_reason":null}]}` + "\n\n"

// What the worker writes, whole.
var (
	answer      = canned("application/json", completion(1<<10))
	modelList   = canned("application/json", `{"object":"list","data":[{"id":"`+model+`","object":"model"}]}`)
	nothing     = canned("text/plain", "")
	eventChunk  = chunk(event)
	streamHead  = []byte("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
	streamEnd   = append(chunk("data: [DONE]\n\n"), "0\r\n\r\n"...)
	errNoLength = errors.New("the request has a body without a length")
)

func canned(kind, body string) []byte {
	return fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s", kind, len(body), body)
}

func chunk(text string) []byte { return fmt.Appendf(nil, "%x\r\n%s\r\n", len(text), text) }

// completion returns a chat completion of so many bytes.
func completion(size int) string {
	const head = `{"id":"chatcmpl-1","object":"chat.completion","created":1700000000,"model":"` + model +
		`","choices":[{"index":0,"message":{"role":"assistant","content":"`
	const tail = `"},"finish_reason":"stop"}],"usage":{"prompt_tokens":500,"completion_tokens":200,"total_tokens":700}}`
	return head + words(size-len(head)-len(tail)) + tail
}

// line is a line of text as it is written within JSON: with escapes, as prompts have
// them.
const line = `Some words of a line, as many as fit on one, and \"quotes\".\n`

// words returns the inside of a JSON string, so many bytes long.
func words(size int) string {
	return strings.Repeat(line, size/len(line)) + strings.Repeat(".", size%len(line))
}

// work answers requests until the listener is closed. It does next to nothing, so
// that what stands before it is what costs.
func work(l net.Listener) error {
	for {
		c, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			return err
		}
		go func() {
			defer c.Close()
			r := bufio.NewReaderSize(c, 16<<10)
			for answerOne(r, c) == nil {
			}
		}()
	}
}

// asked is what the worker reads of a request.
type asked struct {
	line   string // method and path
	length int
	events int
	gap    time.Duration
}

// answerOne reads one request and answers it.
func answerOne(r *bufio.Reader, c net.Conn) error {
	a, err := readHead(r)
	if err != nil {
		return err
	}
	if _, err := r.Discard(a.length); err != nil {
		return err
	}
	switch {
	case a.events > 0:
		return stream(r, c, a.events, a.gap)
	case strings.HasPrefix(a.line, "GET /v1/models "):
		_, err = c.Write(modelList)
	case strings.HasPrefix(a.line, "POST /v1/chat/completions "):
		_, err = c.Write(answer)
	default: // probes, scrapes and exported spans
		_, err = c.Write(nothing)
	}
	return err
}

func readHead(r *bufio.Reader) (asked, error) {
	var a asked
	for {
		field, err := r.ReadSlice('\n')
		if err != nil {
			return a, err
		}
		field = bytes.TrimRight(field, "\r\n")
		if len(field) == 0 {
			return a, nil
		}
		if a.line == "" {
			a.line = string(field)
			continue
		}
		name, value, _ := bytes.Cut(field, []byte(":"))
		value = bytes.TrimSpace(value)
		switch {
		case is(name, "Content-Length"):
			a.length, err = strconv.Atoi(string(value))
		case is(name, eventsField):
			a.events, err = strconv.Atoi(string(value))
		case is(name, gapField):
			a.gap, err = time.ParseDuration(string(value))
		case is(name, "Transfer-Encoding"):
			err = errNoLength
		}
		if err != nil {
			return a, err
		}
	}
}

// is compares the name of a header field, without allocating.
func is(name []byte, want string) bool {
	return len(name) == len(want) && bytes.EqualFold(name, []byte(want))
}

// stream writes events at an even pace, the first one at once with the head.
func stream(r *bufio.Reader, c net.Conn, events int, gap time.Duration) error {
	began := time.Now()
	for i := range events {
		out := eventChunk
		if i == 0 {
			out = append(streamHead[:len(streamHead):len(streamHead)], eventChunk...)
		} else if err := pause(r, c, gap, began.Add(time.Duration(i)*gap)); err != nil {
			return err
		}
		if i == events-1 {
			out = append(out[:len(out):len(out)], streamEnd...)
		}
		if _, err := c.Write(out); err != nil {
			return err
		}
	}
	return nil
}

// errLeft says that a client did not wait for the end of a stream.
var errLeft = errors.New("the client has left")

// pause waits; a long pause ends when the client leaves.
func pause(r *bufio.Reader, c net.Conn, gap time.Duration, until time.Time) error {
	if gap < time.Second {
		time.Sleep(time.Until(until))
		return nil
	}
	if err := c.SetReadDeadline(until); err != nil {
		return err
	}
	if _, err := r.Peek(1); !errors.Is(err, os.ErrDeadlineExceeded) {
		return errLeft
	}
	return c.SetReadDeadline(time.Time{})
}
