package admin

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"gatewayd/internal/config"
)

// TokenFile returns where the token is if the configuration does not say: in the
// user's folder of settings. It fails where the user has none.
func TokenFile() (string, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "gatewayd", "admin.token"), nil
}

// NewToken draws a token.
func NewToken() config.Secret {
	var b [32]byte
	rand.Read(b[:]) // never fails (crypto/rand)
	return config.NewSecret(hex.EncodeToString(b[:]))
}

// OpenToken reads the token from a file that only its owner may read, and makes
// the file if there is none.
func OpenToken(file string) (config.Secret, error) {
	token := NewToken()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return token, fmt.Errorf("make the admin token: %w", err)
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return ReadToken(file)
	}
	if err == nil {
		_, err = io.WriteString(f, token.Reveal()+"\n")
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return token, fmt.Errorf("make the admin token: %w", err)
	}
	return token, nil
}

// Lengths of a token, in characters.
const (
	leastToken = 16
	mostToken  = 1024
)

// ReadToken reads the token of a running gateway from its file.
func ReadToken(file string) (config.Secret, error) {
	f, err := os.Open(file)
	if err != nil {
		return config.Secret{}, fmt.Errorf("read the admin token: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return config.Secret{}, fmt.Errorf("read the admin token: %w", err)
	}
	if mode := info.Mode(); !mode.IsRegular() || mode.Perm()&0o077 != 0 {
		return config.Secret{}, fmt.Errorf("the admin token in %s has mode %v: others could read it\nhint: chmod 600 %s", file, mode, file)
	}
	text, err := io.ReadAll(io.LimitReader(f, mostToken+2))
	if err != nil {
		return config.Secret{}, fmt.Errorf("read the admin token: %w", err)
	}
	token := strings.TrimSpace(string(text))
	if n := len(token); n < leastToken || n > mostToken || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return config.Secret{}, fmt.Errorf("the admin token in %s is no token: it must be %d to %d printable characters\nhint: remove the file, and the gateway makes one at its start", file, leastToken, mostToken)
	}
	return config.NewSecret(token), nil
}

// guarded lets only those who know the token through to h.
func guarded(token config.Secret, h http.Handler) http.Handler {
	want := sha256.Sum256([]byte(token.Reveal()))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		got := sha256.Sum256([]byte(given))
		if token.Empty() || !strings.EqualFold(scheme, "Bearer") || subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
			w.Header().Set("WWW-Authenticate", `Bearer realm="gatewayd"`)
			refuse(w, http.StatusUnauthorized, "this needs the token of admin_token_file: Authorization: Bearer TOKEN")
			return
		}
		h.ServeHTTP(w, r)
	})
}
