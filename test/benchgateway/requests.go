package main

import (
	"fmt"
	"time"
)

// small returns a request of 2 KB, as client i sends it.
func small(host string, i int) []byte { return request(host, i, 2<<10, "") }

// large returns a request of 200 KB.
func large(host string, i int) []byte { return request(host, i, 200<<10, "") }

// streamed returns a request of 2 KB that is answered by a stream.
func streamed(host string, i, events int, gap time.Duration) []byte {
	return request(host, i, 2<<10, fmt.Sprintf("%s: %d\r\n%s: %v\r\n", eventsField, events, gapField, gap))
}

// messageBytes is the text of one message.
const messageBytes = 2000

// request returns a chat completion request with a body of about size bytes. Each
// client is a user of its own.
func request(host string, i, size int, more string) []byte {
	body := fmt.Appendf(nil, `{"model":%q,"user":"user-%d","temperature":0.7,"max_tokens":256,"stream":%t,"messages":[{"role":"system","content":"You are a helpful assistant."}`,
		model, i, more != "")
	for len(body) < size {
		text := words(max(1, min(messageBytes, size-len(body)-40)))
		body = fmt.Appendf(body, `,{"role":"user","content":"%d %s"}`, i, text)
	}
	body = append(body, "]}"...)
	head := fmt.Sprintf("POST /v1/chat/completions HTTP/1.1\r\nHost: %s\r\nUser-Agent: benchgateway\r\nAccept: application/json\r\n"+
		"Accept-Encoding: identity\r\nAuthorization: Bearer none\r\nContent-Type: application/json\r\n%sContent-Length: %d\r\n\r\n", host, more, len(body))
	return append([]byte(head), body...)
}
