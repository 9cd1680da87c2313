package main

import (
	"bufio"
	"net"
	"strings"
	"testing"
	"testing/iotest"
)

// answered returns a client that reads the text, one byte at a time at worst.
func answered(text string, slowly bool) *client {
	r := bufio.NewReader(strings.NewReader(text))
	if slowly {
		r = bufio.NewReader(iotest.OneByteReader(strings.NewReader(text)))
	}
	return &client{in: r}
}

func TestReceive(t *testing.T) {
	stream := string(streamHead) + string(eventChunk) + string(eventChunk) + string(streamEnd)
	// A proxy may cut chunks as it likes.
	cut := string(streamHead) + "8\r\ndata: x\n\r\n1\r\n\n\r\n11\r\ndata: y\n\ndata: z\n\r\n1\r\n\n\r\n0\r\n\r\n"
	for _, c := range []struct {
		name, text string
		events     int
		fails      string
	}{
		{"a whole answer", string(answer), 0, ""},
		{"a stream", stream, 3, ""},
		{"events over chunks", cut, 3, ""},
		{"lower case, more fields", "HTTP/1.1 200 OK\r\nserver: x\r\ncontent-length: 2\r\n\r\nok", 0, ""},
		{"an error", "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 2\r\n\r\nno", 0, "503"},
		{"an answer cut off", string(answer[:len(answer)-1]), 0, "EOF"},
		{"a stream cut off", stream[:len(stream)-3], 0, "EOF"},
		{"no chunk", string(streamHead) + "zz\r\n", 0, "a chunk begins with"},
	} {
		for _, slowly := range []bool{false, true} {
			events, err := answered(c.text, slowly).receive()
			switch {
			case c.fails == "" && (err != nil || events != c.events):
				t.Errorf("%s (slowly: %v): %d events, %v; want %d", c.name, slowly, events, err, c.events)
			case c.fails != "" && (err == nil || !strings.Contains(err.Error(), c.fails)):
				t.Errorf("%s (slowly: %v): %v; want an error with %q", c.name, slowly, err, c.fails)
			}
		}
	}
}

// TestTwoAnswers holds that an answer is read to its end and no further.
func TestTwoAnswers(t *testing.T) {
	c := answered(strings.Repeat(string(streamHead)+string(eventChunk)+string(streamEnd)+string(answer), 2), false)
	for i, want := range []int{2, 0, 2, 0} {
		if events, err := c.receive(); err != nil || events != want {
			t.Errorf("answer %d: %d events, %v; want %d", i, events, err, want)
		}
	}
}

// serve starts a worker in this process.
func serve(t *testing.T) *contender {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- work(l) }()
	t.Cleanup(func() {
		l.Close()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return &contender{name: "worker", address: l.Addr().String()}
}
