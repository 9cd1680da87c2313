package pool

import "sync"

// defaultTokensPerByte is what English text makes with usual vocabularies.
const defaultTokensPerByte = 0.25

// tokens learns how many tokens a byte of prompt text makes, from what workers
// report as usage. The zero value knows nothing yet.
type tokens struct {
	mu    sync.Mutex
	ratio float64
}

func (t *tokens) learn(promptTokens, promptBytes int) {
	if promptTokens <= 0 || promptBytes < 64 {
		return
	}
	seen := min(float64(promptTokens)/float64(promptBytes), 4)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ratio == 0 {
		t.ratio = seen
		return
	}
	t.ratio += (seen - t.ratio) / 32
}

func (t *tokens) perByte() float64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ratio == 0 {
		return defaultTokensPerByte
	}
	return t.ratio
}

// TokensPerByte returns how many prompt tokens a byte of prompt text makes.
func (p *Pool) TokensPerByte() float64 { return p.bytes.perByte() }
