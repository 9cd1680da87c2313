package fleet

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"gatewayd/internal/config"
	"gatewayd/pkg/router"
)

// TestState runs the state machines on scripts: one fact on a line, and the
// state after it.
func TestState(t *testing.T) {
	datadriven.Walk(t, "testdata/state", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var out strings.Builder
			step := map[string]func(*testing.T, *datadriven.TestData) func(string) string{
				"health": healthScript, "breaker": breakerScript, "life": lifeScript, "ramp": rampScript,
			}[d.Cmd](t, d)
			for line := range strings.Lines(d.Input) {
				line = strings.TrimSpace(line)
				fmt.Fprintf(&out, "%s: %s\n", line, step(line))
			}
			return out.String()
		})
	})
}

func healthScript(t *testing.T, d *datadriven.TestData) func(string) string {
	var h health
	var successes, failures int
	d.ScanArgs(t, "successes", &successes)
	d.ScanArgs(t, "failures", &failures)
	interval := duration(t, d, "interval")
	return func(line string) string {
		h.observe(line == "pass", successes, failures)
		state := "down"
		if h.up {
			state = "up"
		}
		return fmt.Sprintf("%s, next in %v", state, h.delay(interval, failures))
	}
}

func breakerScript(t *testing.T, d *datadriven.TestData) func(string) string {
	var b breaker
	var now router.Time
	c := config.Breaker{Cooldown: duration(t, d, "cooldown"), MaxCooldown: duration(t, d, "max")}
	d.ScanArgs(t, "failures", &c.Failures)
	d.ScanArgs(t, "probes", &c.Probes)
	return func(line string) string {
		switch line {
		case "fail":
			b.fail(now, c)
		case "serve":
			b.succeed(now, c)
		default:
			pause, err := time.ParseDuration(strings.TrimPrefix(line, "+"))
			if err != nil {
				t.Fatal(err)
			}
			now = now.Add(pause)
			b.tick(now)
		}
		if wait, ok := b.delay(now); ok {
			return fmt.Sprintf("%s for %v", phases[b.phase], wait)
		}
		if n := b.admits(c); n > 0 {
			return fmt.Sprintf("%s of %d", phases[b.phase], n)
		}
		return phases[b.phase]
	}
}

func rampScript(t *testing.T, d *datadriven.TestData) func(string) string {
	var r ramp
	var now router.Time
	lasts := duration(t, d, "lasts")
	return func(line string) string {
		if line == "begin" {
			r.begin(now, lasts)
		} else {
			pause, err := time.ParseDuration(strings.TrimPrefix(line, "+"))
			if err != nil {
				t.Fatal(err)
			}
			now = now.Add(pause)
			r.tick(now)
		}
		if wait, ok := r.delay(now); ok {
			return fmt.Sprintf("%d in flight for %v", r.admits(), wait)
		}
		return "in full"
	}
}

func lifeScript(t *testing.T, _ *datadriven.TestData) func(string) string {
	var l life
	return func(line string) string {
		verb, rest, _ := strings.Cut(line, " ")
		if verb == "refused" {
			l.refused()
			return "doubtful " + strconv.FormatBool(l.doubtful())
		}
		start, work := Figure{}, Figure{}
		for _, field := range strings.Fields(rest) {
			name, text, _ := strings.Cut(field, "=")
			value, err := strconv.ParseFloat(text, 64)
			if err != nil {
				t.Fatal(err)
			}
			*map[string]*Figure{"start": &start, "work": &work}[name] = Figure{value, true}
		}
		restarted := l.observe(start, work)
		return fmt.Sprintf("life %d, new %v", l.incarnation, restarted)
	}
}

func duration(t *testing.T, d *datadriven.TestData, arg string) time.Duration {
	t.Helper()
	var text string
	d.ScanArgs(t, arg, &text)
	out, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestLifeNumbersGrow makes sure that no start time makes a life's number
// repeat or go back.
func TestLifeNumbersGrow(t *testing.T) {
	for _, start := range []float64{0, 0.5, -1, 5, math.MaxFloat64, math.Inf(1), math.Inf(-1), math.NaN()} {
		l := life{incarnation: 7, suspect: true}
		if !l.observe(Figure{start, true}, Figure{}) || l.incarnation != 8 {
			t.Errorf("start %v: life %d", start, l.incarnation)
		}
	}
}
