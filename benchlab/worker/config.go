package worker

import (
	"errors"
	"fmt"
	"math"
	"time"
	"unicode/utf8"

	"gatewayd/benchlab/engine"
)

// Config describes a worker. Only Models and Profile are required.
type Config struct {
	// Models are the names that the worker answers to: names of one model, as
	// with vLLM's --served-model-name. The first one labels the metrics.
	Models  []string
	Profile engine.Profile

	APIKey       string        // if set, /v1 wants "Authorization: Bearer <key>"
	Speed        float64       // engine seconds per wall second; 0 is 1, at most 1e4
	ContextLen   int           // tokens of prompt and answer; 0 is 131072, or what the KV cache holds if less
	MaxInFlight  int           // requests at a time, more get 503; 0 is 1024
	MaxBodyBytes int64         // more get 413; 0 is 64 MiB
	Timeout      time.Duration // of one request, all in all; 0 is one hour
	WriteTimeout time.Duration // of one write to a client, and of reading a body; 0 is one minute
	// ForgetAnswers keeps answers out of the prefix cache, as where a trace does not
	// tell which of them later prompts hold.
	ForgetAnswers bool
	Clock         Clock // nil is the system's
}

// Clock is the time that the engine runs on.
type Clock interface {
	Now() time.Time
	// Timer returns a channel that receives once, d from now, and a function that
	// releases the timer.
	Timer(d time.Duration) (fire <-chan time.Time, stop func() bool)
}

type systemClock struct{}

func (systemClock) Now() time.Time { return time.Now() }

func (systemClock) Timer(d time.Duration) (<-chan time.Time, func() bool) {
	t := time.NewTimer(d)
	return t.C, t.Stop
}

// complete fills in defaults and checks the rest.
func (c *Config) complete() error {
	if len(c.Models) == 0 {
		return errors.New("worker: no model name; set at least one in Models")
	}
	for _, name := range c.Models {
		if name == "" || !utf8.ValidString(name) {
			return fmt.Errorf("worker: model name %q is empty or not UTF-8", name)
		}
	}
	if c.Speed == 0 {
		c.Speed = 1
	}
	if math.IsNaN(c.Speed) || c.Speed < 1e-4 || c.Speed > 1e4 {
		return fmt.Errorf("worker: speed is %v, want 1e-4 to 1e4 engine seconds per second", c.Speed)
	}
	if c.Clock == nil {
		c.Clock = systemClock{}
	}
	setDefault(&c.MaxInFlight, 1024)
	setDefault(&c.MaxBodyBytes, 64<<20)
	setDefault(&c.Timeout, time.Hour)
	setDefault(&c.WriteTimeout, time.Minute)
	if c.MaxInFlight < 0 || c.MaxBodyBytes < 0 || c.Timeout < 0 || c.WriteTimeout < 0 || c.ContextLen < 0 {
		return errors.New("worker: a limit is negative")
	}
	return nil
}

// completeContext bounds the context by the KV cache.
func (c *Config) completeContext(capacity int) error {
	if c.ContextLen == 0 {
		c.ContextLen = min(131072, capacity)
	}
	if c.ContextLen < 2 || c.ContextLen > capacity {
		return fmt.Errorf("worker: context of %d tokens, want 2 to %d, which the KV cache of profile %q holds",
			c.ContextLen, capacity, c.Profile.Name)
	}
	return nil
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}
