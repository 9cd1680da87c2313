package admin

import (
	"time"

	"gatewayd/internal/fleet"
	"gatewayd/pkg/router"
)

// workerView is a worker's state and its load in all pools.
type workerView struct {
	ID          string   `json:"id"`
	URL         string   `json:"url"`
	Up          bool     `json:"up"`
	Draining    bool     `json:"draining,omitempty"`
	Starting    bool     `json:"starting_slowly,omitempty"`
	Breaker     string   `json:"breaker"`
	Openings    uint64   `json:"breaker_openings,omitempty"`
	PausesFor   float64  `json:"pauses_for_seconds,omitempty"` // had too much to do: the longest of its pools
	Trouble     string   `json:"trouble,omitempty"`
	Incarnation uint64   `json:"incarnation"`
	Engine      string   `json:"engine,omitempty"`
	Models      []string `json:"models"`
	Adapters    []string `json:"adapters,omitempty"`
	ListError   string   `json:"model_list_error,omitempty"`

	InFlight     int `json:"in_flight"`     // of all gateways
	QueuedTokens int `json:"queued_tokens"` // likewise, without a first token yet

	// As the engine's metrics say; absent if they do not.
	Running      *gaugeView `json:"running,omitempty"`
	Waiting      *gaugeView `json:"waiting,omitempty"`
	KVUsed       *gaugeView `json:"kv_used,omitempty"`
	KVTokens     int        `json:"kv_tokens,omitempty"`
	PromptTokens *float64   `json:"prompt_tokens_total,omitempty"`
	OutputTokens *float64   `json:"output_tokens_total,omitempty"`
	CacheQueries *float64   `json:"cache_query_tokens_total,omitempty"`
	CacheHits    *float64   `json:"cache_hit_tokens_total,omitempty"`
	MetricsError string     `json:"metrics_error,omitempty"`
}

// gaugeView is a figure with its age.
type gaugeView struct {
	Value float64 `json:"value"`
	AgeS  float64 `json:"age_seconds"`
}

func workers(g Gateway, f Workers, now time.Time) []workerView {
	inFlight, queued, pauses := map[string]int{}, map[string]int{}, map[string]time.Duration{}
	for _, p := range g.Pools() {
		for _, m := range p.Loads() {
			inFlight[m.ID] = max(inFlight[m.ID], m.Load.InFlight)
			queued[m.ID] = max(queued[m.ID], m.Load.QueuedTokens)
			pauses[m.ID] = max(pauses[m.ID], p.PausedFor(m.ID))
		}
	}
	out := []workerView{}
	for _, s := range f.Workers() {
		v := workerView{
			ID: s.ID, URL: s.URL, Up: s.Up, Draining: s.Draining, Starting: s.Starting, Breaker: s.Breaker, Openings: s.Openings, PausesFor: pauses[s.ID].Seconds(), Trouble: s.Trouble, Incarnation: s.Incarnation, Engine: s.Engine,
			Models: append([]string{}, s.Models...), Adapters: s.Adapters, ListError: s.List,
			InFlight: inFlight[s.ID], QueuedTokens: queued[s.ID],
			Running: gauge(s.Running, now), Waiting: gauge(s.Waiting, now), KVUsed: gauge(s.KVUsed, now), KVTokens: s.KVTokens,
			PromptTokens: figure(s.Sample.PromptTokens), OutputTokens: figure(s.Sample.OutputTokens),
			CacheQueries: figure(s.Sample.CacheQueries), CacheHits: figure(s.Sample.CacheHits), MetricsError: s.Metrics,
		}
		out = append(out, v)
	}
	return out
}

func gauge(g router.Gauge, now time.Time) *gaugeView {
	if !g.Known() {
		return nil
	}
	return &gaugeView{g.Value, g.Age(router.Time(now.UnixNano())).Seconds()}
}

func figure(f fleet.Figure) *float64 {
	if !f.Known {
		return nil
	}
	return &f.Value
}
