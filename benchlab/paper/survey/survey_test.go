package survey

import (
	"bytes"
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"gatewayd/benchlab/engine"
	"gatewayd/benchlab/sim/signal"
	"gatewayd/benchlab/trace"
)

// TestOwners has the hit rates and imbalances that two choices and hashing have on
// this traffic by an independent small program: 0.48 at 1.0, and 0.77 at 1.9 to 2.6.
func TestOwners(t *testing.T) {
	for chain, want := range map[string][2][2]float64{
		"p2c":            {{0.46, 0.51}, {1, 1.02}},
		"chwbl:factor=0": {{0.75, 0.79}, {1.8, 2.7}},
	} {
		hit, imbalance, err := Owners{}.Run(t.Context(), chain, 1)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: hit %.3f, imbalance %.3f", chain, hit, imbalance)
		if hit < want[0][0] || hit > want[0][1] || imbalance < want[1][0] || imbalance > want[1][1] {
			t.Errorf("%s: hit %.3f, imbalance %.3f, want them in %v", chain, hit, imbalance, want)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := (Owners{}).Run(ended, "p2c", 1); err == nil {
		t.Error("an ended context is not noticed")
	}
}

func TestSlots(t *testing.T) {
	s := newSlots(2)
	var got []bool
	for _, key := range []uint64{1, 2, 1, 3, 2, 1} { // 3 takes the place of 2, 2 that of 1
		got = append(got, s.use(key))
	}
	for i, want := range []bool{false, false, true, false, false, false} {
		if got[i] != want {
			t.Fatalf("hits are %v", got)
		}
	}
}

// TestRun fills the whole table, alike on any number of processors.
func TestRun(t *testing.T) {
	chat, err := trace.Default()
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Chains: []string{"p2c", "cacheroute+sticky"}, Chat: chat.Cut(4000), Seed: 1, Seeds: 1, Quick: true}
	var text []string
	for _, parallel := range []int{1, 2} {
		runs := 0
		o.Parallel, o.Progress = parallel, func(ended, all int) {
			if runs++; ended != runs || ended > all {
				t.Errorf("run %d of %d ended after %d", ended, all, runs)
			}
		}
		s, err := Run(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range s.Rows {
			for i, l := range s.Loads {
				for k := range l.Columns {
					if v := r.Cells[i][k].Mean.Or(-1); v < 0 || len(r.Cells[i][k].Runs) != 1 {
						t.Errorf("%s on %s: %+v", r.Chain, l.Name, r.Cells[i][k])
					}
				}
			}
		}
		var b bytes.Buffer
		if err := s.WriteJSON(&b); err != nil {
			t.Fatal(err)
		}
		text = append(text, b.String())
	}
	if text[0] != text[1] {
		t.Error("results differ")
	}
	for _, bad := range []Options{{}, {Seeds: 1}, {Seeds: 1, Chat: chat, Chains: []string{"nobody"}, Quick: true, Parallel: 1}} {
		if _, err := Run(t.Context(), bad); err == nil {
			t.Errorf("%+v is accepted", bad)
		}
	}
}

// TestAgents adds two workloads of recorded sessions.
func TestAgents(t *testing.T) {
	r := &trace.Trace{BlockTokens: 64, Scope: trace.ScopeSession}
	for i := range 6 {
		q := trace.Request{At: time.Duration(i) * time.Second, Session: 1, Input: 64 * (i + 1)}
		for k := range i + 1 {
			q.Blocks = append(q.Blocks, uint64(k+1))
		}
		r.Requests = append(r.Requests, q)
	}
	all := workloads(Options{Chat: &trace.Trace{}, Agents: r})
	if len(all) != 5 || all[1].name != "agents 24" || all[2].name != "agents 40" {
		t.Fatalf("%d workloads", len(all))
	}
	values, err := all[1].run(t.Context(), variant{chain: "chwbl:factor=0"}, 1)
	if want := 15.0 / 21; err != nil || len(values) != 2 || math.Abs(values[0]-want) > 1e-9 {
		t.Errorf("%v, %v; want a hit rate of %v", values, err, want)
	}
}

// TestChains can all be opened.
func TestChains(t *testing.T) {
	if all := Chains(); len(all) < 10 {
		t.Fatalf("chains are %q", all)
	}
	for _, chain := range Chains() {
		if _, _, err := (Owners{Arrivals: 10}).Run(t.Context(), chain, 1); err != nil {
			t.Error(err)
		}
	}
}

// TestMarkdown shows the best of each column in bold, and what is unknown as a dash.
func TestMarkdown(t *testing.T) {
	s := &Survey{Seeds: []uint64{1, 2}, Loads: []Load{{Name: "a", About: "one", Columns: []string{"hit", "imbalance"}, best: []int{1, -1}}}}
	for chain, values := range map[string][]float64{"x": {0.5, 1.5}} {
		r := Row{Chain: chain, Cells: [][]Cell{make([]Cell, 2)}}
		r.add(0, values)
		r.add(0, []float64{0.7, 1.7})
		s.Rows = append(s.Rows, r)
	}
	s.Rows = append(s.Rows, Row{Chain: "y", Cells: [][]Cell{{{Mean: engine.Known(0.6), Runs: make([]engine.Figure, 2)}, {Mean: figure(math.NaN())}}}})
	s.Rows = append(s.Rows, Row{Chain: "z", Cells: [][]Cell{{{Mean: engine.Known(0.1), Runs: make([]engine.Figure, 2)}, {Mean: engine.Known(2), Runs: make([]engine.Figure, 2)}}}})
	var b bytes.Buffer
	if err := s.WriteMarkdown(&b); err != nil {
		t.Fatal(err)
	}
	const want = "| strategy | a: hit | a: imbalance |\n|---|---:|---:|\n| `x` | **0.600** | **1.60** |\n| `y` | **0.600** | - |\n| `z` | 0.100 | 2.00 |\n\n- a: one.\n"
	if !strings.HasPrefix(b.String(), want) {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

// TestSignalRows runs a chain with two signals: the second row has the first one's
// means and its own changes against them.
func TestSignalRows(t *testing.T) {
	chat, err := trace.Default()
	if err != nil {
		t.Fatal(err)
	}
	s, err := Run(t.Context(), Options{
		Chains: []string{"p2c", "cacheroute:fill=1"}, Signals: []signal.Signal{signal.Usage, signal.None},
		Chat: chat.Cut(4000), Seed: 1, Seeds: 1, Parallel: 2, Quick: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for _, r := range s.Rows {
		rows = append(rows, r.Chain+" "+r.Signal)
	}
	if got := strings.Join(rows, ", "); got != "p2c usage, p2c none, cacheroute:fill=1 usage, cacheroute:fill=1 none" {
		t.Fatalf("rows are %s", got)
	}
	for i, r := range s.Rows {
		if (r.Change != nil) != (i%2 == 1) {
			t.Fatalf("row %d has changes %v", i, r.Change)
		}
		for k := range r.Change {
			for c, change := range r.Change[k] {
				want := r.Cells[k][c].Mean.Or(0) - s.Rows[i-1].Cells[k][c].Mean.Or(0)
				if change.Or(-9) != want {
					t.Errorf("row %d, workload %d, column %d: change %v, want %v", i, k, c, change, want)
				}
			}
		}
	}
	var b bytes.Buffer
	if err := s.WriteMarkdown(&b); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "| strategy | signal | owners: hit |") || !strings.Contains(b.String(), "| `p2c` | none | ") || !strings.Contains(b.String(), " (±0) |") {
		t.Errorf("got\n%s", b.String())
	}
	for text, want := range map[string]string{"0.120": "+0.120", "-0.120": "-0.120", "-0.00": "±0"} {
		if got := signed(text); got != want {
			t.Errorf("%s is written %s, want %s", text, got, want)
		}
	}
}
