package engine

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

// TestLimitsByHand checks the implied efficiency of one profile: 16 GB of weights,
// 14 GFLOP a token, 131,072 bytes of KV a token.
func TestLimitsByHand(t *testing.T) {
	p := Profile{
		Name: "x", Model: "Llama-3.1-8B", GPU: "H100", GPUs: 2, WeightsMS: 5, TokenUS: 20, DecodeKctxMS: 0.04, QuadUS: 1, KVBlocks: 1000,
		Power: power(300, 200, 50),
	}
	const layers, head = 32 * (4096*128*(2*32+2*8) + 3*4096*14336), 4096 * 128256
	want := map[string]struct{ bound, implied, share float64 }{
		"weights_ms":           {2 * (layers + head) / 2 / 3.352e9, (layers + head) / 5e-3, (layers + head) / 5e-3 / 3.352e12},
		"token_us":             {layers / 989.4e6, layers / 20e-6, layers / 20e-6 / 989.4e12},
		"decode_kctx_ms":       {131072e3 / 2 / 3.352e9, 131072e3 / 2 / 0.04e-3, 131072e3 / 2 / 0.04e-3 / 3.352e12},
		"prefill_quadratic_us": {4 * 32 * 4096 * 1000 / 2 / 989.4e6, 4 * 32 * 4096 * 1000 / 2 / 1e-6, 4 * 32 * 4096 * 1000 / 2 / 1e-6 / 989.4e12},
		"kv_blocks":            {74267, (1000*16*131072 + 2*(layers+2*head)) / 2., (1000*16*131072 + 2*(layers+2*head)) / 2. / (80 << 30)},
		"power":                {1400, 249.4, 249.4 / 700},
	}
	near := func(f Figure, want float64) bool { v, ok := f.Value(); return ok && v > 0.999*want && v < 1.001*want }
	for _, l := range p.Limits() {
		w := want[l.Field]
		if !near(l.Bound, w.bound) || !near(l.Implied, w.implied) || !near(l.Share, w.share) {
			t.Errorf("got %+v, want %+v", l, w)
		}
	}
}

// TestFasterThanPhysics holds that no figure better than a data sheet's passes, and
// that every built-in profile does.
func TestFasterThanPhysics(t *testing.T) {
	for _, p := range Profiles() {
		if err := p.CheckPhysics(); err != nil {
			t.Error(err)
		}
		for _, l := range p.Limits() {
			if _, known := l.Bound.Value(); !known {
				t.Errorf("%s: no bound for %s", p.Name, l.Field)
			}
		}
	}
	good, err := ProfileByName("llama-3.1-70b-h100x4")
	if err != nil {
		t.Fatal(err)
	}
	for field, spoil := range map[string]func(*Profile){
		"weights_ms":           func(p *Profile) { p.WeightsMS = 10.1 },
		"token_us":             func(p *Profile) { p.TokenUS = 33.8 },
		"decode_kctx_ms":       func(p *Profile) { p.DecodeKctxMS = 0 },
		"prefill_quadratic_us": func(p *Profile) { p.QuadUS = 0.64 },
		"kv_blocks":            func(p *Profile) { p.KVBlocks = 38623 },
		"power":                func(p *Profile) { p.Power.RangeW = Known(1500) },
	} {
		p := good
		spoil(&p)
		if err := p.CheckPhysics(); err == nil || !strings.Contains(err.Error(), ": "+field+" is ") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error is %v", field, err)
		}
		p.Model = "Llama-3.1-70B-FP8"
		if err := p.CheckPhysics(); err != nil && field != "power" {
			t.Errorf("%s: an unknown model has bounds: %v", field, err)
		}
	}
}

func TestProfileFile(t *testing.T) {
	for _, p := range Profiles() {
		var file bytes.Buffer
		if err := WriteProfile(&file, p); err != nil {
			t.Fatal(err)
		}
		if back, err := ReadProfile(&file); err != nil || back != p {
			t.Errorf("%s came back as %+v, %v", p.Name, back, err)
		}
	}
	var file bytes.Buffer
	if err := WriteProfile(&file, Profiles()[0]); err != nil {
		t.Fatal(err)
	}
	good := file.String()
	for _, c := range []struct{ old, new, want string }{
		{`"token_us"`, `"tokens_us"`, `unknown field "tokens_us"`},
		{`"weights_ms": 5.943`, `"weights_ms": "5.943"`, "line 8: json: cannot unmarshal string"},
		{`"gpus": 1,`, `"gpus": 1`, "line 7: invalid character"},
		{`profile/1"`, `profile/2"`, "its format is"},
		{`"gpus": 1`, `"gpus": 0`, "gpus is 0"},
		{`"name": "llama-3.1-8b-h100"`, `"name": ""`, "name is empty"},
		{`"weights_ms": 5.943`, `"weights_ms": -1`, "weights_ms is -1"},
		{`"weights_ms": 5.943`, `"weights_ms": 3`, "can have 4.47772 at least"},
		{good, good + good, "more than one JSON value"},
		{good, "", "EOF"},
		{good, strings.Repeat(" ", 2<<20), "larger than"},
	} {
		if _, err := ReadProfile(strings.NewReader(strings.Replace(good, c.old, c.new, 1))); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s for %.40q: error is %v", c.new, c.old, err)
		}
	}
}

// TestAssumed holds that an unknown KV capacity stays unknown until one is assumed,
// and that the assumption can be seen.
func TestAssumed(t *testing.T) {
	p, err := ProfileByName("qwen3-32b-rtxpro6000x2")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := New(p); err == nil {
		t.Error("an engine without a KV capacity")
	}
	p = p.AssumeKVBlocks(20000)
	if _, err := New(p); err != nil || !strings.Contains(p.Source, "ASSUMED: 20000 KV blocks") {
		t.Error(errors.Join(err, errors.New(p.Source)))
	}
}
