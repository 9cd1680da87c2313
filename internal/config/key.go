package config

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// Secret is a value that no output shows: it prints and marshals as [secret],
// also as a hidden field of something else. The zero Secret is empty.
type Secret struct {
	text *string // a pointer, because fmt prints the text of a hidden field
}

// NewSecret hides a text.
func NewSecret(text string) Secret { return Secret{&text} }

// Reveal returns the text, for the one place that sends it.
func (s Secret) Reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

// Empty reports whether there is nothing to hide.
func (s Secret) Empty() bool { return s.Reveal() == "" }

// String returns "[secret]", or "" for an empty one.
func (s Secret) String() string {
	if s.Empty() {
		return ""
	}
	return "[secret]"
}

// Format prints String for every verb.
func (s Secret) Format(f fmt.State, _ rune) { io.WriteString(f, s.String()) }

// MarshalText returns String, so that no encoder shows the text.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// maxKey bounds the size of an API key in bytes.
const maxKey = 16 << 10

// readKey reads the worker's API key from its file, if it names one.
func (w *Worker) readKey() error {
	if w.APIKeyFile == "" {
		return nil
	}
	f, err := os.Open(w.APIKeyFile)
	if err != nil {
		return fmt.Errorf("read the API key: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxKey+1))
	if err != nil {
		return fmt.Errorf("read the API key: %w", err)
	}
	key := strings.TrimSpace(string(text))
	switch {
	case len(text) > maxKey:
		return fmt.Errorf("the API key is larger than %d bytes", maxKey)
	case key == "":
		return errors.New("the file with the API key is empty")
	case strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }):
		return errors.New("the API key holds a space, a line break or a character that is not ASCII")
	}
	w.Key = NewSecret(key)
	return nil
}
