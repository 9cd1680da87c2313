package record

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"gatewayd/pkg/record"
)

// NewSalt draws a salt. Nothing that was recorded with another one can be
// compared with what is recorded with it.
func NewSalt() (s record.Salt) {
	rand.Read(s[:]) // never fails (crypto/rand)
	return s
}

// LoadSalt reads the salt of several gateways, or of several runs of one, whose
// records are to be compared: 64 hexadecimal digits in a file that only its owner
// may read. It makes the file, with a new salt, if there is none.
func LoadSalt(path string) (record.Salt, error) {
	s := NewSalt()
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	switch {
	case errors.Is(err, fs.ErrExist):
		return readSalt(path)
	case err != nil:
		return s, fmt.Errorf("make the salt file: %w", err)
	}
	_, err = fmt.Fprintln(f, hex.EncodeToString(s[:]))
	return s, errors.Join(err, f.Close())
}

func readSalt(path string) (s record.Salt, err error) {
	f, err := os.Open(path)
	if err != nil {
		return s, fmt.Errorf("read the salt file: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return s, fmt.Errorf("read the salt file: %w", err)
	}
	if mode := info.Mode(); !mode.IsRegular() || mode.Perm()&0o077 != 0 {
		return s, fmt.Errorf("the salt file %s has mode %v: only its owner may read it; chmod 600 it, or name another one", path, mode)
	}
	text, err := io.ReadAll(io.LimitReader(f, 1<<10))
	if err != nil {
		return s, fmt.Errorf("read the salt file: %w", err)
	}
	digits := strings.TrimSpace(string(text))
	if n, err := hex.Decode(s[:], []byte(digits[:min(len(digits), 2*len(s))])); err != nil || n != len(s) || len(digits) != 2*len(s) {
		return s, fmt.Errorf("the salt file %s does not hold %d hexadecimal digits; remove it to have one made", path, 2*len(s))
	}
	return s, nil
}
