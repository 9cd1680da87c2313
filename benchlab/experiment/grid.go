package experiment

import (
	"context"
	"sync"
)

// Cell is one run of an experiment: a contender with a seed, both counted from 0.
type Cell struct{ Contender, Seed int }

// Grid is every contender with every seed.
type Grid struct {
	Contenders, Seeds int
	Parallel          int // runs at a time; at least 1
}

// Run makes the runs of a grid, g.Parallel at a time, seed by seed, and hands what
// came of each to done, one after the other in the order of the cells. A run that
// is ahead waits until those before it are done, so no more than Parallel results
// are kept. The first error ends it; the context given to run is done then.
func Run[T any](ctx context.Context, g Grid, run func(context.Context, Cell) (T, error), done func(Cell, T) error) error {
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	turns := make(chan struct{}, max(1, g.Parallel))
	previous := make(chan struct{})
	close(previous)
	var all sync.WaitGroup
	for i := range g.Seeds * g.Contenders {
		cell := Cell{i % g.Contenders, i / g.Contenders}
		turns <- struct{}{}
		mine, before := make(chan struct{}), previous
		previous = mine
		all.Go(func() {
			defer func() { close(mine); <-turns }()
			var result T
			err := context.Cause(ctx)
			if err == nil {
				result, err = run(ctx, cell)
			}
			if err != nil {
				fail(err)
			}
			<-before
			if context.Cause(ctx) != nil {
				return
			}
			if err := done(cell, result); err != nil {
				fail(err)
			}
		})
	}
	all.Wait()
	return context.Cause(ctx)
}
