package downstream

import (
	"fmt"
	"testing"
)

// frame is a frame of HTTP/2 (RFC 9113, 4.1), shorter than 256 bytes.
func frame(kind, flags, stream byte, payload string) string {
	return string([]byte{0, 0, byte(len(payload)), kind, flags, 0, 0, 0, stream}) + payload
}

// literal is a field that no table has (RFC 7541, 6.2.2), with a short name and value.
func literal(name, value string) string {
	return fmt.Sprintf("\x00%c%s%c%s", len(name), name, len(value), value)
}

// HTTP/2 has its own word for the host, and may have the field beside it or instead. It
// is no field of a request in any case, as with HTTP/1.
func TestHostIsNoField(t *testing.T) {
	const kindHeaders, endOfAll = 1, 0x5 // END_STREAM, END_HEADERS
	got := make(chan asked, 1)
	w := newWorld(t, tells(got), nil)
	for name, fields := range map[string]string{
		"both":  literal(":authority", "g") + literal("host", "g"),
		"own":   literal(":authority", "g"),
		"field": literal("host", "g"),
	} {
		c := w.wire(t)
		c.say("%sSM\r\n\r\n%s", preface, frame(4, 0, 0, "")+frame(kindHeaders, endOfAll, 1,
			literal(":method", "GET")+literal(":scheme", "http")+literal(":path", "/p")+fields+literal("a", "1")))
		own := <-got
		if want := `GET "/p" path "/p" query "" for "g", HTTP/2.0 (2.0), TLS false, length 0, close false: ""`; own.String() != want {
			t.Errorf("%s: %s,\nwant %s", name, own, want)
		}
		if own.Header.Has("Host") || own.Header.Get("A") != "1" {
			t.Errorf("%s: the fields %q", name, own.Header)
		}
		c.Close()
	}
}
