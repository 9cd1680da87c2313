package calibrate

import (
	"fmt"
	"math"
	"slices"
	"time"

	"gatewayd/benchlab/engine"
)

// Errors says how far a replay is from the recording over some requests.
type Errors struct {
	TTFT Error `json:"ttft"` // of a request: from the queue to the first token
	TPOT Error `json:"tpot"` // mean time of its later tokens, if it has any
	E2E  Error `json:"e2e"`  // from the queue to the last token
}

// Error is 100*(simulated - recorded)/recorded for statistics over requests, in per
// cent. Percentiles are by nearest rank; a p99 of fewer than 100 requests is
// unknown.
type Error struct {
	MeanPct   engine.Figure `json:"mean_pct"`
	P50Pct    engine.Figure `json:"p50_pct"`
	P90Pct    engine.Figure `json:"p90_pct"`
	P99Pct    engine.Figure `json:"p99_pct"`
	MAPEPct   engine.Figure `json:"mape_pct"` // mean of the requests' absolute errors
	Recorded  Spread        `json:"recorded_ms"`
	Simulated Spread        `json:"simulated_ms"`
}

// Spread is a distribution over requests, in ms.
type Spread struct {
	Mean engine.Figure `json:"mean"`
	P50  engine.Figure `json:"p50"`
	P90  engine.Figure `json:"p90"`
	P99  engine.Figure `json:"p99"`
}

// RequestError is how far one request is off, in per cent.
type RequestError struct {
	ID      string        `json:"request_id"`
	TTFTPct engine.Figure `json:"ttft_pct"`
	TPOTPct engine.Figure `json:"tpot_pct"`
	E2EPct  engine.Figure `json:"e2e_pct"`
}

// Judge compares a replay with the recording, over all requests but the first skip
// by arrival.
func Judge(run *Run, served []Served, skip int) (Errors, []RequestError, error) {
	if skip < 0 || skip >= len(run.Requests) {
		return Errors{}, nil, fmt.Errorf("run %s has %d requests: %d cannot be skipped", run.Name, len(run.Requests), skip)
	}
	var ttft, tpot, e2e pairs
	var each []RequestError
	for i := skip; i < len(served); i++ {
		r, s := &run.Requests[i], served[i]
		x := RequestError{ID: r.ID, TTFTPct: ttft.add(s.TTFT(), r.TTFT()), E2EPct: e2e.add(s.E2E(), r.E2E())}
		if r.Output > 1 {
			x.TPOTPct = tpot.add(s.TPOT(r.Output), r.TPOT(r.Output))
		}
		each = append(each, x)
	}
	return Errors{TTFT: ttft.judge(), TPOT: tpot.judge(), E2E: e2e.judge()}, each, nil
}

// pairs are the simulated and recorded times of requests, in ms.
type pairs struct{ simulated, recorded []float64 }

func (p *pairs) add(simulated, recorded time.Duration) engine.Figure {
	s, r := simulated.Seconds()*1e3, recorded.Seconds()*1e3
	p.simulated, p.recorded = append(p.simulated, s), append(p.recorded, r)
	return percent(engine.Known(s), engine.Known(r))
}

func (p *pairs) judge() Error {
	sum, n := 0.0, 0
	for i, s := range p.simulated {
		if off, ok := percent(engine.Known(s), engine.Known(p.recorded[i])).Value(); ok {
			sum, n = sum+math.Abs(off), n+1
		}
	}
	s, r := spread(p.simulated), spread(p.recorded)
	e := Error{
		MeanPct: percent(s.Mean, r.Mean), P50Pct: percent(s.P50, r.P50),
		P90Pct: percent(s.P90, r.P90), P99Pct: percent(s.P99, r.P99), Recorded: r, Simulated: s,
	}
	if n > 0 {
		e.MAPEPct = engine.Known(sum / float64(n))
	}
	return e
}

// percent is the signed error of a simulated figure, unknown for a recorded zero.
func percent(simulated, recorded engine.Figure) engine.Figure {
	s, okS := simulated.Value()
	r, okR := recorded.Value()
	if !okS || !okR || r == 0 {
		return engine.Figure{}
	}
	return engine.Known(100 * (s - r) / r)
}

func spread(ms []float64) (s Spread) {
	n := len(ms)
	if n == 0 {
		return s
	}
	sum := 0.0
	for _, x := range ms {
		sum += x
	}
	sorted := slices.Sorted(slices.Values(ms))
	rank := func(percent int) engine.Figure { return engine.Known(sorted[(n*percent+99)/100-1]) }
	s = Spread{Mean: engine.Known(sum / float64(n)), P50: rank(50), P90: rank(90)}
	if n >= 100 {
		s.P99 = rank(99)
	}
	return s
}
