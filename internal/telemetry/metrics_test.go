package telemetry

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"

	"gatewayd/pkg/router"
)

// record calls every method of the metrics once.
var update = flag.Bool("update", false, "rewrite docs/metrics.md")

func record(m *Metrics) {
	m.RequestDone(router.Completed, 200)
	m.Retried()
	m.Refused(router.QueueFull)
	m.Overhead(StageParse, time.Microsecond)
	m.spansDropped(lostExport, 1)
	m.Recorded(RecordDropped)
	i := m.Inference(OperationChat, "vllm", "llama")
	i.RequestDone(time.Second, "")
	i.AttemptDone(time.Second, "timeout")
	i.FirstToken(time.Millisecond)
	i.Generated(time.Second, 11)
	usage := router.Usage{PromptTokens: 9, OutputTokens: 4, CachedTokens: 3, Joules: 2}
	i.Used(usage)
	w := m.Worker("w1")
	w.Attempt(AttemptOK)
	w.SetInFlight(2)
	w.SetUp(true)
	w.Used(usage)
	known := router.Gauge{Value: 1}
	w.SetLoad(router.Load{Running: known, Waiting: known, KVUsed: known}, time.Now())
	m.Pool("p").AddQueued(1)
	m.Shadow("chain").Decided(true, 1, 2)
	m.Shadow("chain").Decided(false, 1, 2)
	m.Shadow("chain").Dropped()
	m.Shadow("chain").SetImbalance(1, 2)
	m.Reloaded(true)
	m.SetDraining(1)
	m.Pool("p").Waited(time.Second)
	m.Pool("p").SetLeader(true)
	m.Pool("p").Evicted(1, 1)
	m.Pool("p").SetTokensPerByte(0.3)
	s := m.Strategy("sticky")
	s.Decided("hold")
	s.Picked(time.Millisecond, "route")
	s.DeadlineExceeded()
	m.Fallback("sticky", "p2c", "late")
	m.SetPluginUp("sticky", true)
	m.PluginRestarted("sticky", "exit")
	p := m.Plan("p", "cacheroute")
	p.Planned(time.Millisecond)
	p.Dropped(PlanStale)
	p.Installed(7, 100, time.Now())
	m.State.SetUp(true)
	m.State.SetPeers(1)
	m.State.Synced(time.Millisecond)
	m.State.SyncFailed()
	m.State.Seen("peer", time.Now())
	m.State.HoldLookup("hit")
}

func gather(t *testing.T, m *Metrics) map[string]*dto.MetricFamily {
	t.Helper()
	list, err := m.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	families := map[string]*dto.MetricFamily{}
	for _, f := range list {
		families[f.GetName()] = f
	}
	return families
}

// value returns the value of the counter or gauge with these labels, given as
// name=value; NaN if there is none.
func value(t *testing.T, m *Metrics, name string, labels ...string) float64 {
	t.Helper()
	for _, metric := range gather(t, m)[name].GetMetric() {
		var have []string
		for _, l := range metric.GetLabel() {
			have = append(have, l.GetName()+"="+l.GetValue())
		}
		slices.Sort(labels)
		if slices.Equal(have, labels) {
			return metric.GetCounter().GetValue() + metric.GetGauge().GetValue()
		}
	}
	return math.NaN()
}

func series(t *testing.T, m *Metrics) int {
	t.Helper()
	n := 0
	for _, f := range gather(t, m) {
		n += len(f.GetMetric())
	}
	return n
}

func TestEveryFamilyIsInTheCatalogue(t *testing.T) {
	m := NewMetrics("v1")
	record(m)
	families := gather(t, m)
	for _, doc := range Catalogue() {
		f, ok := families[doc.Name]
		if !ok {
			t.Errorf("%s is in the catalogue but nothing records it", doc.Name)
			continue
		}
		if got := strings.ToLower(f.GetType().String()); got != doc.Type {
			t.Errorf("%s is a %s, the catalogue says %s", doc.Name, got, doc.Type)
		}
		var labels []string
		for _, l := range f.GetMetric()[0].GetLabel() {
			labels = append(labels, l.GetName())
		}
		if want := slices.Sorted(slices.Values(doc.Labels)); !slices.Equal(labels, want) {
			t.Errorf("%s has labels %v, the catalogue says %v", doc.Name, labels, want)
		}
		if f.GetHelp() != doc.Help || !strings.HasSuffix(doc.Help, ".") {
			t.Errorf("%s: help %q, the catalogue says %q", doc.Name, f.GetHelp(), doc.Help)
		}
		delete(families, doc.Name)
	}
	for name := range families {
		if !strings.HasPrefix(name, "go_") && !strings.HasPrefix(name, "process_") {
			t.Errorf("%s is served but not in the catalogue", name)
		}
	}
}

func TestNamesFollowPrometheusConventions(t *testing.T) {
	m := NewMetrics("v1")
	record(m)
	families := slices.Collect(maps.Values(gather(t, m)))
	problems, err := promlint.NewWithMetricFamilies(families).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

func TestDocsAreUpToDate(t *testing.T) {
	var want bytes.Buffer
	if err := WriteDocs(&want); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(want.String(), "\n| `"); n != len(Catalogue()) {
		t.Errorf("the docs have %d rows for %d metrics", n, len(Catalogue()))
	}
	const page = "../../docs/metrics.md"
	if *update {
		if err := os.WriteFile(page, want.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have, want.Bytes()) {
		t.Error("docs/metrics.md differs from the code: run make docs")
	}
}

func TestHandlerServesText(t *testing.T) {
	m := NewMetrics("v1")
	record(m)
	answer := httptest.NewRecorder()
	m.Handler().ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if answer.Code != http.StatusOK || !strings.Contains(answer.Body.String(), `gatewayd_requests_total{code="200",outcome="completed"} 1`) {
		t.Errorf("/metrics answered %d:\n%s", answer.Code, answer.Body)
	}
}

func TestUnknownValuesShareOneSeries(t *testing.T) {
	m := NewMetrics("v1")
	record(m)
	m.AllowModels("llama")
	before := series(t, m)
	for i := range 10_000 {
		model := fmt.Sprintf("model-%d\xff", i)
		h := m.Inference(OperationChat, "vllm", model)
		h.RequestDone(time.Second, fmt.Sprintf("error-%d", i))
		h.Used(router.Usage{PromptTokens: i})
		m.RequestDone(router.Outcome(i%256), i)
		m.Refused(router.RefusalCode(i % 256))
		m.Strategy(model).Decided(model)
		m.Fallback(model, model, "late")
		m.State.HoldLookup(model)
		m.Overhead(Stage(i%256), 0)
		m.Worker("w1").Attempt(AttemptOutcome(i % 256))
	}
	// 64 strategies with 64 reasons is the largest product of bounds here; each
	// random name comes as both, so that the diagonal is what can be filled.
	if grown := series(t, m) - before; grown > 3500 {
		t.Errorf("10,000 random values made %d series", grown)
	}
	if n := len(gather(t, m)[MetricTokenUsage].GetMetric()); n > 4 {
		t.Errorf("10,000 unknown models made %d series of token usage", n)
	}
	m.Inference(OperationChat, "vllm", "llama").RequestDone(time.Second, "")
	if !strings.Contains(gather(t, m)[MetricServerDuration].String(), `value:"llama"`) {
		t.Error("an allowed model has no series of its own")
	}
}

func TestRemovedWorkerHasNoSeries(t *testing.T) {
	m := NewMetrics("v1")
	record(m)
	w := m.Worker("w1")
	m.Worker("w2").SetUp(true)
	m.RemoveWorker("w1")
	m.RemoveWorker("never-seen")
	w.SetLoad(router.Load{}, time.Now())
	w.Used(router.Usage{Joules: 3})
	w.SetInFlight(4)
	w.Attempt(AttemptBroken)
	for name, f := range gather(t, m) {
		if strings.Contains(f.String(), `value:"w1"`) {
			t.Errorf("%s still has a series of w1", name)
		}
	}
	if got := value(t, m, MetricWorkerUp, "worker=w2"); got != 1 {
		t.Errorf("the other worker's series: %v", got)
	}
	m.Worker("w1").SetInFlight(1)
	if got := value(t, m, MetricInFlight, "worker=w1"); got != 1 {
		t.Errorf("in flight after the worker came back: %v", got)
	}
	m.RemovePlugin("sticky")
	if got := value(t, m, MetricPluginUp, "plugin=sticky"); !math.IsNaN(got) {
		t.Errorf("a removed plugin is up: %v", got)
	}
}

func TestUnknownIsNotZero(t *testing.T) {
	m := NewMetrics("v1")
	w := m.Worker("w")
	w.SetLoad(router.Load{Running: router.Gauge{Value: 3}, Waiting: router.Unknown, KVUsed: router.Unknown}, time.Now())
	if got := value(t, m, MetricWorkerRunning, "worker=w"); got != 3 {
		t.Errorf("running: %v", got)
	}
	if got := value(t, m, MetricWorkerKV, "worker=w"); !math.IsNaN(got) {
		t.Errorf("KV use that nobody reported: %v", got)
	}
	w.SetLoad(router.Load{Running: router.Unknown, Waiting: router.Unknown, KVUsed: router.Unknown}, time.Now())
	if got := value(t, m, MetricWorkerRunning, "worker=w"); !math.IsNaN(got) {
		t.Errorf("running, no longer reported: %v", got)
	}
	w.Used(router.Usage{PromptTokens: 5, CachedTokens: -1})
	if got := value(t, m, MetricTokens, "worker=w", "type=cached"); got != 0 {
		t.Errorf("cached tokens, not reported: %v", got)
	}
	if got := value(t, m, MetricEnergy, "worker=w"); !math.IsNaN(got) {
		t.Errorf("energy, not reported: %v", got)
	}
}

func TestAgesGrowUntilSeenAgain(t *testing.T) {
	m := NewMetrics("v1")
	now := time.Unix(1000, 0)
	m.State.age.now = func() time.Time { return now }
	m.State.Seen("peer", now.Add(-3*time.Second))
	if got := value(t, m, MetricStateAge, "source=peer"); got != 3 {
		t.Errorf("age %v, want 3", got)
	}
	now = now.Add(4 * time.Second)
	if got := value(t, m, MetricStateAge, "source=peer"); got != 7 {
		t.Errorf("age %v, want 7", got)
	}
	m.State.Seen("peer", now.Add(time.Hour))
	if got := value(t, m, MetricStateAge, "source=peer"); got != 0 {
		t.Errorf("age of a future sight %v, want 0", got)
	}
	m.State.Gone("peer")
	if got := value(t, m, MetricStateAge, "source=peer"); !math.IsNaN(got) {
		t.Errorf("age %v of a source that left", got)
	}
	for i := range 2 * maxAges {
		m.State.Seen(fmt.Sprint(i), now)
	}
	if n := len(gather(t, m)[MetricStateAge].GetMetric()); n != maxAges {
		t.Errorf("%d sources, want %d", n, maxAges)
	}
}
