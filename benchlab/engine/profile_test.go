package engine

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"
)

func TestEveryProfileIsValid(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range Profiles() {
		if err := p.checkFile(); err != nil {
			t.Error(err)
		}
		if seen[p.Name] || p.Source == "" || p.GPUs < 1 {
			t.Errorf("%s: not unique, or its source or number of GPUs is missing", p.Name)
		}
		seen[p.Name] = true
		again, err := ProfileByName(p.Name)
		if err != nil || again != p {
			t.Errorf("ProfileByName(%q) = %v, %v", p.Name, again, err)
		}
	}
	if len(seen) != 11 {
		t.Errorf("%d profiles, want 11", len(seen))
	}
	_, err := ProfileByName("gpt-9")
	if err == nil || !strings.Contains(err.Error(), `"gpt-9"`) || !strings.Contains(err.Error(), "qwen3-32b-h100x2") {
		t.Errorf("error %v does not name what was asked for and what there is", err)
	}
}

// TestAgainstMeasuredGPU compares decode steps and power with ML.ENERGY
// measurements (Llama-3.1-8B on one H100, half a thousand tokens of context).
func TestAgainstMeasuredGPU(t *testing.T) {
	p, err := ProfileByName("llama-3.1-8b-h100")
	if err != nil {
		t.Fatal(err)
	}
	points := []struct {
		seqs      int
		itlMS, w  float64
		tolerance float64
	}{{8, 7.32, 486, 0.03}, {32, 8.91, 560, 0.03}, {64, 11.5, 610, 0.03}, {128, 16.48, 669, 0.03}, {255, 26.13, 691, 0.03}}
	sum := 0.0
	for _, x := range points {
		step := p.Step(Load{Decoding: x.seqs, Context: int64(x.seqs) * 500})
		off := step.Seconds()*1000/x.itlMS - 1
		sum += math.Abs(off)
		if math.Abs(off) > x.tolerance {
			t.Errorf("batch %d: step %v, measured %v ms", x.seqs, step, x.itlMS)
		}
		if watts := p.Power.Watts(x.seqs).Or(0); math.Abs(watts/x.w-1) > x.tolerance {
			t.Errorf("batch %d: %v W, measured %v", x.seqs, watts, x.w)
		}
	}
	if mean := sum / float64(len(points)); mean > 0.015 {
		t.Errorf("mean error of the step is %.3f, want at most 0.015", mean)
	}
}

func TestStepByHand(t *testing.T) {
	p := Profile{
		WeightsMS: 10, TokenUS: 50, DecodeMS: 0.5, DecodeSeqMS: 0.25, DecodeKctxMS: 2, QuadUS: 8,
		OverheadMS: Known(1), OverheadSeqMS: Known(0.125),
	}
	for _, c := range []struct {
		name string
		load Load
		want time.Duration
	}{
		{"nothing", Load{}, 0},
		// max(10, 2*50/1000) + 1 + 2*0.125 + 0.5 + 2*0.25 + 2*1500/1000
		{"decode", Load{Decoding: 2, Context: 1500}, 15250 * time.Microsecond},
		// max(10, 400*50/1000) + 1 + 0.125 + 0.5 + 8/1000 * 400*(600+200)/1000
		{"prefill", Load{Prefilling: 1, PrefillTokens: 400, Quad2: 400 * (2*600 + 400)}, 24185 * time.Microsecond},
		// max(10, 101*50/1000) + 1 + 2*0.125 + 0.5 + 0.25 + 2*500/1000 + 8/1000 * 100*50/1000
		{"rides along", Load{Decoding: 1, Context: 500, Prefilling: 1, PrefillTokens: 100, Quad2: 100 * 100}, 13040 * time.Microsecond},
	} {
		if got := p.Step(c.load); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestUnknownIsNotZero(t *testing.T) {
	p, err := ProfileByName("llama-3.1-8b-a100")
	if err != nil {
		t.Fatal(err)
	}
	if w := p.Power.Watts(8); w.String() != "unknown" {
		t.Errorf("power is %v, want unknown", w)
	}
	if _, known := p.OverheadMS.Value(); known {
		t.Error("overhead is known, want unknown")
	}
	data, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(data), `"overhead_ms":null`) {
		t.Errorf("no null in %s", data)
	}
	var back Profile
	if err := json.Unmarshal(data, &back); err != nil || back != p {
		t.Errorf("came back as %+v, %v", back, err)
	}
	if k := Known(0); k == (Figure{}) || k.Or(7) != 0 || (Figure{}).Or(7) != 7 {
		t.Error("a known zero is taken for unknown")
	}
}

func TestValidateRefuses(t *testing.T) {
	good, err := ProfileByName("llama-3.1-8b-h100")
	if err != nil {
		t.Fatal(err)
	}
	for field, spoil := range map[string]func(*Profile){
		"weights_ms":           func(p *Profile) { p.WeightsMS = 0 },
		"token_us":             func(p *Profile) { p.TokenUS = math.NaN() },
		"decode_ms":            func(p *Profile) { p.DecodeMS = -1 },
		"decode_seq_ms":        func(p *Profile) { p.DecodeSeqMS = math.NaN() },
		"decode_kctx_ms":       func(p *Profile) { p.DecodeKctxMS = math.Inf(1) },
		"prefill_quadratic_us": func(p *Profile) { p.QuadUS = -0.1 },
		"overhead_ms":          func(p *Profile) { p.OverheadMS = Known(-1) },
		"overhead_seq_ms":      func(p *Profile) { p.OverheadSeqMS = Known(math.Inf(1)) },
		"power.knee_seqs":      func(p *Profile) { p.Power.KneeSeqs = Known(0) },
		"power.base_w":         func(p *Profile) { p.Power.BaseW = Known(-3) },
		"kv_blocks":            func(p *Profile) { p.KVBlocks = 0 },
		"block_tokens":         func(p *Profile) { p.BlockTokens = -16 },
		"max_seqs":             func(p *Profile) { p.MaxSeqs = -1 },
		"max_batched_tokens":   func(p *Profile) { p.MaxBatchedTokens = 255 },
	} {
		p := good
		spoil(&p)
		if _, err := New(p); err == nil || !strings.Contains(err.Error(), " "+field+" is ") {
			t.Errorf("%s: error is %v", field, err)
		}
	}
}
