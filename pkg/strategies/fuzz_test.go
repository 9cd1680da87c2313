package strategies

import (
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"testing"
	"time"

	"gatewayd/pkg/router"
)

// source turns fuzz data into figures; it yields zeros when it runs out.
type source struct{ data []byte }

func (s *source) byte() byte {
	if len(s.data) == 0 {
		return 0
	}
	b := s.data[0]
	s.data = s.data[1:]
	return b
}

// float is mostly a sensible figure, now and then any float64 at all.
func (s *source) float() float64 {
	switch kind := s.byte(); {
	case kind == 255:
		var b [8]byte
		for i := range b {
			b[i] = s.byte()
		}
		return math.Float64frombits(binary.LittleEndian.Uint64(b[:]))
	case kind < 16:
		return 0
	default:
		return float64(kind) * math.Pow(2, float64(s.byte()%16)-8)
	}
}

func (s *source) gauge() router.Gauge {
	if s.byte()%4 == 0 {
		return router.Unknown
	}
	return router.Gauge{Value: s.float(), At: router.Time(s.byte()) * 1e12}
}

func (s *source) input() router.PlanInput {
	in := router.PlanInput{
		Now: 1e14, Seed: uint64(s.byte()), TotalRate: s.float(), OutputTokens: s.float(), PromptTokens: s.float(),
		HalfLife: time.Duration(s.float() * 1e9), Reuse: router.Reuse{By: router.Signal(s.byte() % 5), Share: s.float()}, Last: s.byte()%2 == 0,
	}
	for i := range s.byte() % 9 {
		w := router.Worker{ID: fmt.Sprintf("w%d", i), Incarnation: uint64(s.byte() / 200), Concurrency: int(s.byte()) - 1, KVTokens: int(s.byte()) << (s.byte() % 20)}
		if s.byte() == 255 {
			w.ID = "w0"
		}
		w.Energy = router.Energy{PrefillJoules: s.float(), DecodeJoules: s.float(), WakeWatts: s.float(), PUE: s.float()}
		w.Carbon = router.Carbon{GramsPerKWh: s.gauge(), Marginal: s.byte()%2 == 0}
		w.Load = router.Load{
			InFlight: int(s.byte()), QueuedTokens: int(s.byte()) << (s.byte() % 20), WorkingSet: int(s.byte()) << (s.byte() % 20), PeersAge: time.Duration(s.byte() / 200),
			Running: s.gauge(), Waiting: s.gauge(), Latency: s.gauge(), TTFT: s.gauge(), KVUsed: s.gauge(),
		}
		in.Fleet.Workers = append(in.Fleet.Workers, w)
	}
	key := uint64(0)
	for range s.byte() % 40 {
		if s.byte() != 255 {
			key += 1 + uint64(s.byte())
		}
		in.Rates = append(in.Rates, router.KeyRate{Key: key, Rate: s.float(), Tokens: s.float(), Home: int(s.byte()) % (len(in.Fleet.Workers) + 1)})
	}
	if s.byte()%2 == 0 {
		return in
	}
	in.Previous, in.PreviousAge = &router.Plan{}, time.Duration(s.float()*1e9)
	for i := range s.byte() % 9 {
		in.Previous.Workers = append(in.Previous.Workers, router.WorkerRef{ID: fmt.Sprintf("w%d", int(i)+int(s.byte()%2))})
	}
	if s.byte()%2 == 0 {
		for i := range in.Previous.Workers {
			in.Previous.Expected, in.Previous.Speeds = append(in.Previous.Expected, s.float()), append(in.Previous.Speeds, s.float())
			if s.byte()%4 == 0 {
				in.Previous.Rest.Among = append(in.Previous.Rest.Among, uint16(i))
			}
		}
	}
	in.Previous.Trial = router.Trial{Began: router.Time(s.byte()) * 1e12, Rival: s.float(), Rated: s.byte()%2 == 0, Lost: s.byte()%2 == 0}
	key = 0
	for range s.byte() % 40 {
		key += uint64(s.byte()) // now and then by none: not ascending
		members := make([]uint16, s.byte()%4)
		for i := range members {
			members[i] = uint16(int(s.byte()) % max(1, len(in.Previous.Workers)))
			if s.byte() == 255 {
				members[i] = 9
			}
		}
		in.Previous.Table.Append(key, members...)
	}
	return in
}

// FuzzPlan holds every strategy to this: any input gives an error or a plan that
// the core accepts, whose keys ascend, and the same one each time.
func FuzzPlan(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("a fleet of some workers, rates of some keys and a plan before this one"))
	for seed := range byte(8) {
		data := make([]byte, 900)
		for i := range data {
			data[i] = byte(router.Mix(uint64(seed)<<32+uint64(i)) % 255)
		}
		f.Add(data)
	}
	var names []string
	var planners []router.Planner
	for _, spec := range []struct {
		name    string
		options router.Options
	}{
		{"cacheroute", nil}, {"cacheroute", router.Options{"mode": "paper"}},
		{"cacheroute", router.Options{"slots": "3", "qcap": "2", "near": "0", "bound": "1", "slack": "0"}},
		{"joule", nil}, {"carbon", nil}, {"carbon", router.Options{"form": "seed"}},
		{"latency", nil}, {"latency", router.Options{"mode": "seed"}}, {"sticky", nil}, {"lmetric", nil}, {"dynamo", nil},
	} {
		d, err := Find(spec.name)
		if err != nil {
			f.Fatal(err)
		}
		instance, err := d.New(spec.options, 1)
		if err != nil {
			f.Fatal(err)
		}
		names = append(names, fmt.Sprint(spec))
		planners = append(planners, instance.(router.Planner))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for i, planner := range planners {
			name, in := names[i], (&source{data}).input()
			plan, err := planner.Plan(in)
			if err != nil {
				continue
			}
			if err := plan.Validate(); err != nil {
				t.Fatalf("%s: %v\nplan %+v", name, err, plan)
			}
			for j, key := range plan.Table.Keys {
				if j > 0 && key <= plan.Table.Keys[j-1] {
					t.Fatalf("%s: key %d comes after %d", name, key, plan.Table.Keys[j-1])
				}
			}
			for _, load := range plan.Expected {
				if !(load >= 0 && load < math.Inf(1)) {
					t.Fatalf("%s: expected loads %v", name, plan.Expected)
				}
			}
			again, err := planner.Plan((&source{data}).input())
			if err != nil || !reflect.DeepEqual(plan, again) {
				t.Fatalf("%s: a second plan differs (error %v)\n%+v\n%+v", name, err, plan, again)
			}
		}
	})
}
