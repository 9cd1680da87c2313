package pool

import (
	"sync"

	"gatewayd/pkg/estimator"
)

// tokens is what the pool has learned of its model's tokenizer. The zero value
// knows nothing yet.
type tokens struct {
	mu    sync.Mutex
	ratio estimator.TokensPerByte
}

func (t *tokens) learn(promptTokens, promptBytes int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ratio.Observe(promptTokens, promptBytes)
}

// takeOver continues what was learned elsewhere.
func (t *tokens) takeOver(old *tokens) {
	old.mu.Lock()
	ratio := old.ratio
	old.mu.Unlock()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ratio = ratio
}

// perByte returns the ratio in use, and whether it was learned.
func (t *tokens) perByte() (ratio float64, learned bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.ratio.Value(), t.ratio.Known()
}

// TokensPerByte returns how many prompt tokens a byte of prompt text makes.
func (p *Pool) TokensPerByte() float64 {
	ratio, _ := p.bytes.perByte()
	return ratio
}
