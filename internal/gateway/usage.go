package gateway

import (
	"bytes"

	"github.com/tidwall/gjson"

	"gatewayd/pkg/router"
)

// maxRead bounds the part of an answer that is kept to read its usage.
const maxRead = 256 << 10

// answer keeps what is needed to read the usage of an answer that is no stream:
// all of it, or of a longer one its end.
type answer struct {
	kept []byte
	cut  bool
}

// keep takes the next bytes of the answer.
func (a *answer) keep(b []byte) {
	if a.kept = append(a.kept, b...); len(a.kept) > 2*maxRead {
		a.kept = append(a.kept[:0], a.kept[len(a.kept)-maxRead:]...)
		a.cut = true
	}
}

// usage returns what the worker says that it took. It stands at the end, most often.
func (a *answer) usage() (router.Usage, bool) {
	name := []byte(`"usage"`)
	i := bytes.LastIndex(a.kept, name)
	if i < 0 {
		return router.Usage{}, false
	}
	u, ok := tokens(gjson.ParseBytes(bytes.TrimLeft(a.kept[i+len(name):], " \t\r\n:")))
	if !ok && !a.cut {
		return readUsage(a.kept)
	}
	return u, ok
}

// readUsage reads the usage object of a body or an event. Cached tokens are -1
// if the worker does not report them.
func readUsage(body []byte) (router.Usage, bool) { return tokens(gjson.GetBytes(body, "usage")) }

// tokens reads a usage object: that of chat completions, of the Responses API, or
// of Anthropic's Messages API, whose input tokens leave out those of the cache.
func tokens(u gjson.Result) (router.Usage, bool) {
	input, output := u.Get("prompt_tokens"), u.Get("completion_tokens")
	cached := u.Get("prompt_tokens_details.cached_tokens")
	if !input.Exists() && !output.Exists() {
		input, output = u.Get("input_tokens"), u.Get("output_tokens")
		cached = u.Get("input_tokens_details.cached_tokens")
	}
	if !u.IsObject() || !input.Exists() && !output.Exists() {
		return router.Usage{}, false
	}
	out := router.Usage{PromptTokens: count(input), OutputTokens: count(output), CachedTokens: -1}
	if cached.Type == gjson.Number {
		out.CachedTokens = count(cached)
	}
	if read := u.Get("cache_read_input_tokens"); read.Type == gjson.Number {
		out.CachedTokens = count(read)
		out.PromptTokens += out.CachedTokens + count(u.Get("cache_creation_input_tokens"))
	}
	return out, true
}

// count reads a number of tokens; what no worker would report counts as zero.
func count(v gjson.Result) int {
	if n := v.Num; n > 0 && n < 1<<30 {
		return int(n)
	}
	return 0
}
