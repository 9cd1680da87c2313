package experiment

import (
	"strings"
	"testing"

	"gatewayd/benchlab/engine"
	"gatewayd/benchlab/report"
)

func TestParseThreshold(t *testing.T) {
	for text, want := range map[string]Threshold{
		"ttft.p99<800ms":            {Figure: "ttft.p99", Op: "<", Limit: 0.8},
		"ttft.p99 <= 0.8":           {Figure: "ttft.p99", Op: "<=", Limit: 0.8},
		"tpot.mean<50ms":            {Figure: "tpot.mean", Op: "<", Limit: 0.05},
		"kv_hit>=30%":               {Figure: "kv_hit", Op: ">=", Limit: 0.3},
		"sticky kv_hit>0.3":         {Contender: "sticky", Figure: "kv_hit", Op: ">", Limit: 0.3},
		"./my plugin:a=1 failed<1%": {Contender: "./my plugin:a=1", Figure: "failed", Op: "<", Limit: 0.01},
		"goodput>10":                {Figure: "goodput", Op: ">", Limit: 10},
	} {
		want.Text = text
		if got, err := ParseThreshold(text); err != nil || got != want {
			t.Errorf("%q: got %+v, %v, want %+v", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"":              "there is no < <= > or >=",
		"ttft.p99=1":    "there is no < <= > or >=",
		"ttft<1":        `there is no figure "ttft", only kv_hit, ttft.mean`,
		"ttft.p99<":     "give seconds or a duration",
		"ttft.p99<5%":   "give seconds or a duration",
		"ttft.p99<-1s":  "give seconds or a duration",
		"kv_hit>1s":     "give a share or a percentage",
		"goodput>NaN":   "give a number",
		"goodput>1e300": "give a number",
	} {
		if _, err := ParseThreshold(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
}

func TestJudge(t *testing.T) {
	contender := func(name string, v engine.Figure) report.Contender {
		return report.Contender{Name: name, Figures: map[string]report.Estimate{"kv_hit": {Mean: v}}}
	}
	c := &report.Comparison{Contenders: []report.Contender{
		contender("a", engine.Known(0.3)), contender("b", engine.Known(0.2)), contender("c", engine.Figure{}),
	}}
	var all []Threshold
	for _, text := range []string{"kv_hit>=0.3", "a kv_hit>0.3", "b kv_hit<0.3", "a kv_hit<=0.3", "c kv_hit>0"} {
		x, err := ParseThreshold(text)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, x)
	}
	if err := Judge(c, all); err != nil {
		t.Fatal(err)
	}
	want := []bool{false, true, true, true, false, false, true}
	if len(c.Thresholds) != len(want) {
		t.Fatalf("%d verdicts, want %d", len(c.Thresholds), len(want))
	}
	for i, v := range c.Thresholds {
		if v.Crossed != want[i] {
			t.Errorf("%s", v.String())
		}
	}
	if err := Judge(c, []Threshold{{Text: "x", Contender: "nobody", Figure: "kv_hit"}}); err == nil {
		t.Error("a contender that there is not is accepted")
	}
}
