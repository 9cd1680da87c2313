package gateway

import (
	"bytes"
	"strconv"
	"unsafe"

	"github.com/tidwall/gjson"

	"gatewayd/internal/scan"
	"gatewayd/pkg/router"
)

// maxRead bounds the part of an answer that is kept to read its usage.
const maxRead = 256 << 10

// answer reads the usage of an answer that is no stream. It keeps nothing of one that
// comes in one piece, all of another, or of a longer one its end.
type answer struct {
	kept []byte
	cut  bool
	used *router.Usage // of one piece; nil: it has none, or it was not read yet
}

// take takes the next bytes of the answer; last says that there are no more.
func (a *answer) take(b []byte, last bool) {
	if last && len(a.kept) == 0 {
		if u, ok := a.read(b); ok {
			a.used = &u
		}
		return
	}
	if a.kept = append(a.kept, b...); len(a.kept) > 2*maxRead {
		a.kept = append(a.kept[:0], a.kept[len(a.kept)-maxRead:]...)
		a.cut = true
	}
}

// usage returns what the worker says that it took.
func (a *answer) usage() (router.Usage, bool) {
	if a.used != nil {
		return *a.used, true
	}
	return a.read(a.kept)
}

// read reads the usage of an answer, at whose end it stands, most often.
func (a *answer) read(text []byte) (router.Usage, bool) {
	name := []byte(`"usage"`)
	i := bytes.LastIndex(text, name)
	if i < 0 {
		return router.Usage{}, false
	}
	rest := bytes.TrimLeft(text[i+len(name):], " \t\r\n:")
	u, ok := tokens(unsafe.String(unsafe.SliceData(rest), len(rest))) // numbers are all that is kept of it
	if !ok && !a.cut {
		return readUsage(text)
	}
	return u, ok
}

// readUsage reads the usage object of a body or an event. Cached tokens are -1
// if the worker does not report them.
func readUsage(body []byte) (router.Usage, bool) { return tokens(gjson.GetBytes(body, "usage").Raw) }

// tokens reads the usage object that a text begins with: that of chat completions, of the
// Responses API, or of Anthropic's Messages API, whose input tokens leave out those of
// the cache. What is no JSON tells none.
func tokens(text string) (router.Usage, bool) {
	u, err := scan.First(text)
	if err != nil {
		return router.Usage{}, false
	}
	var chat, other struct{ input, output, details scan.Value }
	var read, created scan.Value
	u.Each(u.Root(), func(v scan.Value) bool {
		switch v.Name {
		case "prompt_tokens":
			chat.input = v
		case "completion_tokens":
			chat.output = v
		case "prompt_tokens_details":
			chat.details = v
		case "input_tokens":
			other.input = v
		case "output_tokens":
			other.output = v
		case "input_tokens_details":
			other.details = v
		case "cache_read_input_tokens":
			read = v
		case "cache_creation_input_tokens":
			created = v
		}
		return true
	})
	said := chat
	if said.input.Raw == "" && said.output.Raw == "" {
		said = other
	}
	if said.input.Raw == "" && said.output.Raw == "" {
		return router.Usage{}, false
	}
	out := router.Usage{PromptTokens: count(said.input), OutputTokens: count(said.output), CachedTokens: -1}
	if cached := u.Member(said.details, "cached_tokens"); isNumber(cached) {
		out.CachedTokens = count(cached)
	}
	if isNumber(read) {
		out.CachedTokens = count(read)
	}
	if said == other { // those of chat have them within
		out.PromptTokens += count(read) + count(created)
	}
	return out, true
}

func isNumber(v scan.Value) bool {
	return v.Raw != "" && (v.Raw[0] == '-' || v.Raw[0] <= '9' && v.Raw[0] >= '0')
}

// count reads a number of tokens; what no worker would report counts as zero.
func count(v scan.Value) int {
	if n, _ := strconv.ParseFloat(v.Raw, 64); n > 0 && n < 1<<30 {
		return int(n)
	}
	return 0
}
