package probe

import (
	"context"
	"fmt"
	"sync"
	"time"

	"gatewayd/benchlab/calibrate"
)

// learnTokens warms the worker up and measures how many words make a token.
func (p *Probe) learnTokens(ctx context.Context) error {
	const few, many = 32, 512
	var got [2]int
	for i, n := range []int{few, many} {
		a, err := p.send(ctx, text(p.config.Salt, uint64(1)<<32+uint64(i), n), 1)
		if err != nil {
			return err
		}
		got[i] = a.prompt
	}
	if got[1] <= got[0] {
		return fmt.Errorf("%d words are %d prompt tokens and %d are %d: the usage cannot be right", few, got[0], many, got[1])
	}
	p.ratio = float64(many-few) / float64(got[1]-got[0])
	p.fixed = max(0, got[0]-int(few/p.ratio))
	return nil
}

// follow carries out the plan, stage by stage.
func (p *Probe) follow(ctx context.Context, run *calibrate.Run, f *Findings) error {
	stages, complete := plan(p.config.Requests)
	if !complete {
		run.Notes = append(run.Notes, fmt.Sprintf("%d requests are too few for the whole plan", p.config.Requests))
	}
	for i, s := range stages {
		answers, err := p.together(ctx, s)
		if err != nil && ctx.Err() != nil && i >= len(prefills) {
			run.Notes = append(run.Notes, fmt.Sprintf("time ran out in stage %d of %d", i+1, len(stages)))
			break
		}
		if err != nil {
			return err
		}
		for k, a := range answers {
			run.Requests = append(run.Requests, p.recorded(fmt.Sprint(i, ".", k), s[k], a))
		}
		if len(s) == 1 && s[0].prompt == repeatedAt && i >= 2*len(prefills) {
			f.repeat(answers[0])
		}
	}
	if len(run.Requests) < len(prefills) {
		return fmt.Errorf("only %d requests were answered: allow more requests or time", len(run.Requests))
	}
	f.share(run)
	return nil
}

// together sends the requests of a stage and waits for all.
func (p *Probe) together(ctx context.Context, s stage) ([]answer, error) {
	answers, errs := make([]answer, len(s)), make([]error, len(s))
	var group sync.WaitGroup
	for i, a := range s {
		prompt := text(p.config.Salt, a.text, int(float64(a.prompt-p.fixed)*p.ratio))
		if i > 0 && !wait(ctx, spacing) {
			errs[i] = ctx.Err()
			break
		}
		group.Go(func() { answers[i], errs[i] = p.send(ctx, prompt, a.output) })
	}
	group.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return answers, nil
}

// wait waits, and reports whether it was not interrupted.
func wait(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// recorded is a request as a recording has it. Its times are the server's: the way
// there and back is taken off its waiting.
func (p *Probe) recorded(id string, a ask, got answer) calibrate.Request {
	queued := min(got.sent+p.trip, got.first)
	r := calibrate.Request{
		ID: id, Prompt: got.prompt, Output: got.output,
		Served: calibrate.Served{Queued: queued, FirstToken: got.first, LastToken: got.last},
	}
	for i := range got.prompt / p.block {
		r.Blocks = append(r.Blocks, a.text<<32+uint64(i))
	}
	return r
}

func (f *Findings) repeat(a answer) {
	if f.Repeated++; f.Repeated == 1 {
		f.FirstTTFT = a.first - a.sent
		return
	}
	f.AgainTTFT, f.CachedTokens = a.first-a.sent, a.cached
}

// share takes the blocks away again if the server seems to have no prefix cache: a
// repeated prompt was neither counted as cached nor answered in half the time.
func (f *Findings) share(run *calibrate.Run) {
	if f.CachedTokens > 0 || f.Repeated > 1 && 2*f.AgainTTFT < f.FirstTTFT {
		return
	}
	for i := range run.Requests {
		run.Requests[i].Blocks = nil
	}
}
