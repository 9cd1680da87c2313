package sim

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestFaultText reads every kind and writes it as it was.
func TestFaultText(t *testing.T) {
	for text, want := range map[string]Fault{
		"crash:w3@30s":             {Kind: Crash, Target: 3, At: 30 * time.Second},
		"crash:w3@30s+20s":         {Kind: Crash, Target: 3, At: 30 * time.Second, For: 20 * time.Second},
		"crash@1m0s":               {Kind: Crash, Target: All, At: time.Minute},
		"crash:any@any+20s":        {Kind: Crash, Target: Any, At: Any, For: 20 * time.Second},
		"drain:w0@0s":              {Kind: Drain, Target: 0},
		"slow:w2x3@1m0s+1m0s":      {Kind: Slow, Target: 2, Factor: 3, At: time.Minute, For: time.Minute},
		"slow:anyx0.5@any":         {Kind: Slow, Target: Any, Factor: 0.5, At: Any},
		"slow:allx2@1s":            {Kind: Slow, Target: All, Factor: 2, At: time.Second},
		"cold-start:w15@1m30s":     {Kind: ColdStart, Target: 15, At: 90 * time.Second},
		"flush:w1@30s":             {Kind: Flush, Target: 1, At: 30 * time.Second},
		"stale-metrics@30s+20s":    {Kind: StaleMetrics, Target: All, At: 30 * time.Second, For: 20 * time.Second},
		"gateway-crash:g1@30s+20s": {Kind: GatewayCrash, Target: 1, At: 30 * time.Second, For: 20 * time.Second},
		"gateway-cut@30s+500ms":    {Kind: GatewayCut, Target: All, At: 30 * time.Second, For: 500 * ms},
	} {
		f, err := ParseFault(text)
		if err != nil || f != want || f.String() != text {
			t.Errorf("%s: got %+v, written %v, error %v", text, f, f, err)
		}
	}
	if f, err := ParseFault("crash:all@60s"); err != nil || f.String() != "crash@1m0s" {
		t.Errorf("got %v, %v", f, err)
	}
}

func TestBadFaults(t *testing.T) {
	for text, want := range map[string]string{
		"": "no @", "crash:w3": "no @", "bang:w1@1s": "no such kind", "crash:w3@soon": "its time",
		"crash:w3@-1s": "its time", "crash:w3@99999h": "its time", "crash:3@1s": "not w and a number", "crash:w-1@1s": "number is wrong",
		"crash:g1@1s": "not w and a number", "gateway-crash:w1@1s": "not g and a number", "crash:w3@1s+0s": "its length", "crash:w3@1s+x": "its length",
		"slow:w2@1s": "needs a factor", "slow:w2x0@1s": "needs a factor", "slow:w2xNaN@1s": "needs a factor", "slow@1s": "needs a factor",
		"flush:w1@1s+1s": "has no length", "cold-start:w1@1s+1s": "has no length", "crash:@1s": "not w and a number", "crash:w99999999@1s": "number is wrong",
	} {
		if f, err := ParseFault(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, %v, want an error with %q", text, f, err, want)
		}
	}
}

func FuzzParseFault(f *testing.F) {
	for _, text := range []string{"crash:w3@30s+20s", "slow:anyx3@any", "gateway-cut@1s", "flush:all@2m"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		fault, err := ParseFault(text)
		if err != nil {
			return
		}
		again, err := ParseFault(fault.String())
		if err != nil || again != fault {
			t.Errorf("%q is %+v, written %v, which is %+v, %v", text, fault, fault, again, err)
		}
		if err := fault.check(1<<17, 1<<17); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	})
}

// TestResolve draws targets and times from the seed and from nothing that chains
// differ in.
func TestResolve(t *testing.T) {
	c := Config{Trace: every(100), Workers: Fleet(8, tenfold()), Seed: 1}
	for range 20 {
		c.Options.Faults = append(c.Options.Faults, Fault{Kind: Crash, Target: Any, At: Any}, Fault{Kind: GatewayCut, Target: Any, At: Any})
	}
	c.Options.Gateways = 3
	drawn := Resolve(c)
	workers, gateways := map[int]bool{}, map[int]bool{}
	for _, f := range drawn {
		if f.At < 0 || f.At > 99*time.Second {
			t.Errorf("%v is not within the trace", f)
		}
		if f.Kind.ofGateway() {
			gateways[f.Target] = true
		} else {
			workers[f.Target] = true
		}
		if err := f.check(8, 3); err != nil {
			t.Error(err)
		}
	}
	if len(workers) < 4 || len(gateways) != 3 {
		t.Errorf("drew workers %v and gateways %v", workers, gateways)
	}
	c.Chain = chain(t, "sticky")
	if !reflect.DeepEqual(Resolve(c), drawn) {
		t.Error("the chain changed the faults")
	}
	if c.Seed = 2; reflect.DeepEqual(Resolve(c), drawn) {
		t.Error("the seed did not change the faults")
	}
	if !slices.Equal(Resolve(Config{Options: Options{Faults: drawn[:1]}}), drawn[:1]) {
		t.Error("a fault that leaves nothing open was changed")
	}
}
