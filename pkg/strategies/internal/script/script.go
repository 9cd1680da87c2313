// Package script runs data-driven scripts that drive strategies through the
// real core, in typed time. It is imported by tests only.
//
//	chain                 one strategy a line: NAME key=value ...
//	fleet                 one worker a line: ID [down] [marginal] key=value ...
//	plan                  asks every strategy for its plan and installs it
//	send                  [n=1] [key=1] [step=0] [prompt=100] [max=0] [block=0] [count]
//	                      sends n requests, keys a step apart, and prints where
//	                      each went and why, or how many went where; prompts of
//	                      the same block are equal, those of block 0 are all new
//	retry                 fails the last request sent and sends it on
//	first                 gives all open requests their first token
//	finish                [output=0] [at=ID] ends all open requests, or those at a worker
//	advance d=10s         lets time pass
//	forget key=K          drops a key, as an operator does
//	holds                 prints how many keys each strategy holds
//
// A worker's keys are concurrency, kv, prefill, decode, wake, pue, grams and age
// (of the grams), as in router.Worker, and running, waiting and kvused, as scraped
// now. Strategies that route are asked at once and observe what they ask for.
package script

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"gatewayd/pkg/router"
)

// Run runs the scripts in a folder with the strategies of the given definitions.
func Run(t *testing.T, folder string, definitions ...router.Definition) {
	datadriven.Walk(t, folder, func(t *testing.T, path string) {
		w := &world{definitions: definitions, now: router.Time(0).Add(24 * time.Hour)}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			out, err := w.run(t, d)
			if err != nil {
				return fmt.Sprintf("error: %v\n", err)
			}
			return out
		})
	})
}

func (w *world) run(t *testing.T, d *datadriven.TestData) (string, error) {
	if d.Cmd != "chain" && w.core == nil {
		t.Fatalf("%s: there is no chain yet", d.Pos)
	}
	switch d.Cmd {
	case "chain":
		return w.chain(lines(d.Input))
	case "fleet":
		return "", w.fleet(t, lines(d.Input))
	case "plan":
		return w.plan()
	case "send":
		return w.send(t, d)
	case "retry":
		return w.retry(t)
	case "first":
		for _, r := range w.open {
			w.core.FirstToken(w.now, r.ticket)
		}
		return "", nil
	case "finish":
		return w.finish(word(t, d, "at"), int(number(t, d, "output", 0))), nil
	case "advance":
		w.now = w.now.Add(duration(t, word(t, d, "d")))
		w.core.Tick(w.now)
		return "", nil
	case "forget":
		w.core.Forget(w.now, uint64(number(t, d, "key", 1)))
		return "", nil
	case "holds":
		return w.holds(), nil
	}
	t.Fatalf("%s: unknown command %q", d.Pos, d.Cmd)
	return "", nil
}

// lines splits the input of a command into lines of words.
func lines(input string) (lines [][]string) {
	for line := range strings.Lines(input) {
		if fields := strings.Fields(line); len(fields) > 0 {
			lines = append(lines, fields)
		}
	}
	return lines
}

// options splits words of the form key=value.
func options(words []string) router.Options {
	o := router.Options{}
	for _, w := range words {
		key, value, _ := strings.Cut(w, "=")
		o[key] = value
	}
	return o
}

func (w *world) find(name string) (router.Definition, error) {
	i := slices.IndexFunc(w.definitions, func(d router.Definition) bool { return d.Name == name })
	if i < 0 {
		return router.Definition{}, fmt.Errorf("no strategy %q in this test", name)
	}
	return w.definitions[i], nil
}

func word(t *testing.T, d *datadriven.TestData, name string) (value string) {
	if d.HasArg(name) {
		d.ScanArgs(t, name, &value)
	}
	return value
}

func number(t *testing.T, d *datadriven.TestData, name string, otherwise float64) float64 {
	if text := word(t, d, name); text != "" {
		return parse(t, text)
	}
	return otherwise
}

func parse(t *testing.T, text string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func duration(t *testing.T, text string) time.Duration {
	t.Helper()
	v, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
