package paper

import (
	"bytes"
	"context"
	"math"
	"sync"
	"testing"

	"gatewayd/benchlab/engine"
	"gatewayd/benchlab/paper/workload"
	"gatewayd/benchlab/sim/measure"
)

func bed(t *testing.T) testbed {
	b, err := small(false)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// populations are those of the seeds 1 to 3, which several tests use.
var populations = sync.OnceValue(func() (all [][]workload.Key) {
	for seed := range uint64(3) {
		all = append(all, workload.Population(workload.Keys, seed+1))
	}
	return all
})

// TestAblation has the imbalances of Table 4 in their bands and in strict order,
// and hit rates that go up with affinity.
func TestAblation(t *testing.T) {
	const load = 240
	s := &study{Options: Options{Requests: DefaultRequests / 2}}
	rungs := []policy{flat, affinity, replication, balanced}
	var hit, imbalance [4]float64
	seeds := populations()
	for i, population := range seeds {
		keys := workload.WithWhales(workload.Top(population, 128), whales, whaleShare)
		scene := s.scene(bed(t), Workers, keys, poisson, uint64(i+1))
		for i, p := range rungs {
			f, err := scene.run(t.Context(), p, load)
			if err != nil {
				t.Fatal(err)
			}
			hit[i] += f.KVHit.Or(math.NaN()) / float64(len(seeds))
			imbalance[i] += f.ImbalanceRequests.Or(math.NaN()) / float64(len(seeds))
		}
	}
	t.Logf("hit %.3f, imbalance %.3f", hit, imbalance)
	for i, band := range [][2]float64{{1, 1.15}, {3, 4}, {1.9, 2.8}, {1, 1.35}} {
		if !(imbalance[i] >= band[0] && imbalance[i] <= band[1]) {
			t.Errorf("%s: imbalance %.3f, want %v", rungs[i].name, imbalance[i], band)
		}
	}
	if !(imbalance[1] > imbalance[2] && imbalance[2] > imbalance[3] && imbalance[3] > imbalance[0]) {
		t.Errorf("imbalances %.3f are out of order", imbalance)
	}
	for i := 1; i < len(hit); i++ {
		if !(hit[i] > hit[0]+0.2) {
			t.Errorf("%s: hit %.3f, Flat-LB %.3f", rungs[i].name, hit[i], hit[0])
		}
	}
}

// TestChurn is Table 12's.
func TestChurn(t *testing.T) {
	s := &study{Options: Options{Seed: 1, Seeds: 3, Parallel: 2}, populations: populations()}
	table, err := s.drift(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	fresh, planned := table.Rows[0].Cells[0].Ours.Mean.Or(math.NaN()), table.Rows[1].Cells[0].Ours.Mean.Or(math.NaN())
	even, kept := table.Rows[0].Cells[2].Ours.Mean.Or(math.NaN()), table.Rows[1].Cells[2].Ours.Mean.Or(math.NaN())
	t.Logf("churn: fresh %.3f, planned %.3f; imbalance: fresh %.3f, planned %.3f", fresh, planned, even, kept)
	if !(math.Abs(fresh-0.945) <= 0.03) {
		t.Errorf("fresh plans have a churn of %.3f, want 0.945 +- 0.03", fresh)
	}
	if !(planned <= 0.05 && kept <= 1.03*even) {
		t.Errorf("planned mode has a churn of %.3f, want at most 0.05, at an imbalance of %.3f, want at most 3 %% more than %.3f", planned, kept, even)
	}
}

// TestTelemetry has planners place the keys that gateways see.
func TestTelemetry(t *testing.T) {
	s := &study{Options: Options{Requests: 300}}
	scene := s.scene(bed(t), Workers, workload.Population(50, 1), poisson, 1)
	for _, p := range []policy{cacheroute, replication} {
		run, err := scene.simulate(t.Context(), p, 100)
		if err != nil {
			t.Fatal(err)
		}
		if len(run.Decisions) != 1 || run.Decisions[0].Reason != "table" || run.Decisions[0].Count != 300 {
			t.Errorf("%s: decisions are %+v, want 300 by table", p.name, run.Decisions)
		}
		if k := run.Strategies[0]; k.Plans != 1 || k.Keys != 50 {
			t.Errorf("%s: %+v, want one plan of 50 keys", p.name, k)
		}
	}
}

// tiny is a study that takes no time.
func tiny(parallel int, tables ...string) Options {
	return Options{Seed: 1, Seeds: 1, Requests: 100, Keys: 500, Quick: true, Parallel: parallel, Tables: tables}
}

type counter struct{ expected int }

func (c *counter) Expect(requests int)   { c.expected += requests }
func (c *counter) Part() func(ended int) { return func(int) {} }

// TestAll makes every table.
func TestAll(t *testing.T) {
	tables, err := Study(t.Context(), tiny(2))
	if err != nil || len(tables) != len(Numbers()) {
		t.Fatalf("%d tables, %v, want %d", len(tables), err, len(Numbers()))
	}
	for i, table := range tables {
		if table.Number != Numbers()[i] || table.Comparable == "" || table.NotComparable == "" || len(table.Rows) == 0 {
			t.Errorf("table %q is not complete: %+v", Numbers()[i], table)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, n := range Numbers() {
		if _, err := Study(ended, tiny(1, n)); err == nil {
			t.Errorf("table %s: an ended context is not noticed", n)
		}
	}
}

// TestSame gives equal tables on any number of processors.
func TestSame(t *testing.T) {
	var one, two bytes.Buffer
	for parallel, b := range map[int]*bytes.Buffer{1: &one, 2: &two} {
		tables, err := Study(t.Context(), tiny(parallel, "4", "12"))
		if err != nil {
			t.Fatal(err)
		}
		if err := WriteJSON(b, tables); err != nil {
			t.Fatal(err)
		}
	}
	if one.String() != two.String() {
		t.Error("results differ")
	}
}

// TestExpected counts the requests that are simulated, in the end.
func TestExpected(t *testing.T) {
	o, c := tiny(1, "4"), &counter{}
	o.Progress = c
	tables, err := Study(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	least := len(tables[0].Rows) * o.Seeds * 5 * o.Requests // at least up to 240 QPS
	most := len(tables[0].Rows) * o.Seeds * len(bed(t).ladder) * o.Requests
	if c.expected < least || c.expected > most {
		t.Errorf("%d requests expected, want %d to %d", c.expected, least, most)
	}
}

func TestOptions(t *testing.T) {
	for _, o := range []Options{{}, {Seeds: 1, Requests: 99, Keys: 1}, {Seeds: 1, Requests: 100}} {
		if _, err := Study(t.Context(), o); err == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
}

// TestCapacity is the largest step that is borne, at each threshold; a step that
// is missed below it does not count.
func TestCapacity(t *testing.T) {
	c := climb{ladder: []float64{30, 60, 100, 160}}
	for _, p99 := range []float64{1, 3.6, 3.4, 9} {
		f := measure.Figures{Requests: 100, Completed: 100}
		f.TTFT.P99 = engine.Known(p99)
		c.runs = append(c.runs, f)
	}
	if got := c.capacity(slo); got != 100 {
		t.Errorf("capacity %v, want 100", got)
	}
	c.runs[2].Completed = 94
	if a, b := c.capacity(slo), c.capacity(slo5); a != 30 || b != 60 {
		t.Errorf("with failures: capacities %v and %v, want 30 and 60", a, b)
	}
	if above(c.ladder, 60) != 100 || !math.IsInf(above(c.ladder, 160), 1) || above(c.ladder, 0) != 30 {
		t.Error("the steps above are wrong")
	}
}
