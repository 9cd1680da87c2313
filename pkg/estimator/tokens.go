package estimator

// TokensPerByte learns how many tokens a byte of prompt text makes, from what
// workers report as usage. Tokenizers differ, so keep one per model. The zero
// value knows nothing yet.
type TokensPerByte struct{ ratio float64 }

const (
	// DefaultTokensPerByte is what English text makes with usual vocabularies.
	DefaultTokensPerByte = 0.25
	// least is the prompt in bytes below which the template around the text would
	// be most of what is counted.
	least = 64
	// most bounds a reported ratio: no tokenizer makes more tokens of a byte, so
	// something else was counted, as an image.
	most = 4
	// memory is how many requests the mean reaches back.
	memory = 32
)

// Observe learns from one request: the tokens that its worker counted and the
// bytes of its text. Figures that cannot be or say little are ignored.
func (t *TokensPerByte) Observe(tokens, bytes int) {
	if tokens <= 0 || bytes < least {
		return
	}
	seen := min(float64(tokens)/float64(bytes), most)
	if t.ratio == 0 {
		t.ratio = seen
		return
	}
	t.ratio += (seen - t.ratio) / memory
}

// Known reports whether anything was observed.
func (t *TokensPerByte) Known() bool { return t.ratio > 0 }

// Value returns the tokens per byte, DefaultTokensPerByte until one was observed.
func (t *TokensPerByte) Value() float64 {
	if t.ratio == 0 {
		return DefaultTokensPerByte
	}
	return t.ratio
}
