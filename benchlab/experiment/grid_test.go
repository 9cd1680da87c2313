package experiment

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
)

// TestRunOrder holds that results come seed by seed whoever is ready first, and
// that no more runs are under way than allowed.
func TestRunOrder(t *testing.T) {
	var now, most atomic.Int64
	third := make(chan struct{})
	var got []Cell
	err := Run(t.Context(), Grid{Contenders: 4, Seeds: 3, Parallel: 3}, func(_ context.Context, c Cell) (Cell, error) {
		if n := now.Add(1); n > most.Load() {
			most.Store(n)
		}
		defer now.Add(-1)
		switch c {
		case Cell{0, 0}:
			<-third
		case Cell{2, 0}:
			close(third)
		}
		return c, nil
	}, func(c, result Cell) error {
		if c != result {
			t.Errorf("%v came as the result of %v", result, c)
		}
		got = append(got, c)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var want []Cell
	for s := range 3 {
		for c := range 4 {
			want = append(want, Cell{c, s})
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if most.Load() > 3 {
		t.Errorf("%d runs at a time, want at most 3", most.Load())
	}
}

// TestRunFails holds that the first error ends a grid, wherever it comes from.
func TestRunFails(t *testing.T) {
	wrong := errors.New("wrong")
	grid := Grid{Contenders: 2, Seeds: 50, Parallel: 2}
	nothing := func(Cell, int) error { return nil }
	runs := atomic.Int64{}
	err := Run(t.Context(), grid, func(ctx context.Context, c Cell) (int, error) {
		runs.Add(1)
		if c == (Cell{1, 1}) {
			return 0, wrong
		}
		return 0, nil
	}, nothing)
	if !errors.Is(err, wrong) || runs.Load() > 20 {
		t.Errorf("got %v after %d runs", err, runs.Load())
	}
	done := 0
	err = Run(t.Context(), grid, func(context.Context, Cell) (int, error) { return 0, nil }, func(Cell, int) error {
		if done++; done == 3 {
			return wrong
		}
		return nil
	})
	if !errors.Is(err, wrong) || done != 3 {
		t.Errorf("got %v after %d results", err, done)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(wrong)
	if err := Run(ctx, grid, func(context.Context, Cell) (int, error) { t.Error("ran"); return 0, nil }, nothing); !errors.Is(err, wrong) {
		t.Errorf("got %v, want the cause of the context's end", err)
	}
}
