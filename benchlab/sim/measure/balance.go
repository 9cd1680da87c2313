package measure

import "gatewayd/benchlab/engine"

// Balance says how the work lay on the workers and what it cost.
type Balance struct {
	// ImbalanceRequests and ImbalanceTokens are the highest served load of a worker
	// over the mean: completed requests, and the tokens computed for them, which
	// are uncached prompt tokens and generated ones.
	ImbalanceRequests engine.Figure `json:"imbalance_requests"`
	ImbalanceTokens   engine.Figure `json:"imbalance_tokens"`
	// PrefillUtilisation is the share of the workers' time in which at least one
	// request waited for its first token there: 1 means that prefill is never
	// done. PrefillShare is the share of time that prefill itself took: by how much
	// steps would have been shorter without prefill chunks. Busy is the share of
	// time with a step in progress.
	PrefillUtilisation engine.Figure `json:"prefill_utilisation"`
	PrefillShare       engine.Figure `json:"prefill_share"`
	Busy               engine.Figure `json:"busy"`
	Preemptions        int64         `json:"preemptions"`

	// Joules is the energy of all GPUs while they step, nothing else.
	Joules         engine.Figure `json:"joules"`
	JoulesPerToken engine.Figure `json:"joules_per_output_token"`
	// Grams is the carbon of that energy times PUE, in gCO2e.
	Grams            engine.Figure `json:"gco2e"`
	GramsPer1kTokens engine.Figure `json:"gco2e_per_1k_output_tokens"`
	// Churn is how far plans moved keys: that of the chain's strategies, weighted by
	// the keys compared.
	Churn engine.Figure `json:"churn"`
}

const (
	joulesPerKWh = 3.6e6
	perThousand  = 1000
)

func balance(run *Run, seconds float64) Balance {
	n := len(run.Workers)
	requests, tokens := make([]float64, n), make([]float64, n)
	for i := range run.Requests {
		if r := &run.Requests[i]; r.Outcome == Complete {
			requests[r.Worker]++
			tokens[r.Worker] += float64(r.Prompt - r.Cached + r.Output)
		}
	}
	b := Balance{ImbalanceRequests: maxOverMean(requests), ImbalanceTokens: maxOverMean(tokens)}
	var waited, prefill, busy, joules, grams float64
	var generated int64
	joulesKnown, gramsKnown := n > 0, n > 0
	for i := range run.Workers {
		w := &run.Workers[i]
		waited += w.Prefill.Seconds()
		prefill += w.Stats.Prefill.Seconds()
		busy += w.Stats.Busy.Seconds()
		generated += w.Stats.GeneratedTokens
		b.Preemptions += w.Stats.Preemptions
		j, ok := w.Stats.Joules.Value()
		joules += j
		joulesKnown = joulesKnown && ok
		pue, hasPUE := w.PUE.Value()
		intensity, hasGrid := w.GramsPerKWh.Value()
		grams += j * pue * intensity / joulesPerKWh
		gramsKnown = gramsKnown && ok && hasPUE && hasGrid
	}
	if total := seconds * float64(n); total > 0 {
		b.PrefillUtilisation, b.PrefillShare = engine.Known(waited/total), engine.Known(prefill/total)
		b.Busy = engine.Known(busy / total)
	}
	if joulesKnown {
		b.Joules, b.JoulesPerToken = engine.Known(joules), per(joules, generated)
	}
	if gramsKnown {
		b.Grams, b.GramsPer1kTokens = engine.Known(grams), per(grams*perThousand, generated)
	}
	b.Churn = churn(run.Strategies)
	return b
}

func churn(strategies []Strategy) engine.Figure {
	sum, keys := 0.0, 0
	for _, s := range strategies {
		sum += s.Churn.Or(0) * float64(s.Compared)
		keys += s.Compared
	}
	if keys == 0 {
		return engine.Figure{}
	}
	return engine.Known(sum / float64(keys))
}

func per(amount float64, tokens int64) engine.Figure {
	if tokens == 0 {
		return engine.Figure{}
	}
	return engine.Known(amount / float64(tokens))
}
