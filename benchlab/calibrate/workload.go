package calibrate

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"time"

	"gatewayd/benchlab/engine"
)

// workloadRow says which blocks of prompts, and of the prompts with their answers,
// are equal. Only full blocks have an id.
type workloadRow struct {
	ID         string   `json:"request_id"`
	Input      int      `json:"input_toks"`
	Output     int      `json:"output_toks"`
	Block      int      `json:"block_size"`
	Blocks     []uint64 `json:"hash_ids"`
	WithOutput []uint64 `json:"hash_ids_with_output"`
}

func (w workloadRow) check(r *Request, run *Run) error {
	switch {
	case w.Input != r.Prompt || w.Output != r.Output:
		return fmt.Errorf("request %q: %d and %d tokens, requests.jsonl says %d and %d", w.ID, w.Input, w.Output, r.Prompt, r.Output)
	case w.Block < 1 || run.BlockTokens != 0 && w.Block != run.BlockTokens:
		return fmt.Errorf("request %q: block_size is %d, want one above 0 in all rows", w.ID, w.Block)
	case len(w.Blocks) != w.Input/w.Block:
		return fmt.Errorf("request %q: %d hash_ids, want %d full blocks of %d", w.ID, len(w.Blocks), w.Input/w.Block, w.Block)
	case len(w.WithOutput) > 0 && (len(w.WithOutput) < len(w.Blocks) || !slices.Equal(w.WithOutput[:len(w.Blocks)], w.Blocks)):
		return fmt.Errorf("request %q: hash_ids_with_output does not begin with hash_ids", w.ID)
	}
	return nil
}

func readWorkload(dir fs.FS, run *Run, caching bool) error {
	byID := make(map[string]*Request, len(run.Requests))
	for i := range run.Requests {
		byID[run.Requests[i].ID] = &run.Requests[i]
	}
	rows := 0
	err := eachRow(dir, "workload_hashed.jsonl", func(w workloadRow) error {
		r := byID[w.ID]
		if r == nil {
			return fmt.Errorf("request %q is not in requests.jsonl", w.ID)
		}
		if err := w.check(r, run); err != nil {
			return err
		}
		run.BlockTokens = w.Block
		rows++
		if caching {
			r.Blocks = w.Blocks
			r.OutputBlocks = w.WithOutput[min(len(w.Blocks), len(w.WithOutput)):]
		}
		return nil
	})
	if err == nil && rows != len(run.Requests) {
		err = fmt.Errorf("workload_hashed.jsonl has %d rows, requests.jsonl %d", rows, len(run.Requests))
	}
	if run.BlockTokens == 0 {
		run.BlockTokens = engine.DefaultBlockTokens
	}
	return err
}

// readSamples reads the columns t, running, waiting and kv_cache_pct.
func readSamples(dir fs.FS, run *Run) error {
	const name = "timeseries.csv"
	r, closeFile, err := open(dir, name)
	if errors.Is(err, fs.ErrNotExist) {
		run.Notes = append(run.Notes, "no "+name)
		return nil
	}
	if err != nil {
		return err
	}
	defer closeFile()
	c := csv.NewReader(r)
	head, err := c.Read()
	if err != nil {
		return fmt.Errorf("%s:1: %w", name, err)
	}
	columns := [4]int{}
	for i, want := range []string{"t", "running", "waiting", "kv_cache_pct"} {
		if columns[i] = slices.Index(head, want); columns[i] < 0 {
			return fmt.Errorf("%s:1: no column %q", name, want)
		}
	}
	for {
		row, err := c.Read()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		var x [4]float64
		for i, column := range columns {
			if x[i], err = strconv.ParseFloat(row[column], 64); err != nil || !(x[i] >= 0 && x[i] < 1e9) {
				line, _ := c.FieldPos(column)
				return fmt.Errorf("%s:%d: %q is no figure for %q", name, line, row[column], head[column])
			}
		}
		run.Samples = append(run.Samples, Sample{
			At:      time.Duration(x[0] * float64(time.Second)),
			Running: int(x[1]), Waiting: int(x[2]), KVUsed: x[3] / 100,
		})
	}
}
