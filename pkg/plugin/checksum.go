package plugin

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"strings"
)

// Checksum returns the SHA-256 of a file, in hexadecimal.
func Checksum(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", fmt.Errorf("read %s: %w", path, err)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// checkSum compares a file with its pinned checksum; "" allows any. The error is
// ErrInvalid when they differ.
func checkSum(path, pinned string) error {
	if pinned == "" {
		return nil
	}
	sum, err := Checksum(path)
	if err != nil {
		return err
	}
	if !strings.EqualFold(sum, pinned) {
		return fmt.Errorf("%w checksum: the executable's SHA-256 is %s, pinned is %s", ErrInvalid, sum, pinned)
	}
	return nil
}
