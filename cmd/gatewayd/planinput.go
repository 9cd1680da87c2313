package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"gatewayd/pkg/router"
)

// maxPlanInput bounds what plan reads of a file, in bytes.
const maxPlanInput = 1 << 30

var errPlanInput = fmt.Errorf("it is larger than %d MiB", maxPlanInput>>20)

// readFrom reads a file, or standard input if it is called "-".
func readFrom[T any](name string, p process, read func(io.Reader) (T, error)) (T, error) {
	if name == "-" {
		return read(&bounded{p.stdin, maxPlanInput})
	}
	f, err := os.Open(name)
	if err != nil {
		var none T
		return none, errors.Unwrap(err) // the caller names the file
	}
	defer f.Close()
	return read(&bounded{f, maxPlanInput})
}

// bounded fails when there is more to read than left.
type bounded struct {
	from io.Reader
	left int
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.from == nil {
		return 0, io.EOF
	}
	n, err := b.from.Read(p[:min(len(p), b.left+1)])
	if b.left -= n; b.left < 0 {
		return 0, errPlanInput
	}
	return n, err
}

// readRates reads an array of {"key": K, "rate": R}. What the figures may be is
// for the planner to say.
func readRates(r io.Reader) ([]router.KeyRate, error) {
	in := json.NewDecoder(r)
	in.DisallowUnknownFields()
	if t, err := in.Token(); err != nil || t != json.Delim('[') {
		return nil, orElse(plain(err), errors.New(`it must be a JSON array of {"key": 1, "rate": 5}`))
	}
	var rates []router.KeyRate
	for in.More() {
		var entry struct {
			Key  once[uint64]  `json:"key"`
			Rate once[float64] `json:"rate"`
		}
		err := in.Decode(&entry)
		switch {
		case err != nil:
			return nil, fmt.Errorf("entry %d: %w", len(rates)+1, plain(err))
		case entry.Key.value == nil || entry.Rate.value == nil:
			return nil, fmt.Errorf("entry %d: it must have a key and a rate", len(rates)+1)
		case entry.Key.times > 1 || entry.Rate.times > 1:
			return nil, fmt.Errorf("entry %d: it has its key or its rate twice", len(rates)+1)
		case len(rates) == router.MaxPlanKeys:
			return nil, fmt.Errorf("there are more than %d entries", router.MaxPlanKeys)
		}
		rates = append(rates, router.KeyRate{Key: *entry.Key.value, Rate: *entry.Rate.value})
	}
	if _, err := in.Token(); err != nil {
		return nil, plain(err)
	}
	return rates, ended(in)
}

// readPrevious reads the table of an earlier output.
func readPrevious(r io.Reader) (*router.Table, error) {
	in := json.NewDecoder(r)
	var earlier struct {
		Table once[planTable] `json:"table"`
	}
	switch err := in.Decode(&earlier); {
	case err != nil:
		return nil, plain(err)
	case earlier.Table.value == nil:
		return nil, errors.New(`it has no "table": it must be an earlier output`)
	case earlier.Table.times > 1:
		return nil, errors.New(`it has its "table" twice`)
	}
	table := router.Table(*earlier.Table.value)
	return &table, ended(in)
}

// once is a value of a JSON object, and how many times it is there.
type once[T any] struct {
	value *T // nil if it is missing or null
	times int
}

// UnmarshalJSON is called each time that the value is there.
func (o *once[T]) UnmarshalJSON(b []byte) error {
	o.times++
	return json.Unmarshal(b, &o.value)
}

// ended checks that nothing follows.
func ended(in *json.Decoder) error {
	if _, err := in.Token(); err != io.EOF {
		return orElse(plain(err), errors.New("something follows the end of the JSON value"))
	}
	return nil
}

// plain says a JSON error in the user's words.
func plain(err error) error {
	var kind *json.UnmarshalTypeError
	switch {
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("it ends too early: the JSON is empty or cut off")
	case errors.As(err, &kind) && kind.Field == "key":
		return fmt.Errorf("key is a %s, but must be a whole number from 0 to 2^64-1", kind.Value)
	case errors.As(err, &kind) && kind.Field == "rate":
		return fmt.Errorf("rate is a %s, but must be a number of requests per second", kind.Value)
	case errors.As(err, &kind):
		return fmt.Errorf("byte %d: there is a JSON %s where none may be", kind.Offset, kind.Value)
	}
	return err
}

func orElse(err, otherwise error) error {
	if err != nil {
		return err
	}
	return otherwise
}
