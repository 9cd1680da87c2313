// Package plugins_test tests the executables in the folders below it.
package plugins_test

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"gatewayd/pkg/plugin"
	"gatewayd/pkg/router"
	"gatewayd/pkg/strategies"
)

// Every strategy of every executable answers as it does in this process.
func TestExecutablesAnswerLikeTheCatalog(t *testing.T) {
	for executable, names := range map[string][]string{
		"cacheroute": {"cacheroute"},
		"joule":      {"joule", "carbon"},
		"sticky":     {"sticky"},
	} {
		path := filepath.Join(t.TempDir(), executable)
		if out, err := exec.Command("go", "build", "-buildvcs=false", "-o", path, "./"+executable).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		for _, name := range names {
			t.Run(name, func(t *testing.T) { compare(t, path, name) })
		}
	}
}

func compare(t *testing.T, path, name string) {
	p, err := plugin.Launch(t.Context(), plugin.Spec{Name: name, Path: path, StartTimeout: time.Minute, CallTimeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	definition, err := strategies.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	here, err := definition.New(router.Options{}, 7)
	if err != nil {
		t.Fatal(err)
	}
	there, err := p.Open(t.Context(), nil, 7, "pool")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := there.Info(), here.Info(); !reflect.DeepEqual(got, want) || !want.Plans {
		t.Errorf("info %+v, want %+v", got, want)
	}
	rnd := rand.New(rand.NewPCG(1, 1))
	in := router.PlanInput{Pool: "pool", Fleet: router.Fleet{Number: 1, Workers: workers(rnd)}, OutputTokens: 200, PromptTokens: 900}
	for round := range 5 {
		in.Now = in.Now.Add(30 * time.Second)
		in.Rates, in.TotalRate = rates(rnd)
		want, err := here.(router.Planner).Plan(in)
		if err != nil {
			t.Fatal(err)
		}
		got, err := there.Plan(in)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("plan %d over the wire\n%+v\nis not\n%+v", round, got, want)
		}
		in.Previous, in.PreviousAge = &want, 30*time.Second
	}
}

func workers(rnd *rand.Rand) []router.Worker {
	ws := make([]router.Worker, 8)
	for i := range ws {
		ws[i] = router.Worker{
			ID: fmt.Sprint("w", i), Incarnation: 1, Zone: "z", Concurrency: 16, KVTokens: 100_000,
			Energy: router.Energy{PrefillJoules: 0.1 + rnd.Float64(), DecodeJoules: 1 + rnd.Float64(), SharedJoules: 5, WakeWatts: 100, PUE: 1.2},
			Carbon: router.Carbon{GramsPerKWh: router.Gauge{Value: 100 + 300*rnd.Float64()}, Source: "test"},
			Load:   router.Load{InFlight: rnd.IntN(9), KVUsed: router.Gauge{Value: rnd.Float64()}, Running: router.Unknown},
		}
	}
	return ws
}

func rates(rnd *rand.Rand) (rates []router.KeyRate, total float64) {
	for key := range uint64(2000) {
		r := router.KeyRate{Key: key << 20, Rate: rnd.ExpFloat64() / float64(key+1), Tokens: 100 * rnd.Float64()}
		rates, total = append(rates, r), total+r.Rate
	}
	return rates, total
}
