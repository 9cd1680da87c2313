package report

import (
	"gatewayd/benchlab/engine"
)

// Setup is what all contenders had in common.
type Setup struct {
	Trace    Trace          `json:"trace"`
	Workers  int            `json:"workers"`
	Profile  engine.Profile `json:"profile"`
	Assumed  []string       `json:"assumed"` // figures of the profile that nobody measured and that flags gave
	Zones    []Zone         `json:"zones"`   // of the workers, in turn
	PUE      float64        `json:"pue"`
	TTFT     float64        `json:"slo_ttft_s"`
	TPOT     float64        `json:"slo_tpot_s"`
	Options  Options        `json:"options"`
	Programs []Program      `json:"plugins"` // plugin executables, in order of first use
}

// Options are the conditions of the simulation.
type Options struct {
	RateScale     float64  `json:"rate_scale"`
	Timing        string   `json:"timing"`           // recorded: requests arrive when the trace says; sessions: turns follow answers
	PlanDelay     float64  `json:"plan_delay_s"`     // virtual
	DecisionDelay float64  `json:"decision_delay_s"` // virtual, of each call to a strategy
	Gateways      int      `json:"gateways"`
	Sync          float64  `json:"sync_interval_s"`   // between exchanges of the gateways' views
	Scrape        float64  `json:"scrape_interval_s"` // between readings of the workers' own figures
	Signal        string   `json:"signal"`            // the best one of reuse that strategies have: usage, counters, ttft or none
	Protect       string   `json:"protect"`           // blocks that workers evict last: none or admitted
	Faults        []string `json:"faults"`            // on a schedule
}

// Trace says which traffic it was. The rate is what was offered, after scaling.
// Arrivals are those of the first seed.
type Trace struct {
	Name        string   `json:"name"`
	Origin      string   `json:"origin,omitempty"`
	SHA256      string   `json:"sha256"` // of the file as it was read
	Format      string   `json:"format"`
	Rows        int      `json:"rows"`
	Span        float64  `json:"span_s"` // from the first arrival to the last
	BlockTokens int      `json:"block_tokens"`
	Scope       string   `json:"block_scope"`
	Partial     string   `json:"partial_block"`
	MeanInput   float64  `json:"mean_input_tokens"`
	MeanOutput  float64  `json:"mean_output_tokens"`
	Notes       []string `json:"notes"` // repairs and reshapings
}

// Rate returns the offered requests per second; 0 if all arrive at once.
func (t *Trace) Rate() float64 {
	if t.Span <= 0 {
		return 0
	}
	return float64(t.Rows) / t.Span
}

// Zone is an electricity grid zone.
type Zone struct {
	Name        string  `json:"name"`
	GramsPerKWh float64 `json:"gco2e_per_kwh"`
	Source      string  `json:"source"`
}

// Program is an executable that took part.
type Program struct {
	Path   string `json:"path"` // as it was named
	SHA256 string `json:"sha256"`
}
