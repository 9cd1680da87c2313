package trace

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// Mooncake's form (github.com/kvcache-ai/Mooncake, FAST25-release/traces): one
// JSON object a line with timestamp (ms), input_length and output_length
// (tokens) and hash_ids, one chained id for each 512 prompt tokens, a partial
// last block included. session_id (a number or a string) is read where all rows
// have it; other fields are ignored and noted.

const mooncakeBlockTokens = 512

func mooncakeFormat() format {
	return format{
		name:  "mooncake",
		looks: "JSON lines with timestamp, input_length, output_length and hash_ids",
		detect: func(line []byte) bool { // RAGPulse has input_length too, but its hash_ids are an object of lists
			return line[0] == '{' && bytes.Contains(line, []byte(`"input_length"`)) &&
				!bytes.Contains(line, []byte(`"sys_prompt"`))
		},
		read: readMooncake,
	}
}

func readMooncake(l *lines) (*Trace, error) {
	t := &Trace{Name: l.name, BlockTokens: mooncakeBlockTokens, Partial: PartialCounted, Scope: ScopeGlobal}
	var (
		base, last int64
		sessions   = map[string]uint64{}
		strange    ignored
	)
	for {
		line, ok, err := l.next()
		if err != nil {
			return nil, err
		}
		if !ok {
			break
		}
		row, err := parseMooncake(line)
		if err != nil {
			var p problem
			errors.As(err, &p)
			return nil, l.refuse(p.what, p.hint)
		}
		switch first := len(t.Requests) == 0; {
		case first:
			base = row.at
		case row.at < last:
			return nil, l.refuse(fmt.Sprintf("timestamp goes back by %v", time.Duration(last-row.at)), "sort the rows by timestamp first")
		case row.hasSession != (len(sessions) > 0):
			return nil, l.refuse("session_id is in some rows and not in others", "give it in all rows or in none")
		}
		last = row.at
		if row.hasSession && sessions[row.session] == 0 {
			sessions[strings.Clone(row.session)] = uint64(len(sessions) + 1) // a clone, so as not to keep the line
		}
		strange.add(row.strange)
		row.Request.At = time.Duration(row.at - base)
		row.Request.Session = sessions[row.session]
		row.Request.Line = l.n
		t.Requests = append(t.Requests, row.Request)
	}
	t.Notes = mooncakeNotes(base, l.blank, strange)
	return t, nil
}

func mooncakeNotes(base int64, blank int, strange ignored) (notes []string) {
	if base != 0 {
		notes = append(notes, fmt.Sprintf("time moved so that the first request arrives at 0 (it was at %s ms)",
			strconv.FormatFloat(float64(base)/1e6, 'f', -1, 64)))
	}
	if blank != 0 {
		notes = append(notes, fmt.Sprintf("%d blank lines skipped", blank))
	}
	return append(notes, strange.notes()...)
}

// mooncakeRow is a request with its time in ns as recorded.
type mooncakeRow struct {
	Request
	at         int64
	session    string
	hasSession bool
	strange    []string // names of fields that are not read
}

func parseMooncake(line []byte) (row mooncakeRow, err error) {
	var whole json.RawMessage
	if err := json.Unmarshal(line, &whole); err != nil {
		return row, problem{"not JSON: " + err.Error(), "each line is one whole JSON object"}
	}
	object := gjson.ParseBytes(whole)
	if !object.IsObject() {
		return row, problem{"not a JSON object", "each line is one whole JSON object"}
	}
	var seen [5]bool
	object.ForEach(func(key, v gjson.Result) bool {
		field := -1
		switch key.Str {
		case "timestamp":
			field = 0
			row.at, err = milliseconds(v)
		case "input_length":
			field = 1
			row.Input, err = tokens(key.Str, v)
		case "output_length":
			field = 2
			row.Output, err = tokens(key.Str, v)
		case "hash_ids":
			field = 3
			row.Blocks, err = hashIDs(v)
		case "session_id":
			field = 4
			row.session, row.hasSession = v.Raw, true
			if v.Type != gjson.Number && v.Type != gjson.String {
				err = problem{"session_id is neither a number nor a string", "leave it out of all rows to have sessions inferred"}
			}
		default:
			row.strange = append(row.strange, key.Str)
			return true
		}
		if err == nil && seen[field] {
			err = problem{key.Str + " is given twice", "keep one of the two"}
		}
		seen[field] = true
		return err == nil
	})
	if err != nil {
		return row, err
	}
	for i, name := range []string{"timestamp", "input_length", "output_length", "hash_ids"} {
		if !seen[i] {
			return row, problem{name + " is missing", "every row needs timestamp, input_length, output_length and hash_ids"}
		}
	}
	if want := PartialCounted.ids(row.Input, mooncakeBlockTokens); len(row.Blocks) != want {
		return row, problem{fmt.Sprintf("%d hash_ids for %d prompt tokens, expected %d", len(row.Blocks), row.Input, want),
			fmt.Sprintf("one id for each %d tokens, the partial last block included", mooncakeBlockTokens)}
	}
	return row, nil
}
