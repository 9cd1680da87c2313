package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"text/tabwriter"
	"time"

	"gatewayd/pkg/router"
)

// routeLimit bounds a call that hangs; a late one is counted, not cut off.
const routeLimit = 10 * time.Second

// traffic makes the inputs of routes as a core does: the loads of two workers
// change from one to the next.
type traffic struct {
	mu      sync.Mutex
	workers []router.Worker
	n       uint64
}

func newTraffic(workers int) *traffic {
	t := &traffic{workers: make([]router.Worker, workers)}
	for i := range t.workers {
		t.workers[i] = router.Worker{ID: fmt.Sprint("w", i), Incarnation: 1, Concurrency: 64, Load: router.Load{InFlight: 1 + i%7}}
	}
	return t
}

func (t *traffic) next() router.Input {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.n++
	for k := range uint64(2) {
		t.workers[router.Mix(t.n+k)%uint64(len(t.workers))].Load.InFlight = 1 + int(router.Mix(t.n^k)%50)
	}
	return router.Input{
		Now: router.Time(t.n), Seed: router.Mix(t.n), Fleet: 1, Workers: slices.Clone(t.workers),
		Request: router.Request{ID: "request-0123456789", Model: "model", Tenant: "tenant", Key: t.n, PromptTokens: 1000, Blocks: make([]uint64, 16), BlockTokens: 64},
	}
}

// figures of one measurement.
type figures struct {
	p50, p99 time.Duration
	rate     float64       // answers a second
	cpu      time.Duration // of both ends, for one answer
	inTime   float64       // share of all routes that were answered within the deadline
}

// calls measures routes and prints them.
func calls(ctx context.Context, s settings, e *ends, out io.Writer) error {
	kinds := []struct {
		name    string
		measure func(context.Context, settings, end) (figures, error)
	}{
		{"1 caller", closedLoop(1)},
		{"64 callers", closedLoop(64)},
		{fmt.Sprintf("%.0f/s open", s.rate), openLoop},
	}
	all := make([][][]figures, len(kinds)) // by kind and end
	for i := range all {
		all[i] = make([][]figures, len(e.routes))
	}
	for range s.rounds {
		for i, k := range kinds {
			for j, route := range e.routes {
				f, err := k.measure(ctx, s, route)
				if err != nil {
					return fmt.Errorf("%s, %s: %w", route.name, k.name, err)
				}
				all[i][j] = append(all[i][j], f)
			}
		}
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "load\tcall\tp50\tp99\tanswers/s\tCPU of both ends\tof unary's*\twithin 25 ms")
	median := make([][]figures, len(kinds))
	for i, k := range kinds {
		for j := range e.routes {
			median[i] = append(median[i], medians(all[i][j]))
		}
		for j, route := range e.routes {
			f, unary := median[i][j], median[i][1]
			fmt.Fprintf(w, "%s\t%s\t%v\t%v\t%.0f\t%v\t%s\t%.2f %%\n", k.name, route.name, short(f.p50), short(f.p99), f.rate, short(f.cpu),
				share(f.cpu-median[i][0].cpu, unary.cpu-median[i][0].cpu), 100*f.inTime)
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(out, "* less what the load itself takes, which the call in this process shows")
	one, many, open := median[0], median[1], median[2]
	limits := []verdict{
		{"p50 at 1 caller, of unary's", ratio(one[2].p50, one[1].p50), maxLatency},
		{"CPU at 64 callers, of unary's", ratio(many[2].cpu-many[0].cpu, many[1].cpu-many[0].cpu), maxCPU},
	}
	if here := open[0].inTime; here >= 1-maxLate {
		limits = append(limits, verdict{"late or lost in the open loop", 1 - open[2].inTime, maxLate})
	} else {
		fmt.Fprintf(out, "\nThe open loop is not judged: the machine is so busy that in this process, too, %.1f %% are late.\n", 100*(1-here))
	}
	return verdicts(out, limits...)
}

// closedLoop measures callers that ask again when they are answered.
func closedLoop(callers int) func(context.Context, settings, end) (figures, error) {
	return func(ctx context.Context, s settings, e end) (figures, error) {
		t := newTraffic(s.workers)
		taken := make([][]time.Duration, callers)
		var failed atomic.Pointer[error]
		return measured(e, s.span, func(stop <-chan struct{}) ([]time.Duration, int, error) {
			var all sync.WaitGroup
			for c := range callers {
				all.Go(func() {
					for { // once at least
						in := t.next()
						began := time.Now()
						if err := limited(ctx, e, in); err != nil {
							failed.Store(&err)
							return
						}
						taken[c] = append(taken[c], time.Since(began))
						select {
						case <-stop:
							return
						default:
						}
					}
				})
			}
			all.Wait()
			if err := failed.Load(); err != nil {
				return nil, 0, *err
			}
			times := slices.Concat(taken...)
			return times, len(times), nil
		})
	}
}

// openLoop measures routes that come at their times, whatever became of those
// before; their times count from when they should have begun.
func openLoop(ctx context.Context, s settings, e end) (figures, error) {
	const maxOpen = 4096
	t, rnd := newTraffic(s.workers), rand.New(rand.NewPCG(1, 2))
	return measured(e, s.span, func(stop <-chan struct{}) ([]time.Duration, int, error) {
		var mu sync.Mutex
		var times []time.Duration
		var all sync.WaitGroup
		var open atomic.Int64
		due, asked := time.Now(), 0
		for running := true; running; {
			timer := time.NewTimer(time.Until(due))
			select {
			case <-stop:
				running = asked == 0
			case <-timer.C:
			}
			timer.Stop()
			for ; running && !due.After(time.Now()); due = due.Add(time.Duration(rnd.ExpFloat64() / s.rate * 1e9)) {
				if asked++; open.Load() >= maxOpen {
					continue // lost
				}
				open.Add(1)
				in, began := t.next(), due
				all.Go(func() {
					defer open.Add(-1)
					if limited(ctx, e, in) == nil {
						took := time.Since(began)
						mu.Lock()
						times = append(times, took)
						mu.Unlock()
					}
				})
			}
		}
		all.Wait()
		return times, asked, ctx.Err()
	})
}

func limited(ctx context.Context, e end, in router.Input) error {
	ctx, cancel := context.WithTimeout(ctx, routeLimit)
	defer cancel()
	return e.route(ctx, in)
}

// measured runs load for a span and returns its figures.
func measured(e end, span time.Duration, load func(stop <-chan struct{}) (times []time.Duration, asked int, err error)) (figures, error) {
	stop := make(chan struct{})
	timer := time.AfterFunc(span, func() { close(stop) })
	defer timer.Stop()
	before, err := e.cpu()
	if err != nil {
		return figures{}, err
	}
	began := time.Now()
	times, asked, err := load(stop)
	if err != nil {
		return figures{}, err
	}
	took := time.Since(began)
	after, err := e.cpu()
	if err != nil {
		return figures{}, err
	}
	if len(times) == 0 {
		return figures{}, fmt.Errorf("none of %d routes was answered", asked)
	}
	slices.Sort(times)
	late, _ := slices.BinarySearch(times, deadline)
	return figures{
		p50: times[len(times)/2], p99: times[len(times)*99/100],
		rate: float64(len(times)) / took.Seconds(), cpu: (after - before) / time.Duration(len(times)),
		inTime: float64(late) / float64(asked),
	}, nil
}
