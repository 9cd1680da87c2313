package record

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
)

// Salt is a secret, drawn anew for each recording and written nowhere, that keeps
// ids and names from being compared with hashes of guessed texts, or with another
// recording. It is safe for concurrent use.
type Salt [32]byte

// idBits keeps ids exact in readers that hold numbers as float64. Two of a
// million different blocks get the same id in one recording of 18,000.
const idBits = 53

// Blocks appends the salted ids of blocks to dst: equal blocks get equal ids.
// A block takes well under a microsecond.
func (s *Salt) Blocks(dst, blocks []uint64) []uint64 {
	for _, b := range blocks {
		dst = append(dst, s.id(b))
	}
	return dst
}

func (s *Salt) id(block uint64) uint64 {
	var in [len(s) + 8]byte
	copy(in[:], s[:])
	binary.LittleEndian.PutUint64(in[len(s):], block)
	sum := sha256.Sum256(in[:])
	return binary.LittleEndian.Uint64(sum[:]) >> (64 - idBits)
}

// Name hides a name: equal names get equal strings of 16 hexadecimal digits. The
// empty name stays empty.
func (s *Salt) Name(name string) string {
	if name == "" {
		return ""
	}
	sum := sha256.Sum256(append(append(make([]byte, 0, len(s)+len(name)), s[:]...), name...))
	return hex.EncodeToString(sum[:8])
}

// Key hides a number as Name hides a name; 0 gives the empty string.
func (s *Salt) Key(key uint64) string {
	if key == 0 {
		return ""
	}
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], key)
	return s.Name(string(b[:]))
}
