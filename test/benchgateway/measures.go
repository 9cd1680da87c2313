package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"
)

// metric is one figure that is measured of a contender.
type metric int

const (
	smallRate  metric = iota // small requests a second at saturation
	smallCPU                 // CPU microseconds of one
	halfRate                 // requests a second at half load
	half50                   // microseconds of one then, median
	half99                   // and the 99th percentile
	largeRate                // requests with a prompt of 200 KB a second
	largeCPU                 // CPU microseconds of one
	eventRate                // streamed events a second
	eventCPU                 // CPU microseconds of one
	firstEvent               // microseconds until the first event of a stream, median
	idleMemory               // megabytes with ten thousand idle streams
	metrics
)

// plan says how much is measured.
type plan struct {
	span    time.Duration // of one turn
	warm    time.Duration // before it
	repeats int
	streams int
	events  int           // of a stream
	gap     time.Duration // between two of them
	idle    int           // streams that are held open
	firsts  int           // streams whose first event is timed
}

// shortTurns is how often contenders take turns in a repeat where a second tells much:
// what disturbs the machine comes and goes faster than the long ones do.
const shortTurns = 4

const (
	smallClients = 64
	largeClients = 16
	openClients  = 512
)

// samples are the figures of one contender, one of each repeat.
type samples [metrics][]float64

func (s *samples) add(m metric, v float64) { s[m] = append(s[m], v) }

// run measures all contenders in turn, so that what disturbs one disturbs all.
func (p plan) run(ctx context.Context, at scene, all []*contender, progress io.Writer) ([]samples, error) {
	results := make([]samples, len(all))
	rate := 0.0 // at half load
	each := func(what string, f func(c *contender, s *samples) error) error {
		fmt.Fprintf(progress, "%s %s\n", time.Now().Format(time.TimeOnly), what)
		for i, c := range all {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err := at.seat(c); err != nil {
				return err
			}
			if err := f(c, &results[i]); err != nil {
				return fmt.Errorf("%s, %s: %w", what, c.name, err)
			}
		}
		return nil
	}
	type step struct {
		what  string
		turns int // of each contender in a repeat
		do    func(c *contender, s *samples) error
	}
	for repeat := range p.repeats {
		for _, s := range []step{
			{"small requests at saturation", shortTurns, func(c *contender, s *samples) error {
				return p.saturate(at.folder, c, smallClients, small, s, smallRate, smallCPU)
			}},
			{"small requests at half load", shortTurns, func(c *contender, s *samples) error {
				if rate == 0 {
					var err error
					if rate, err = p.halfBusy(ctx, at, all, results); err != nil {
						return err
					}
					if err = at.seat(c); err != nil {
						return err
					}
				}
				return p.halfLoad(ctx, c, rate, s)
			}},
			{"prompts of 200 KB at saturation", 2, func(c *contender, s *samples) error {
				return p.saturate(at.folder, c, largeClients, large, s, largeRate, largeCPU)
			}},
			{"first events", shortTurns, p.firstEvents},
			{"streams", 1, p.stream},
		} {
			for turn := range s.turns {
				if err := each(fmt.Sprintf("%d/%d %s, turn %d of %d", repeat+1, p.repeats, s.what, turn+1, s.turns), s.do); err != nil {
					return nil, err
				}
			}
		}
	}
	return results, each("idle streams", p.hold)
}

// slowest returns the place of the contender whose first rate is the least.
func slowest(results []samples) int {
	least := 0
	for i := range results {
		if results[i][smallRate][0] < results[least][smallRate][0] {
			least = i
		}
	}
	return least
}

// halfBusy returns the rate at which the slowest contender keeps a core busy for half of
// the time. That is less than half of its rate at saturation: a request that comes alone
// costs a multiple of one among many.
func (p plan) halfBusy(ctx context.Context, at scene, all []*contender, results []samples) (float64, error) {
	const half, tries = 0.5, 3
	i := slowest(results)
	if err := at.seat(all[i]); err != nil {
		return 0, err
	}
	rate := results[i][smallRate][0] * half
	for range tries {
		before, err := all[i].cpu()
		if err != nil {
			return 0, err
		}
		if _, err := open(ctx, all[i], openClients, rate, p.span); err != nil {
			return 0, err
		}
		after, err := all[i].cpu()
		if err != nil {
			return 0, err
		}
		if busy := (after - before).Seconds() / p.span.Seconds(); busy > 0 {
			rate *= half / busy
		}
	}
	return rate, nil
}

// saturate measures requests a second, and CPU time of each, with n clients that
// never wait.
func (p plan) saturate(folder string, c *contender, n int, text func(host string, i int) []byte, s *samples, rate, cpu metric) error {
	if _, err := closed(folder, c, n, text, p.warm); err != nil {
		return err
	}
	before, err := c.cpu()
	if err != nil {
		return err
	}
	did, err := closed(folder, c, n, text, p.span)
	if err != nil {
		return err
	}
	after, err := c.cpu()
	if err != nil {
		return err
	}
	s.add(rate, float64(did.Requests)*1e6/float64(did.Micros))
	s.add(cpu, micro(after-before)/float64(did.Requests))
	return nil
}

// halfLoad measures how long requests take that come at a rate.
func (p plan) halfLoad(ctx context.Context, c *contender, rate float64, s *samples) error {
	if err := c.scrape(ctx); err != nil {
		return err
	}
	took, err := open(ctx, c, openClients, rate, p.span)
	if err != nil {
		return err
	}
	s.add(halfRate, rate)
	s.add(half50, micro(quantile(took, 0.5)))
	s.add(half99, micro(quantile(took, 0.99)))
	return nil
}

// stream measures events a second and CPU time of each.
func (p plan) stream(c *contender, s *samples) error {
	before, err := c.cpu()
	if err != nil {
		return err
	}
	began := time.Now()
	events, err := streams(c, p.streams, p.events, p.gap)
	if err != nil {
		return err
	}
	took := time.Since(began)
	after, err := c.cpu()
	if err != nil {
		return err
	}
	if want := int64(p.streams) * int64(p.events+1); events != want { // one is [DONE]
		return fmt.Errorf("%d events came, not %d", events, want)
	}
	s.add(eventRate, float64(events)/took.Seconds())
	s.add(eventCPU, micro(after-before)/float64(events))
	return nil
}

func (p plan) firstEvents(c *contender, s *samples) error {
	took, err := firsts(c, p.firsts)
	if err == nil {
		s.add(firstEvent, micro(quantile(took, 0.5)))
	}
	return err
}

// tenThousand is the number of idle streams that memory is told for.
const tenThousand = 10_000

// hold measures the memory with idle streams: what there was before, and what came
// with them, in proportion to ten thousand.
func (p plan) hold(c *contender, s *samples) error {
	before, err := c.memory()
	if err != nil {
		return err
	}
	return hold(c, p.idle, func() error {
		after, err := c.memory()
		s.add(idleMemory, (float64(before)+float64(after-before)*tenThousand/float64(p.idle))/1e6)
		return err
	})
}

// scrape reads the contender's metrics, as a monitor would.
func (c *contender) scrape(ctx context.Context) error {
	if c.admin == "" {
		return nil
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+c.admin+"/metrics", nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}
