package calibrate

import (
	"context"
	"errors"
	"os"
	"slices"
	"testing"
	"time"

	"gatewayd/benchlab/engine"
)

func recorded(t *testing.T, name string) *Run {
	t.Helper()
	run, err := ReadRun(os.DirFS("testdata/"+name), name)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// bounds are the largest errors allowed, in per cent of the mean.
type bounds struct{ e2e, ttft float64 }

func (b bounds) hold(t *testing.T, what string, run *Run, p engine.Profile, skip int) {
	t.Helper()
	v, err := Validate(run, p, skip)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		name  string
		off   engine.Figure
		limit float64
	}{{"e2e.mean_pct", v.E2E.MeanPct, b.e2e}, {"ttft.mean_pct", v.TTFT.MeanPct, b.ttft}} {
		off, known := x.off.Value()
		if !known || off > x.limit || off < -x.limit {
			t.Errorf("%s: %s is %v, want within %v", what, x.name, x.off, x.limit)
		}
	}
}

// TestRealRuns holds the accuracy of the model against two runs of real GPUs: of
// the named profiles, of the fitted ones in testdata, and of a fit made now (which
// the tests of cmd/benchlab make as well, without the race detector).
func TestRealRuns(t *testing.T) {
	whole, half := bounds{e2e: 1, ttft: 3}, bounds{e2e: 3, ttft: 10}
	for _, c := range []struct {
		run, named, file string
		first            int
		bounds           bounds
	}{
		{"RTXPRO6000_Llama-3.1-8B", "llama-3.1-8b-rtxpro6000", "llama-3.1-8b.json", 0, whole},
		{"RTXPRO6000_Llama-3.1-8B", "", "llama-3.1-8b-first150.json", 150, half},
		{"RTXPRO6000_Qwen3-32B", "qwen3-32b-rtxpro6000x2", "qwen3-32b.json", 0, whole},
		{"RTXPRO6000_Qwen3-32B", "", "qwen3-32b-first150.json", 150, half},
	} {
		t.Run(c.file, func(t *testing.T) {
			t.Parallel()
			run := recorded(t, c.run)
			if c.named != "" {
				named, err := engine.ProfileByName(c.named)
				if err != nil {
					t.Fatal(err)
				}
				c.bounds.hold(t, "named profile", run, named, c.first)
			}
			f, err := os.Open("testdata/fits/" + c.file)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			committed, err := engine.ReadProfile(f)
			if err != nil {
				t.Fatal(err)
			}
			c.bounds.hold(t, "committed profile", run, committed, c.first)
			if raced {
				return
			}
			fit, err := Calibrate(t.Context(), run, base(run), Options{First: c.first})
			if err != nil {
				t.Fatal(err)
			}
			c.bounds.hold(t, "new fit", run, fit.Profile, c.first)
			for _, l := range fit.Limits {
				if share := l.Share.Or(0); share > 1 {
					t.Errorf("%s is at %v of its peak", l.Field, share)
				}
			}
		})
	}
}

func base(run *Run) engine.Profile {
	return engine.Profile{Name: "fit", Model: run.Model, GPU: GuessGPU(run.Name), GPUs: run.GPUs}
}

// madeUp is a run that a known profile would have given: requests of one prompt
// and one output length each, sent a gap apart.
func madeUp(t *testing.T, p engine.Profile, gap time.Duration, lengths ...[2]int) *Run {
	t.Helper()
	run := &Run{Name: "made up", Model: p.Model, GPUs: p.GPUs, MaxSeqs: 64, MaxBatchedTokens: 4096}
	for i, n := range lengths {
		r := Request{ID: string(rune('a' + i)), Prompt: n[0], Output: n[1]}
		r.Queued = time.Duration(i) * gap
		run.Requests = append(run.Requests, r)
	}
	served, err := Replay(run, p)
	if err != nil {
		t.Fatal(err)
	}
	for i := range served {
		run.Requests[i].Served = served[i]
	}
	return run
}

// TestWhatARunDoesNotTell holds that a coefficient which no request of the run
// exercises is reported as unknown, and one that it does is found.
func TestWhatARunDoesNotTell(t *testing.T) {
	p, err := engine.ProfileByName("llama-3.1-70b-h200x4")
	if err != nil {
		t.Fatal(err)
	}
	var prefills [][2]int
	for i := range 24 {
		prefills = append(prefills, [2]int{40 + 150*i, 1})
	}
	run := madeUp(t, p, time.Second, prefills...)
	known := p
	known.Name = "fit"
	fit, err := Fit(t.Context(), run, known, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range fit.Estimates {
		_, determined := e.Value.Value()
		switch e.Field {
		case "decode_kctx_ms":
			if determined || e.E2EPct != 0 || e.Why == "" {
				t.Errorf("nothing was decoded, but %+v", e)
			}
		case "token_us":
			if off := e.Value.Or(0) / p.TokenUS; off < 0.98 || off > 1.02 {
				t.Errorf("got %+v, want %v", e, p.TokenUS)
			}
		}
	}
	again, err := Fit(t.Context(), run, known, Options{})
	if err != nil || again.Profile != fit.Profile || again.Loss != fit.Loss {
		t.Errorf("fitted again: %+v, %v, before %+v", again.Profile, err, fit.Profile)
	}
	if _, err := Fit(t.Context(), run, known, Options{First: 25}); err == nil {
		t.Error("fitted on more requests than there are")
	}
}

// TestLeanGivesTheSame holds that block ids which nobody shares do not matter.
func TestLeanGivesTheSame(t *testing.T) {
	p, err := engine.ProfileByName("qwen3-32b-rtxpro6000x2")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"RTXPRO6000_Llama-3.1-8B", "RTXPRO6000_Qwen3-32B"} {
		run := recorded(t, name)
		// Follow-ups of earlier requests, their answers included.
		for i := 100; i < len(run.Requests); i += 10 {
			r, before := &run.Requests[i], &run.Requests[i-100]
			r.Blocks = append(slices.Clone(before.Blocks), before.OutputBlocks...)
			r.Blocks = r.Blocks[:min(len(r.Blocks), r.Prompt/run.BlockTokens)]
		}
		want, err := Replay(run, p)
		if err != nil {
			t.Fatal(err)
		}
		small := lean(run, p)
		got, err := Replay(small, p)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: different without the ids that nobody shares: %v", name, err)
		}
		if ids := len(small.Requests[100].Blocks); ids == 0 || len(small.Requests[101].Blocks) > 1 {
			t.Errorf("%s: %d and %d ids are left", name, ids, len(small.Requests[101].Blocks))
		}
		if again := lean(run, p.AssumeKVBlocks(1000)); again != run {
			t.Errorf("%s: ids were dropped though the cache is small", name)
		}
	}
}

func TestFitEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	run := recorded(t, "RTXPRO6000_Qwen3-32B")
	if _, err := Fit(ctx, run, base(run), Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
}
