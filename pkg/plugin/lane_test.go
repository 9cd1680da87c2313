package plugin

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gatewayd/pkg/router"
)

// history makes inputs and events as a gateway would: workers come, go, restart
// and are at their limits, loads move, gauges are scraped or unknown.
type history struct {
	rnd   *rand.Rand
	fleet router.Fleet
	now   router.Time
}

func (h *history) gauge() router.Gauge {
	if h.rnd.IntN(4) == 0 {
		return router.Unknown
	}
	return router.Gauge{Value: h.rnd.Float64(), At: h.now}
}

func (h *history) step() {
	h.now = h.now.Add(time.Duration(h.rnd.IntN(1e6)))
	if len(h.fleet.Workers) < 3 || h.rnd.IntN(20) == 0 {
		h.fleet.Number++
		w := router.Worker{ID: fmt.Sprintf("w%03d", h.rnd.IntN(60)), Zone: "z", Incarnation: 1}
		i, found := slices.BinarySearchFunc(h.fleet.Workers, w, func(a, b router.Worker) int {
			return strings.Compare(a.ID, b.ID)
		})
		if !found {
			h.fleet.Workers = slices.Insert(slices.Clone(h.fleet.Workers), i, w)
		}
	}
	h.fleet.Workers = slices.Clone(h.fleet.Workers)
	w := &h.fleet.Workers[h.rnd.IntN(len(h.fleet.Workers))]
	switch h.rnd.IntN(6) {
	case 0:
		h.fleet.Number++
		w.Incarnation++
	case 1:
		h.fleet.Number++
		w.Carbon = router.Carbon{GramsPerKWh: h.gauge(), Source: "test", Marginal: true}
	case 2:
		w.Load.TTFT, w.Load.Running, w.Load.KVUsed = h.gauge(), h.gauge(), h.gauge()
	case 3:
		for i := range h.fleet.Workers {
			h.fleet.Workers[i].Load.PeersAge = time.Duration(h.rnd.IntN(2) * h.rnd.IntN(3))
		}
	default:
		w.Load.InFlight, w.Load.QueuedTokens, w.Load.WorkingSet = h.rnd.IntN(9), h.rnd.IntN(99), h.rnd.IntN(999)
	}
}

func (h *history) input() router.Input {
	h.step()
	in := router.Input{
		Now: h.now, Seed: h.rnd.Uint64(), Fleet: h.fleet.Number,
		Request: router.Request{ID: fmt.Sprint(h.now), Model: "m", Key: h.rnd.Uint64(), Blocks: []uint64{h.rnd.Uint64(), 2}},
		Facts:   []router.Fact{{FactKey: router.FactKey{Family: "a", Key: 1}, Value: []byte{1, 2}}},
	}
	for _, w := range h.fleet.Workers {
		if h.rnd.IntN(3) > 0 {
			in.Workers, in.Cached = append(in.Workers, w), append(in.Cached, h.rnd.IntN(9))
		}
	}
	if in.Workers == nil {
		in.Workers = h.fleet.Workers
	}
	return in
}

func TestOverTheWireEqualsInProcess(t *testing.T) {
	remote, here := opened(t, spec("good", "route-only")), local(t, "route-only")
	if got, want := remote.Info(), here.Info(); !reflect.DeepEqual(got, want) {
		t.Errorf("info %+v, want %+v", got, want)
	}
	h := &history{rnd: rand.New(rand.NewPCG(1, 2))}
	for n := range 1000 {
		in := h.input()
		got, err := remote.RouteContext(t.Context(), in, TraceContext{})
		if err != nil {
			t.Fatal(err)
		}
		if want := here.(router.Strategy).Route(in); !reflect.DeepEqual(got, want) {
			t.Fatalf("decision %d: %+v, want %+v", n, got, want)
		}
		events := []router.Event{{Number: uint64(n), Kind: router.Finished, At: in.Now, Worker: router.WorkerRef{ID: in.Workers[0].ID}}}
		remote.Observe(events)
		here.(router.Observer).Observe(events)
	}
}

func TestTableOfALaneIsBounded(t *testing.T) {
	remote, here := opened(t, spec("good", "route-only")), local(t, "route-only")
	all := workers(5 * minTable)
	for first := 0; first < len(all); first += 256 {
		in := router.Input{Workers: all[first : first+256], Request: router.Request{ID: "x"}}
		got := remote.Route(in)
		if want := here.(router.Strategy).Route(in); !reflect.DeepEqual(got, want) {
			t.Fatalf("decision at %d: %+v, want %+v", first, got, want)
		}
		if n := len(remote.now.Load().lane.table.workers); n > minTable+256 {
			t.Fatalf("the table has grown to %d workers", n)
		}
	}
}

func TestLargeInputs(t *testing.T) {
	i := opened(t, spec("good", "faulty"))
	in := router.Input{Workers: workers(5000), Request: router.Request{ID: "large", Blocks: make([]uint64, 32<<20/512)}}
	for range 2 {
		if d, err := i.RouteContext(t.Context(), in, TraceContext{}); err != nil || d.Reason != "large" {
			t.Errorf("%+v, %v", d, err)
		}
	}
	in.Request.Blocks = make([]uint64, 64<<20/8)
	_, err := i.RouteContext(t.Context(), in, TraceContext{})
	wantError(t, "a task that no message can carry", err, ErrInvalid, "at most 33554432 are allowed")
}

func TestManyCallers(t *testing.T) {
	i := opened(t, spec("good", "faulty"))
	var callers sync.WaitGroup
	for c := range 64 {
		callers.Go(func() {
			for n := range 200 {
				id := fmt.Sprintf("%d/%d", c, n)
				d, err := i.RouteContext(t.Context(), request(id), TraceContext{})
				if err != nil || d.Reason != id {
					t.Errorf("request %s: %+v, %v", id, d, err)
					return
				}
			}
		})
	}
	callers.Wait()
}

func TestHungRouteMissesItsDeadlineAndHasNoEffectLater(t *testing.T) {
	i := opened(t, spec("good", "faulty"))
	_, err := i.RouteContext(soon(t), request("hang"), TraceContext{})
	wantError(t, "a hung route", err, ErrLate, "did not answer in time")
	_, err = i.RouteContext(soon(t), request("behind"), TraceContext{})
	wantError(t, "a route behind a hung one", err, context.DeadlineExceeded, "plugin test: route")

	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = i.RouteContext(canceled, request("canceled"), TraceContext{})
	wantError(t, "a canceled route", err, context.Canceled, "")

	if n := len(i.now.Load().lane.waiting); n != 0 {
		t.Errorf("%d calls are still waited for", n)
	}
	if _, err := i.Plan(router.PlanInput{Pool: "release"}); err != nil {
		t.Fatal(err)
	}
	d, err := i.RouteContext(t.Context(), request("next"), TraceContext{})
	if err != nil || d.Reason != "next" {
		t.Errorf("after a late answer: %+v, %v", d, err)
	}
}

func TestHungCallsLeaveNoGoroutines(t *testing.T) {
	i := opened(t, spec("good", "faulty"))
	if _, err := i.RouteContext(t.Context(), request("x"), TraceContext{}); err != nil {
		t.Fatal(err)
	}
	before := runtime.NumGoroutine()
	var callers sync.WaitGroup
	for range 200 {
		callers.Go(func() {
			_, err := i.RouteContext(soon(t), request("hang"), TraceContext{})
			wantError(t, "a hung route", err, ErrLate, "")
			_, err = i.PlanContext(soon(t), router.PlanInput{Pool: "hang"}, TraceContext{})
			if !errors.Is(err, ErrLate) && !errors.Is(err, ErrBusy) {
				t.Errorf("a hung plan: %v", err)
			}
		})
	}
	callers.Wait()
	for limit := time.Now().Add(patience); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Now().After(limit) {
			t.Fatalf("%d goroutines, %d before the calls", runtime.NumGoroutine(), before)
		}
	}
}

func TestHungLaneQueuesABoundedAmount(t *testing.T) {
	s := spec("good", "faulty")
	s.RouteTimeout = 20 * time.Millisecond
	i := opened(t, s)
	if d := i.Route(request("hang")); d.Verdict != router.Pass || d.Reason != "plugin late" {
		t.Errorf("a hung route: %+v", d)
	}
	events := make([]router.Event, 10)
	// The writer still makes room until the stream's window is full, too.
	for reason := ""; reason != "plugin busy"; reason = i.Route(request("x")).Reason {
		n := 0
		for i.ObserveContext(t.Context(), events) == nil {
			if n++; n > 1e6 {
				t.Fatal("the queue has no end")
			}
		}
		err := i.ObserveContext(t.Context(), events)
		if err != nil {
			wantError(t, "one event too many", err, ErrBusy, "tasks wait for the plugin")
		}
	}
}

func TestClosedInstance(t *testing.T) {
	i := opened(t, spec("good", "faulty"))
	failed := make(chan error, 1)
	go func() {
		_, err := i.RouteContext(t.Context(), request("hang"), TraceContext{})
		failed <- err
	}()
	for { // until the route is under way
		l := i.now.Load().lane
		l.mu.Lock()
		n := len(l.waiting)
		l.mu.Unlock()
		if n > 0 {
			break
		}
	}
	if err := i.Close(); err != nil {
		t.Error(err)
	}
	wantError(t, "a route under way", receive(t, "the route", failed), ErrDown, "closed")
	_, err := i.RouteContext(t.Context(), request("x"), TraceContext{})
	wantError(t, "a route later", err, ErrDown, "")
	if err := i.Close(); err != nil {
		t.Error("second close:", err)
	}
}

func TestAnswersAreChecked(t *testing.T) {
	good := opened(t, spec("good", "faulty"))
	wrong := opened(t, spec("wrong", ""))
	for id, c := range map[string]struct {
		at   *Instance
		want string
	}{
		"out of range": {good, "ranking names worker 2 of 2"},
		"negative":     {good, "ranking names worker 4294967295 of 2"},
		"verdict":      {good, "unknown verdict 9"},
		"long ranking": {good, "ranking of 2000 placements for 2 workers"},
		"long reason":  {good, "reason of 200 bytes"},
		"writes":       {good, "100 writes, at most"},
		"long fact":    {good, "fact of 1048576 bytes"},
		"no family":    {good, "name of 0 bytes"},
		"no time":      {good, `fact of family "f" with a time to live of 0s`},
		"roles":        {wrong, "2 workers but 1 roles"},
		"role":         {wrong, "unknown role 7"},
		"ranks":        {wrong, "2 workers but 1 ranks"},
		"guard":        {wrong, "unknown feature 77"},
	} {
		_, err := c.at.RouteContext(t.Context(), request(id), TraceContext{})
		wantError(t, id, err, ErrInvalid, c.want)
	}
	if _, err := wrong.RouteContext(t.Context(), request("error"), TraceContext{}); err == nil || err.Error() != "plugin test: route: a code of the future" {
		t.Error("an unknown error code:", err)
	}
	_, err := wrong.RouteContext(soon(t), request("other id"), TraceContext{})
	wantError(t, "an answer to no question", err, ErrLate, "")
	if d, err := good.RouteContext(t.Context(), request("not text"), TraceContext{}); err != nil || d.Reason != "\uFFFD" {
		t.Errorf("a reason that is no text: %+v, %v", d, err)
	}
	if d, err := wrong.RouteContext(t.Context(), request("empty"), TraceContext{}); err != nil || d.Verdict != router.Pass {
		t.Errorf("an empty answer: %+v, %v", d, err)
	}
}

func TestBrokenLaneEndsTheProcess(t *testing.T) {
	for id, c := range map[string]struct {
		spec Spec
		want string
	}{
		"100 MB": {spec("good", "faulty"), "larger than max"},
		"end":    {spec("wrong", ""), "ended its answer too early"},
	} {
		p := started(t, c.spec)
		i, err := p.Open(t.Context(), nil, 1, "pool")
		if err != nil {
			t.Fatal(err)
		}
		_, err = i.RouteContext(t.Context(), request(id), TraceContext{})
		wantError(t, id, err, ErrInvalid, c.want)
		receive(t, "the end of the process", p.Done())
		wantError(t, id, p.Err(), ErrInvalid, "plugin test was ended")
		_, err = i.RouteContext(t.Context(), request("x"), TraceContext{})
		wantError(t, "after "+id, err, ErrInvalid, "")
	}
}
