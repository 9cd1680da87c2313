package experiment

import (
	"gatewayd/benchlab/report"
	"gatewayd/benchlab/sim/measure"
	"gatewayd/benchlab/stats"
)

// Sums over requests that figures are made of.
const (
	all = iota
	completed
	failed
	good
	prompt
	cached
	ttft
	e2e
	tpot
	paced // requests with a TPOT
	compulsory
	evicted
	elsewhere
	stale
	numSums
)

// reduced is what is kept of a run.
type reduced struct {
	resampled *stats.Run
	orders    [3]stats.Order // of ttft, tpot and e2e
	sums      [numSums]float64
}

// reduce keeps what figures and their intervals need.
func reduce(run *measure.Run, f *measure.Figures, clusters int, of []int32, slo measure.SLO) *reduced {
	r := &reduced{}
	var whose, whosePace []int32
	var first, pace, end []float64
	r.resampled = stats.NewRun(clusters, of, numSums, func(i int, into []float64) {
		q := &run.Requests[i]
		into[all] = 1
		if q.Outcome != measure.Complete {
			into[failed] = 1
			return
		}
		t, e := (q.First - q.Arrived).Seconds(), (q.Ended - q.Arrived).Seconds()
		into[completed], into[ttft], into[e2e] = 1, t, e
		into[prompt], into[cached] = float64(q.Prompt), float64(q.Cached)
		into[compulsory], into[evicted] = float64(q.Compulsory), float64(q.Evicted)
		into[elsewhere], into[stale] = float64(q.Elsewhere), float64(q.Stale)
		whose, first, end = append(whose, of[i]), append(first, t), append(end, e)
		perToken := 0.0
		if q.Output > 1 {
			perToken = (q.Ended - q.First).Seconds() / float64(q.Output-1)
			into[paced], into[tpot] = 1, perToken
			whosePace, pace = append(whosePace, of[i]), append(pace, perToken)
		}
		if q.First-q.Arrived <= slo.TTFT && perToken <= slo.TPOT.Seconds() {
			into[good] = 1
		}
		for k, v := range into {
			r.sums[k] += v
		}
	})
	r.orders = [3]stats.Order{
		stats.NewOrder(first, whose), stats.NewOrder(pace, whosePace), stats.NewOrder(end, whose),
	}
	for _, k := range report.Columns() {
		if k.Sessions {
			r.add(k.Name, f, len(of))
		}
	}
	return r
}

// add adds a figure to what is resampled.
func (r *reduced) add(name string, f *measure.Figures, requests int) {
	b := r.resampled
	percentile := func(order, of, sample int, share float64) {
		if sample < measure.MinP99 && share > 0.5 {
			b.Undefined()
			return
		}
		part := completed
		if order == 1 {
			part = paced
		}
		b.Percentile(r.orders[order], part, of, share)
	}
	switch name {
	case "kv_hit":
		b.Ratio(cached, prompt, 1)
	case "ttft.mean":
		b.Ratio(ttft, completed, 1)
	case "ttft.p50":
		percentile(0, completed, f.TTFT.N, 0.5)
	case "ttft.p99":
		percentile(0, completed, f.TTFT.N, 0.99)
	case "ttft.p99_all":
		percentile(0, all, requests, 0.99)
	case "tpot.mean":
		b.Ratio(tpot, paced, 1)
	case "tpot.p99":
		percentile(1, paced, f.TPOT.N, 0.99)
	case "e2e.mean":
		b.Ratio(e2e, completed, 1)
	case "e2e.p99":
		percentile(2, completed, f.E2E.N, 0.99)
	case "goodput":
		if f.Seconds <= 0 {
			b.Undefined()
			return
		}
		b.Ratio(good, all, float64(requests)/f.Seconds)
	case "within_slo":
		b.Ratio(good, all, 1)
	case "failed":
		b.Ratio(failed, all, 1)
	default:
		b.Undefined()
	}
}
