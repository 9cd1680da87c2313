package page

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"regexp"
	"strings"
	"testing"

	"gatewayd/benchlab/engine"
	"gatewayd/benchlab/report"
)

func html(t *testing.T, p *Page) string {
	t.Helper()
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// pictured returns the data that the page's script reads.
func pictured(t *testing.T, page string) (out struct {
	Series []struct{ Name string }
	Charts []struct{ Kind, Title string }
}) {
	t.Helper()
	_, rest, _ := strings.Cut(page, `id="data">`)
	data, _, ok := strings.Cut(rest, "</script>")
	if err := json.Unmarshal([]byte(data), &out); !ok || err != nil {
		t.Fatalf("the data cannot be read: %v", err)
	}
	return out
}

// TestHostileNames holds that no text of a result becomes markup or script.
func TestHostileNames(t *testing.T) {
	names := []string{
		"</script><script>alert(1)</script>", `"><img src=x onerror=alert(2)>`, "<!--<script>", "'&amp;\u2028{{.}}</title>", "</style><style>*{}",
	}
	c := example(names...)
	for _, text := range []*string{
		&c.Setup.Trace.Name, &c.Setup.Trace.Origin, &c.Setup.Trace.SHA256, &c.Setup.Profile.Name, &c.Version, &c.Bounds[0].Name,
		&c.Figures[0].Label, &c.Figures[0].About, &c.Statistics.Method, &c.Setup.Options.Faults[0], &c.Contenders[1].Runs[0].Decisions[0].Reason,
	} {
		*text = names[0] + names[1]
	}
	c.Command, c.Warnings, c.Setup.Trace.Notes = names, names, names
	hostile := html(t, Comparison(c))
	honest := html(t, Comparison(example()))
	for _, markup := range []string{"<script", "</script", "<style", "</title", "<img", "<!--", "onerror=\""} {
		if got, want := strings.Count(hostile, markup), strings.Count(honest, markup); got != want {
			t.Errorf("%q occurs %d times, want %d", markup, got, want)
		}
	}
	read := pictured(t, hostile)
	for i, s := range read.Series {
		if s.Name != names[i] {
			t.Errorf("series %d is called %q, want %q", i, s.Name, names[i])
		}
	}
	if want := len(pictured(t, honest).Charts); len(read.Charts) != want || want == 0 {
		t.Errorf("%d charts, want %d", len(read.Charts), want)
	}
}

// TestContained holds that the page names nothing that a browser would load.
func TestContained(t *testing.T) {
	page := html(t, Comparison(example()))
	for _, l := range libraries() {
		page = strings.Replace(page, asset(l.path()), "", 1)
	}
	if found := regexp.MustCompile(`(?i)(src|href)="[^#"][^"]*"|url\(|@import|https?:`).FindAllString(page, -1); len(found) != 1 || found[0] != `href="data:,"` {
		t.Errorf("the page refers to %q, want its empty icon only", found)
	}
}

// TestSameBytes holds that equal results make equal pages.
func TestSameBytes(t *testing.T) {
	first, second := html(t, Comparison(example())), html(t, Comparison(example()))
	if first != second {
		t.Error("two pages of one result differ")
	}
}

// TestDamaged makes pages of results that lack a part each, as a hand may have
// left them.
func TestDamaged(t *testing.T) {
	var b bytes.Buffer
	c := example()
	c.Contenders, c.Figures = c.Contenders[:2], c.Figures[:2] // a small one, of which each part is left out
	for i := range c.Contenders {
		x := &c.Contenders[i]
		x.Runs, x.Curves[0].Seconds = x.Runs[:1], x.Curves[0].Seconds[:2]
		maps.DeleteFunc(x.Figures, func(name string, _ report.Estimate) bool { return name != "kv_hit" && name != judge })
		x.Curves, x.Runs[0].Series.Load = x.Curves[:1], [][]float32{{1, 2}, {3}}
	}
	if err := c.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	var whole map[string]any
	if err := json.Unmarshal(b.Bytes(), &whole); err != nil {
		t.Fatal(err)
	}
	n := 0
	without(whole, func(path string) {
		text, err := json.Marshal(whole)
		if err != nil {
			t.Fatal(err)
		}
		c, _, err := report.Read(bytes.NewReader(text))
		if err != nil {
			return // the format is gone
		}
		if outline(Comparison(c)) == "" {
			t.Errorf("without %s there is no page", path)
		}
		n++
	})
	if n < 100 {
		t.Errorf("only %d parts were left out", n)
	}
}

// without calls f with each part of v gone in turn; of lists, with the first
// element's.
func without(v any, f func(path string)) {
	switch v := v.(type) {
	case map[string]any:
		for key, part := range v {
			delete(v, key)
			f(key)
			v[key] = part
			without(part, func(path string) { f(key + "." + path) })
		}
	case []any:
		if len(v) > 0 {
			without(v[0], f)
		}
	}
}

type broken struct{}

var errBroken = errors.New("disk full")

func (broken) Write([]byte) (int, error) { return 0, errBroken }

// TestErrors passes on the writer's error and refuses a number that JSON lacks.
func TestErrors(t *testing.T) {
	p := Comparison(example())
	if err := p.Write(broken{}); !errors.Is(err, errBroken) {
		t.Errorf("got %v, want %v", err, errBroken)
	}
	p.Sections[0].Charts = []Chart{{Kind: Lines, Lines: []Line{{X: []float64{0}, Y: []engine.Figure{engine.Known(math.NaN())}}}}}
	if err := p.Write(new(bytes.Buffer)); err == nil {
		t.Error("a chart with NaN was written")
	}
}
