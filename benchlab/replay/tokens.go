package replay

import (
	"errors"
	"fmt"
	"math"
)

// Tokens says how a server counts the tokens of a prompt: Fixed for the request
// itself (a chat template's own words), and the text's bytes over BytesPerToken.
// The zero value stands for 4 bytes a token and nothing fixed.
type Tokens struct {
	BytesPerToken float64 `json:"bytes_per_token"` // of these prompts' text; 1 to 64
	Fixed         float64 `json:"fixed_tokens"`    // of each request
}

const (
	defaultBytesPerToken = 4
	maxBytesPerToken     = 64
)

func (t Tokens) perToken() float64 {
	if t.BytesPerToken == 0 {
		return defaultBytesPerToken
	}
	return t.BytesPerToken
}

func (t Tokens) check() error {
	if b := t.perToken(); !(b >= 1 && b <= maxBytesPerToken) {
		return fmt.Errorf("replay: %v bytes per token, want 1 to %d", b, maxBytesPerToken)
	}
	if !(t.Fixed >= 0 && t.Fixed <= 1e5) {
		return fmt.Errorf("replay: %v fixed tokens in each request, want 0 to 100000", t.Fixed)
	}
	return nil
}

// bytes is the length of the text that makes a prompt of so many tokens; at
// least one byte.
func (t Tokens) bytes(tokens int) int {
	return max(1, int(math.Round((float64(tokens)-t.Fixed)*t.perToken())))
}

// offset is where the text of the first so many tokens ends.
func (t Tokens) offset(tokens int) int {
	return int(math.Round(float64(tokens) * t.perToken()))
}

// sample is a text's length and the prompt tokens that a server counted for it.
type sample struct{ bytes, tokens int }

// fit finds the rule behind two counts.
func fit(short, long sample) (Tokens, error) {
	if long.tokens <= short.tokens || long.bytes <= short.bytes {
		return Tokens{}, fmt.Errorf("the server counts %d tokens for %d bytes and %d for %d",
			short.tokens, short.bytes, long.tokens, long.bytes)
	}
	t := Tokens{BytesPerToken: float64(long.bytes-short.bytes) / float64(long.tokens-short.tokens)}
	t.Fixed = math.Max(0, float64(short.tokens)-float64(short.bytes)/t.BytesPerToken)
	if t.check() != nil {
		return Tokens{}, errors.New("the server's counts of tokens make no sense")
	}
	return t, nil
}
