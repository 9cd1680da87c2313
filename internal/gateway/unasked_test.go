package gateway

import (
	"bytes"
	"strings"
	"testing"
)

// What is no usage event passes, whatever it looks like.
func TestOnlyUsageEventsAreTakenOut(t *testing.T) {
	usage := strings.TrimSpace(usageEvent)
	for line, out := range map[string]bool{
		usage: true,
		strings.Replace(usage, "data: ", "data:", 1):                    true,
		strings.ReplaceAll(usage, `:`, ` : `):                           false, // "data : " is another field
		`data: { "choices" : [ ] , "usage" : {"prompt_tokens":1} }`:     true,
		`data: {"choices":[],"usage":null}`:                             false,
		`data: {"choices":[{}],"usage":{"prompt_tokens":1}}`:            false,
		`data: {"choices":[],"x":{"usage":{}}}`:                         false,
		`data: {"usage":{"prompt_tokens":1}}`:                           false,
		`data: {"choices":[],"usage":{"prompt_tokens":1}`:               false,
		`: {"choices":[],"usage":{"prompt_tokens":1}}`:                  false,
		`data: {"choices":"\"choices\":[]","usage":{"prompt_tokens":1}`: false,
	} {
		if got := isUsageEvent([]byte(line)); got != out {
			t.Errorf("%s: taken out is %v", line, got)
		}
	}
}

// FuzzUnasked holds that a stream loses its usage event and nothing else, however
// it is cut.
func FuzzUnasked(f *testing.F) {
	f.Add(event("a")+usageEvent+"data: [DONE]\n\n", 3, 90)
	f.Add(strings.ReplaceAll(usageEvent+usageEvent+event("b"), "\n", "\r\n"), 100, 130)
	f.Add(usageEvent+"\n\r\n\rx", 1, 2)
	f.Add("x"+usageEvent, 1, 5)
	f.Fuzz(func(t *testing.T, stream string, one, two int) {
		one, two = min(max(one, 0), len(stream)), min(max(two, 0), len(stream))
		one, two = min(one, two), max(one, two)
		through := func(parts ...string) string {
			var l lines
			var u unasked
			var out bytes.Buffer
			for _, p := range parts {
				out.Write(u.pass(l.take([]byte(p))))
			}
			out.Write(u.pass(l.rest()))
			return out.String()
		}
		whole := through(stream)
		if cut := through(stream[:one], stream[one:two], stream[two:]); cut != whole {
			t.Errorf("%q gives %q, and cut at %d and %d %q", stream, whole, one, two, cut)
		}
		if !strings.Contains(stream, `"usage"`) && whole != stream {
			t.Errorf("%q became %q", stream, whole)
		}
		for line := range strings.FieldsFuncSeq(whole, func(r rune) bool { return r == '\n' || r == '\r' }) {
			if isUsageEvent([]byte(line)) {
				t.Errorf("%q was left in", line)
			}
		}
	})
}
