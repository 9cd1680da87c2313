package worker

import (
	"encoding/binary"

	"github.com/cespare/xxhash/v2"
)

// tokenBytes is the length of a token: the rule of this tokeniser.
const tokenBytes = 4

// words are what answers consist of: one token each, the space included.
const words = "and the for you are not but can all her was one our out day get has him his how " +
	"man new now old see two way who boy did its let put say she too use dad mom run " +
	"sun sky sea air oak ash elm fir red tan bee ant fox owl cat dog hen cow pig ram " +
	"map key "

const wordCount = len(words) / tokenBytes

// countTokens returns the number of tokens of a text; the last may be short.
func countTokens(text []byte) int { return (len(text) + tokenBytes - 1) / tokenBytes }

// answer returns tokens words that follow from the prompt.
func answer(prompt []byte, tokens int) []byte {
	state := xxhash.Sum64(prompt)
	text := make([]byte, 0, tokens*tokenBytes)
	for range tokens {
		at := int(mix(&state)%uint64(wordCount)) * tokenBytes
		text = append(text, words[at:at+tokenBytes]...)
	}
	return text
}

// mix is one step of splitmix64.
func mix(state *uint64) uint64 {
	*state += 0x9e3779b97f4a7c15
	z := *state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// blockHashes returns the chained hashes of the full blocks of a text.
func blockHashes(text []byte, blockTokens int) []uint64 {
	size := blockTokens * tokenBytes
	hashes := make([]uint64, 0, len(text)/size)
	var digest xxhash.Digest
	var link [8]byte
	for ; len(text) >= size; text = text[size:] {
		digest.Reset()
		_, _ = digest.Write(link[:])     // a Digest's Write
		_, _ = digest.Write(text[:size]) // never fails
		sum := digest.Sum64()
		hashes = append(hashes, sum)
		binary.LittleEndian.PutUint64(link[:], sum)
	}
	return hashes
}
