package replay

import (
	"fmt"
	"io"

	"gatewayd/benchlab/trace"
)

// words are what prompts consist of: 64 words of three letters and a space, one
// token each in the usual vocabularies.
const words = "the and for are but not you all any can had her was one our out " +
	"day get has him his how man new now old see two way who boy did " +
	"its let put say she too use dad mom run sun sky sea air oak ash " +
	"red tan bee ant fox owl cat dog hen cow pig ram map key box cup "

const (
	wordBytes = 4
	wordBits  = 6  // log2 of the number of words
	perDraw   = 10 // words drawn from one 64-bit number
)

// segment is a stretch of text that follows from its seed.
type segment struct {
	seed uint64
	end  int // offset in the whole text at which it ends, in bytes
}

// text is the text of one prompt. It is made as it is read and never held.
type text struct {
	segments []segment
	at       int // offset
	number   int // of the current segment
	state    uint64
	drawn    uint64 // words that are left of the last draw
	left     int    // how many
	word     string // rest of the word that is begun
}

// newText returns the text whose segments end where they say.
func newText(segments []segment) *text {
	t := &text{segments: segments}
	if len(segments) > 0 {
		t.begin()
	}
	return t
}

// begin goes to the start of the current segment.
func (t *text) begin() { t.state, t.left, t.word = t.segments[t.number].seed, 0, "" }

// len is the length of the whole text in bytes.
func (t *text) len() int {
	if len(t.segments) == 0 {
		return 0
	}
	return t.segments[len(t.segments)-1].end
}

// Read implements io.Reader.
func (t *text) Read(b []byte) (n int, err error) {
	for n < len(b) && t.at < t.len() {
		if t.at == t.segments[t.number].end {
			t.number++
			t.begin()
			continue
		}
		if t.word == "" {
			t.word = t.next()
		}
		most := min(len(b)-n, t.segments[t.number].end-t.at)
		c := copy(b[n:n+most], t.word)
		t.word = t.word[c:]
		t.at += c
		n += c
	}
	if n == 0 && len(b) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

// next draws a word.
func (t *text) next() string {
	if t.left == 0 {
		t.drawn, t.left = draw(&t.state), perDraw
	}
	i := int(t.drawn&(1<<wordBits-1)) * wordBytes
	t.drawn >>= wordBits
	t.left--
	return words[i : i+wordBytes]
}

// draw is one step of splitmix64.
func draw(state *uint64) uint64 {
	*state += 0x9e3779b97f4a7c15
	z := *state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// mixed derives the seed of one purpose from two numbers.
func mixed(a, b uint64) uint64 {
	a ^= draw(&b)
	return draw(&a)
}

// writer makes the texts of a trace's prompts. It is a value, safe for
// concurrent use.
type writer struct {
	trace  *trace.Trace
	tokens Tokens
	salt   uint64
}

// write returns the text of a row's prompt: one segment for each block, and one
// for what has no block id, which no other prompt has.
func (w writer) write(row int) *text {
	r := &w.trace.Requests[row]
	total := w.tokens.bytes(r.Input)
	scope := w.salt
	if w.trace.Scope == trace.ScopeSession {
		scope = mixed(w.salt, r.Session)
	}
	segments := make([]segment, 0, len(r.Blocks)+1)
	for i, id := range r.Blocks {
		end := min(w.tokens.offset((i+1)*w.trace.BlockTokens), total)
		segments = append(segments, segment{mixed(scope, mixed(id, uint64(i))), end})
		if end == total {
			return newText(segments)
		}
	}
	return newText(append(segments, segment{mixed(w.salt+1, uint64(row)), total}))
}

// session names a session, "" if there is none.
func (w writer) session(number uint64) string {
	if number == 0 {
		return ""
	}
	return SessionName(w.salt, number)
}

// SessionName is what a replay with a salt calls a session of the trace.
func SessionName(salt, session uint64) string {
	return fmt.Sprintf("%016x", mixed(salt+2, session))
}
