package trace

import (
	"bytes"
	"fmt"

	"github.com/tidwall/gjson"
)

// Mooncake's form (github.com/kvcache-ai/Mooncake, FAST25-release/traces): one
// JSON object a line with timestamp (ms), input_length and output_length
// (tokens) and hash_ids, one chained id for each 512 prompt tokens, a partial
// last block included. Tools that replay it have added session_id, delay (ms
// after the answer of the session's turn before), other names for the fields, and
// request_id with wait_for, the requests whose answers must come first.

const mooncakeBlockTokens = 512

func mooncakeFormat() format {
	return format{
		name:  "mooncake",
		looks: "JSON lines with timestamp, input_length, output_length and hash_ids",
		detect: func(line []byte) bool {
			return line[0] == '{' && hasAny(line, `"input_length"`, `"input_tokens"`) && bytes.Contains(line, []byte(`"hash_ids"`))
		},
		read: readMooncake,
	}
}

func hasAny(line []byte, words ...string) bool {
	for _, w := range words {
		if bytes.Contains(line, []byte(w)) {
			return true
		}
	}
	return false
}

// mooncakeRow is a row of the file; its At counts as the file does.
type mooncakeRow struct {
	Request
	timed, delayed bool
	session        string
	hasSession     bool
	waits          []string // ids of requests
	isGraph        bool     // the row says for which requests it waits, perhaps none
	strange        []string // names of fields that are not read
}

func readMooncake(l *lines) (*Trace, error) {
	size := l.o.BlockTokens
	if size == 0 {
		size = mooncakeBlockTokens
	}
	g := graph{l: l, sessions: names{}, ids: map[string]int32{}}
	var strange ignored
	for {
		line, ok, err := l.next()
		if err != nil {
			return nil, err
		}
		if !ok {
			break
		}
		row, err := parseMooncake(line, size)
		if err == nil {
			err = g.add(row)
		}
		if err != nil {
			return nil, l.refuse(err)
		}
		strange.add(row.strange)
	}
	t := &Trace{BlockTokens: size, Partial: PartialCounted, Scope: ScopeGlobal, Clock: g.untimed == 0}
	var err error
	if t.Requests, err = g.resolve(); err != nil {
		return nil, err
	}
	t.File.Unordered = g.moved > 0
	t.Notes = append(t.Notes, g.notes...)
	t.fromZero()
	t.Notes = append(t.Notes, strange.notes()...)
	t.noteDeltas()
	return t, nil
}

func parseMooncake(line []byte, size int) (row mooncakeRow, err error) {
	var seen [9]bool
	err = object(line, seen[:], func(key string, v gjson.Result) (int, error) { return row.field(key, v) })
	if err != nil {
		return row, err
	}
	row.timed, row.delayed = seen[0], seen[5] || seen[8]
	for i, name := range []string{"timestamp", "input_length", "output_length", "hash_ids"} {
		if !seen[i] && (i > 0 || !row.delayed) {
			return row, problem{what: name + " is missing", hint: "every row needs timestamp (or delay), input_length, output_length and hash_ids"}
		}
	}
	return row, checkIDs(&row.Request, PartialCounted, size)
}

// checkIDs refuses a prompt that has not one id a block.
func checkIDs(r *Request, p Partial, size int) error {
	want := p.ids(r.Input, size)
	if len(r.Blocks) == want {
		return nil
	}
	hint := fmt.Sprintf("one id for each %d tokens, the partial last block included", size)
	if p == PartialDropped {
		hint = fmt.Sprintf("one id for each full block of %d tokens", size)
	}
	for other := 16; other <= 1024; other *= 2 {
		if p.ids(r.Input, other) == len(r.Blocks) {
			hint += fmt.Sprintf("; blocks of %d tokens would fit: give --block-size %d", other, other)
			break
		}
	}
	return problem{what: fmt.Sprintf("%d hash_ids for %d prompt tokens, expected %d", len(r.Blocks), r.Input, want), hint: hint}
}
