package replay

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gatewayd/benchlab/sim/measure"
	"gatewayd/benchlab/trace"
)

func slo() measure.SLO { return measure.SLO{TTFT: 2 * time.Second, TPOT: 50 * time.Millisecond} }

// quick answers at once, in one piece.
func quick(_ int, out *stream) error {
	_, err := io.WriteString(out, `data: {"choices":[{"index":0,"delta":{"content":"a b c d e f g h"}}]}`+"\n\n"+
		`data: {"choices":[],"usage":{"prompt_tokens":40,"completion_tokens":8}}`+"\n\ndata: [DONE]\n\n")
	return err
}

// TestStall: a server that stalls once for 5 s at 100 requests a second is charged
// for the some 500 requests that would have been served meanwhile.
func TestStall(t *testing.T) {
	const stall = 5 * time.Second
	s := &server{}
	s.answer = func(n int, out *stream) error {
		if at := time.Since(s.began); at >= 2*time.Second && at < 2*time.Second+stall {
			out.wait(2*time.Second + stall - at)
		}
		return quick(n, out)
	}
	r := play(t, s, traffic(1000, 10*time.Millisecond), nil)
	affected := 0
	for _, q := range r.Run().Requests {
		if q.First-q.Arrived > 100*time.Millisecond {
			affected++
		}
	}
	if affected < 485 || affected > 500 {
		t.Errorf("%d requests were slow, want about 490", affected)
	}
	if p := r.Report(slo()); p.Lag.Max.Or(1) > 0.001 || p.Figures.Completed != 1000 {
		t.Errorf("send lag up to %v s, %d completed", p.Lag.Max, p.Figures.Completed)
	}
}

// TestAbsoluteSchedule: every row is sent once, at its own time from the start,
// however long the answers take.
func TestAbsoluteSchedule(t *testing.T) {
	tr := traffic(20_000, 3*time.Millisecond)
	for i := range tr.Requests {
		tr.Requests[i].At += time.Duration(i*i%977) * time.Microsecond
	}
	slices.SortFunc(tr.Requests, func(a, b trace.Request) int { return int(a.At - b.At) })
	s := &server{answer: func(n int, out *stream) error {
		out.wait(time.Second)
		return quick(n, out)
	}}
	r := play(t, s, tr, nil)
	if len(s.seen) != len(tr.Requests) {
		t.Fatalf("%d requests came, want %d", len(s.seen), len(tr.Requests))
	}
	var late []float64
	for i, q := range s.seen {
		late = append(late, (q.at - tr.Requests[i].At).Seconds())
	}
	if worst := slices.Max(late); worst > 0.005 || slices.Min(late) < 0 {
		t.Errorf("sent %v s late at worst, %v s at best", worst, slices.Min(late))
	}
	if p := r.Report(slo()); p.Lag.P99.Or(1) > 0.005 {
		t.Errorf("send lag p99 %v", p.Lag.P99)
	}
}

// TestFirstContent: headers and a chunk with the role alone are no token.
func TestFirstContent(t *testing.T) {
	s := &server{answer: func(_ int, out *stream) error {
		out.wait(5 * time.Millisecond)
		out.role()
		out.wait(209 * time.Millisecond)
		out.content("hi")
		out.wait(50 * time.Millisecond)
		out.usage(40, 1, 0)
		return out.done()
	}}
	r := play(t, s, traffic(1, 0), nil)
	if o := r.Outcomes[0]; o.First != 214*time.Millisecond || o.Ended != 264*time.Millisecond || o.Kind != Complete {
		t.Errorf("%+v", o)
	}
}

// TestManyTokensAChunk: 4 tokens every 40 ms are 10 ms a token, and chunks 40 ms
// apart.
func TestManyTokensAChunk(t *testing.T) {
	s := &server{answer: func(_ int, out *stream) error {
		for range 100 {
			out.wait(40 * time.Millisecond)
			out.content("a b c d")
		}
		out.usage(40, 400, 0)
		return out.done()
	}}
	p := play(t, s, traffic(1, 0), nil).Report(slo())
	if tpot := p.Figures.TPOT.Mean.Or(0); tpot < 0.0098 || tpot > 0.0102 {
		t.Errorf("TPOT %v s, want about 10 ms", tpot)
	}
	if mean, longest := p.Gaps.Mean.P50.Or(0), p.Gaps.Longest.Max.Or(0); mean != 0.04 || longest != 0.04 {
		t.Errorf("chunk gaps %v and %v s, want 40 ms", mean, longest)
	}
}

// TestFailuresByKind: 10 % fast refusals, 5 % cut streams, 2 % empty answers.
func TestFailuresByKind(t *testing.T) {
	s := &server{
		status: func(n int) int {
			if n%100 < 10 {
				return http.StatusServiceUnavailable
			}
			return http.StatusOK
		},
		answer: func(n int, out *stream) error {
			out.role()
			switch n %= 100; {
			case n < 15:
				out.content("a")
				return errors.New("connection reset")
			case n < 17:
				return out.done()
			case n < 18:
				out.event(`{"error":{"message":"out of memory","code":500}}`)
				return out.done()
			}
			out.wait(300 * time.Millisecond)
			return quick(n, out)
		},
	}
	p := play(t, s, traffic(1000, 10*time.Millisecond), nil).Report(slo())
	got := map[string]int{}
	for _, f := range p.Failures {
		got[f.Kind] = f.Count
		if f.Message == "" {
			t.Errorf("%s has no message", f.Kind)
		}
	}
	want := map[string]int{"status_503": 100, "truncated": 50, "empty": 20, "error_in_stream": 10}
	for kind, n := range want {
		if got[kind] != n {
			t.Errorf("%d failures of kind %s, want %d", got[kind], kind, n)
		}
	}
	f := p.Figures
	if f.Requests != 1000 || f.Completed != 820 || len(p.Failures) != len(want) {
		t.Errorf("%d of %d completed, failures %v", f.Completed, f.Requests, p.Failures)
	}
	if p.Attempted < 99 || p.Attempted > 101 || f.Throughput > 82 || f.Throughput < 78 {
		t.Errorf("attempted %v a second, completed %v", p.Attempted, f.Throughput)
	}
	if f.TTFT.P99.Or(9) > 0.31 || f.TTFT.P99.Or(0) < 0.29 {
		t.Errorf("p99 %v, want that of the good ones", f.TTFT.P99)
	}
	if _, known := f.TTFT.P99All.Value(); known {
		t.Errorf("with failures as infinite, p99 is %v, want it infinite", f.TTFT.P99All)
	}
}

// TestSessions: a turn follows the answers that it builds on, plus think time, and
// goes on when one of them fails.
func TestSessions(t *testing.T) {
	tr := traffic(4, 0)
	tr.Requests[1].Think, tr.Requests[1].After = 2*time.Second, []int32{0}
	tr.Requests[2].Think, tr.Requests[2].After = 4*time.Second, []int32{0}
	tr.Requests[3].Think, tr.Requests[3].After = time.Second, []int32{1, 2}
	s := &server{answer: func(n int, out *stream) error {
		out.wait(3 * time.Second)
		if n == 2 {
			return errors.New("broken")
		}
		return quick(n, out)
	}}
	r := play(t, s, tr, func(o *Options) { o.Timing, o.Dilation = Sessions, 2 })
	want := []time.Duration{0, 3*time.Second + 4*time.Second, 3*time.Second + 8*time.Second, 14*time.Second + 2*time.Second}
	for i, at := range want {
		if s.seen[i].at != at {
			t.Errorf("request %d came after %v, want %v", i, s.seen[i].at, at)
		}
		if o := r.Outcomes[i]; o.Scheduled != at/2 {
			t.Errorf("request %d was scheduled at %v of the trace, want %v", i, o.Scheduled, at/2)
		}
	}
	if o := r.Outcomes[3]; o.Ended-o.Scheduled != 1500*time.Millisecond {
		t.Errorf("an answer of 3 s at half speed took %v", o.Ended-o.Scheduled)
	}
}

// TestInterrupt: the replay ends early and tells of what it has.
func TestInterrupt(t *testing.T) {
	s := &server{answer: func(n int, out *stream) error {
		if n%2 == 0 {
			return quick(n, out)
		}
		out.wait(time.Minute)
		return errors.New("too late")
	}}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 955*time.Millisecond)
		defer cancel()
		r := playHere(ctx, t, s, traffic(1000, 100*time.Millisecond), nil)
		p := r.Report(slo())
		if !r.Interrupted || len(s.seen) != 10 || p.Figures.Completed != 5 || p.Figures.Requests != 5 || len(p.Failures) != 0 {
			t.Errorf("%d were sent, %d of %d completed, failures %v", len(s.seen), p.Figures.Completed, p.Figures.Requests, p.Failures)
		}
		if len(p.Warnings) == 0 || !strings.Contains(p.Warnings[0], "interrupted: 5 of 1000") {
			t.Errorf("warnings %q", p.Warnings)
		}
		if r.Took != 955*time.Millisecond {
			t.Errorf("it took %v", r.Took)
		}
	})
}

// TestLimits: what is over the limit of open requests is not sent, late or at all,
// and an answer that takes too long is given up.
func TestLimits(t *testing.T) {
	s := &server{answer: func(n int, out *stream) error {
		out.wait(time.Hour)
		return quick(n, out)
	}}
	r := play(t, s, traffic(10, time.Second), func(o *Options) { o.MaxInFlight, o.Timeout = 4, 90*time.Second })
	p := r.Report(slo())
	if len(s.seen) != 4 || len(p.Failures) != 2 || p.Failures[0].Kind != "not_sent" || p.Failures[0].Count != 6 || p.Failures[1].Kind != "timeout" {
		t.Errorf("%d came, failures %+v", len(s.seen), p.Failures)
	}
	if o := r.Outcomes[0]; o.Ended != 90*time.Second {
		t.Errorf("given up after %v", o.Ended)
	}
}
