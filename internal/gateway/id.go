package gateway

import (
	"github.com/google/uuid"

	"gatewayd/internal/http1"
)

// maxRequestID is the longest request ID taken over from a client.
const maxRequestID = 128

func init() { uuid.EnableRandPool() } // nobody's secret depends on an ID

// requestIDField is the header field with the ID, in all directions.
const requestIDField = "X-Request-Id"

// requestID takes the client's X-Request-Id if it is harmless, and makes a
// random UUID otherwise: some workers (llama-cpp-python) refuse other forms.
func requestID(h http1.Header) string {
	if id := h.Get(requestIDField); id != "" && len(id) <= maxRequestID && harmless(id) {
		return id
	}
	return uuid.NewString()
}

func harmless(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '_', c == '.', c == ':', c == '/':
		default:
			return false
		}
	}
	return true
}
