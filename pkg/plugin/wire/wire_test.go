package wire

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"gatewayd/pkg/router"
)

// filler fills values of any type so that no field is zero and hardly two are
// alike: a conversion that forgets or swaps a field changes the value.
type filler struct{ n int64 }

func filled[T any]() T {
	var v T
	f := filler{100}
	f.fill(reflect.ValueOf(&v).Elem())
	return v
}

func (f *filler) fill(v reflect.Value) {
	f.n++
	switch v.Interface().(type) {
	case router.Verdict, router.Role, router.Order, router.EventKind, router.Feature, router.Signal:
		v.SetUint(uint64(f.n%2 + 1))
		return
	case router.Table:
		t := router.Table{}
		t.Append(uint64(f.n)<<40, 1)
		t.Append(uint64(f.n)<<41, 0, 1)
		v.Set(reflect.ValueOf(t))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			f.fill(v.Field(i))
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		f.fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		f.fill(v.Index(0))
		f.fill(v.Index(1))
	case reflect.Map:
		v.Set(reflect.ValueOf(router.Options{"a": fmt.Sprint(f.n)}))
	case reflect.String:
		v.SetString(fmt.Sprint("text ", f.n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(f.n)
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(f.n))
	case reflect.Float64:
		v.SetFloat(float64(f.n) + 0.1)
	case reflect.Func:
	default:
		panic("no rule to fill a " + v.Kind().String())
	}
}

// overWire sends m through its bytes, and fails if one of its fields, at any
// depth, was never set.
func overWire[M proto.Message](t *testing.T, m M, unset ...string) M {
	t.Helper()
	allSet(t, m.ProtoReflect(), unset)
	b, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	back := m.ProtoReflect().New().Interface()
	if err := proto.Unmarshal(b, back); err != nil {
		t.Fatal(err)
	}
	return back.(M)
}

// tested are the messages that went through overWire.
var tested = map[protoreflect.Name]bool{}

func allSet(t *testing.T, m protoreflect.Message, unset []string) {
	t.Helper()
	tested[m.Descriptor().Name()] = true
	fields := m.Descriptor().Fields()
next:
	for i := range fields.Len() {
		f := fields.Get(i)
		for _, name := range unset {
			if name == string(f.Name()) {
				continue next
			}
		}
		if !m.Has(f) {
			t.Errorf("encoding never sets %s", f.FullName())
			continue
		}
		switch {
		case f.IsMap() || f.Kind() != protoreflect.MessageKind:
		case f.IsList():
			for j := range m.Get(f).List().Len() {
				allSet(t, m.Get(f).List().Get(j).Message(), unset)
			}
		default:
			allSet(t, m.Get(f).Message(), unset)
		}
	}
}

func same[T any](t *testing.T, want, got T) {
	t.Helper()
	if !reflect.DeepEqual(want, got) {
		t.Errorf("over the wire\n%+v\nbecomes\n%+v", want, got)
	}
}

func must[T any](t *testing.T) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func TestNoFieldIsForgotten(t *testing.T) {
	definition := filled[router.Definition]()
	same(t, definition, DecodeDefinition(overWire(t, EncodeDefinition(definition))))

	info := filled[router.Info]()
	same(t, info, must[router.Info](t)(DecodeInfo(overWire(t, EncodeInfo(info)))))

	worker := filled[router.Worker]()
	same(t, worker, DecodeWorker(overWire(t, EncodeWorker(&worker))))

	input := filled[router.Input]()
	back := DecodeRoute(overWire(t, EncodeRoute(&input), "id", "loads", "eligible", "peers_age", "trace"))
	back.Workers = input.Workers // the lane's table is tested in package plugin
	same(t, input, back)

	events := filled[[]router.Event]()
	same(t, events, DecodeEvents(overWire(t, EncodeEvents(events))))

	decision := filled[router.Decision]()
	decision.Ranking[0].Worker, decision.Ranking[1].Worker = 7, 3
	same(t, decision, must[router.Decision](t)(DecodeDecision(overWire(t, EncodeDecision(decision)), 8)))
}

func TestNoFieldOfAPlanIsForgotten(t *testing.T) {
	in := filled[router.PlanInput]()
	back := must[router.PlanInput](t)(DecodePlanInput(overWire(t, EncodePlanInput(&in), "instance", "trace", "kept")))
	for part := range EncodeFleet(in.Fleet.Workers) {
		DecodeFleet(overWire(t, part), &back.Fleet)
	}
	for part := range EncodeRates(in.Rates) {
		back.Rates = must[[]router.KeyRate](t)(DecodeRates(overWire(t, part), back.Rates))
	}
	for part := range EncodeTable(&in.Previous.Table) {
		if err := DecodeTable(overWire(t, part), &back.Previous.Table); err != nil {
			t.Fatal(err)
		}
	}
	same(t, in, back)
}

// The messages that carry others, and those that package plugin makes and tests.
var carriers = []protoreflect.Name{
	"Error", "DescribeRequest", "DescribeResponse", "OpenRequest", "OpenResponse", "CloseRequest", "CloseResponse",
	"LaneRequest", "LaneResponse", "Task", "TableWrite", "Slot", "LoadChange", "Answer",
	"PlanRequest", "PlanResponse", "Trace", "Span", "Attribute",
}

func TestNoMessageIsForgotten(t *testing.T) {
	TestNoFieldIsForgotten(t)
	TestNoFieldOfAPlanIsForgotten(t)
	messages := File_strategy_proto.Messages()
	for i := range messages.Len() {
		name := messages.Get(i).Name()
		if tested[name] == slices.Contains(carriers, name) {
			t.Errorf("message %s is tested here or among the carriers, not both or neither", name)
		}
	}
}

func TestUnknownIsNotZero(t *testing.T) {
	w := router.Worker{ID: "w"}
	w.Carbon.GramsPerKWh, w.Load.Running, w.Load.TTFT = router.Unknown, router.Unknown, router.Unknown
	got := DecodeWorker(overWire(t, EncodeWorker(&w),
		"incarnation", "zone", "concurrency", "kv_tokens", "energy", "carbon", "load"))
	same(t, w, got)
}

func TestZeroValues(t *testing.T) {
	same(t, router.Decision{}, must[router.Decision](t)(DecodeDecision(nil, 1)))
	same(t, router.Plan{}, must[router.Plan](t)(DecodePlan(nil)))
	same(t, router.Info{}, must[router.Info](t)(DecodeInfo(nil)))
	want := router.Worker{}
	for _, g := range []*router.Gauge{&want.Carbon.GramsPerKWh, &want.Load.Running, &want.Load.Waiting, &want.Load.KVUsed, &want.Load.TTFT, &want.Load.Latency} {
		*g = router.Unknown
	}
	same(t, want, DecodeWorker(nil))
}

func TestTextIsRepaired(t *testing.T) {
	in := router.Input{Request: router.Request{Tenant: "a\xffb"}}
	if _, err := proto.Marshal(EncodeRoute(&in)); err != nil {
		t.Error(err)
	}
}

func TestLargeTableIsCut(t *testing.T) {
	var table router.Table
	wide := make([]uint16, router.MaxPlanWorkers)
	for i := range wide {
		wide[i] = uint16(router.MaxPlanWorkers - 1)
	}
	for key := range uint64(300_000) {
		if key%100_000 == 0 {
			table.Append(key<<32, wide...)
			continue
		}
		table.Append(key<<32, uint16(key%8), uint16(key%16))
	}
	var back router.Table
	for part := range EncodeTable(&table) {
		if n := proto.Size(part); n > chunkBytes {
			t.Errorf("a part has %d bytes, more than %d", n, chunkBytes)
		}
		if err := DecodeTable(part, &back); err != nil {
			t.Fatal(err)
		}
	}
	same(t, table, back)
}

func TestEnumsAgree(t *testing.T) {
	agree(t, Verdict_name, map[router.Verdict]Verdict{
		router.Pass: Verdict_VERDICT_PASS, router.Route: Verdict_VERDICT_ROUTE,
		router.Wait: Verdict_VERDICT_WAIT, router.Refuse: Verdict_VERDICT_REFUSE,
	})
	agree(t, Role_name, map[router.Role]Role{
		router.Serve: Role_ROLE_SERVE, router.Prefill: Role_ROLE_PREFILL, router.Decode: Role_ROLE_DECODE,
	})
	agree(t, Order_name, map[router.Order]Order{
		router.Abstain: Order_ORDER_ABSTAIN, router.ByCost: Order_ORDER_BY_COST,
		router.ByRendezvous: Order_ORDER_BY_RENDEZVOUS, router.ByRotation: Order_ORDER_BY_ROTATION,
	})
	agree(t, EventKind_name, map[router.EventKind]EventKind{
		0: EventKind_EVENT_KIND_UNSPECIFIED, router.Arrived: EventKind_EVENT_KIND_ARRIVED,
		router.Dispatched: EventKind_EVENT_KIND_DISPATCHED, router.FirstToken: EventKind_EVENT_KIND_FIRST_TOKEN,
		router.Finished: EventKind_EVENT_KIND_FINISHED, router.FailedAttempt: EventKind_EVENT_KIND_FAILED_ATTEMPT,
		router.Forgotten: EventKind_EVENT_KIND_FORGOTTEN, router.WorkerUp: EventKind_EVENT_KIND_WORKER_UP,
		router.WorkerGone: EventKind_EVENT_KIND_WORKER_GONE, router.WorkerRestarted: EventKind_EVENT_KIND_WORKER_RESTARTED,
		router.CacheCleared: EventKind_EVENT_KIND_CACHE_CLEARED,
	})
	agree(t, Feature_name, map[router.Feature]Feature{
		router.One: Feature_FEATURE_ONE, router.InFlight: Feature_FEATURE_IN_FLIGHT,
		router.QueuedTokens: Feature_FEATURE_QUEUED_TOKENS, router.InputTokens: Feature_FEATURE_INPUT_TOKENS,
		router.OutputTokens: Feature_FEATURE_OUTPUT_TOKENS, router.Uncached: Feature_FEATURE_UNCACHED,
		router.UncachedByBatch: Feature_FEATURE_UNCACHED_BY_BATCH, router.Idle: Feature_FEATURE_IDLE,
		router.IdleOutput: Feature_FEATURE_IDLE_OUTPUT, router.KVUsed: Feature_FEATURE_KV_USED,
		router.WorkingSet: Feature_FEATURE_WORKING_SET, router.Missed: Feature_FEATURE_MISSED,
	})
	for f := router.Feature(0); f.String() != "unknown"; f++ {
		if _, ok := Feature_name[int32(f)]; !ok {
			t.Errorf("the protocol has no feature %v", f)
		}
	}
}

func agree[R ~uint8, W ~int32](t *testing.T, names map[int32]string, pairs map[R]W) {
	t.Helper()
	if len(names) != len(pairs) {
		t.Errorf("%T has %d values, of which %d are paired", *new(W), len(names), len(pairs))
	}
	for r, w := range pairs {
		if int32(r) != int32(w) {
			t.Errorf("%T: %d is %d on the wire (%s)", r, r, w, names[int32(w)])
		}
	}
}
