package trace

import (
	"fmt"
	"time"

	"github.com/tidwall/gjson"
)

// wekaSession is one line of the file.
type wekaSession struct {
	w            *weka
	line         int
	number       uint64
	id           string
	models       []string
	blockTokens  int
	toolTokens   int
	systemTokens int
	requests     gjson.Result

	rows []wekaRow // of the session, sub-agents' among them
}

// wekaRow is one call. After holds indices into the session's rows.
type wekaRow struct {
	Request
	took     time.Duration // how long the answer took
	timed    bool          // it is known
	think    time.Duration // client's delay as recorded
	hasThink bool
}

func (s *wekaSession) field(key string, v gjson.Result) (place int, err error) {
	switch key {
	case "id":
		s.id, err = name(key, v, "a string")
		return 0, err
	case "block_size":
		s.blockTokens, err = tokens(key, v)
		if err == nil && (s.blockTokens < 1 || s.blockTokens > maxBlockTokens) {
			err = problem{what: fmt.Sprintf("block_size is %d", s.blockTokens), hint: fmt.Sprintf("1 to %d tokens", maxBlockTokens)}
		}
		return 1, err
	case "hash_id_scope":
		switch v.Str {
		case "local":
		case "global":
			s.w.global++
		default:
			err = problem{what: "hash_id_scope is " + clip(v.Raw), hint: "local or global"}
		}
		return 7, err
	case "requests":
		if s.requests = v; !v.IsArray() {
			err = problem{what: key + " is not a list", hint: "a list of requests"}
		}
		return 2, err
	case "tool_tokens":
		s.toolTokens, err = tokens(key, v)
		return 3, err
	case "system_tokens":
		s.systemTokens, err = tokens(key, v)
		return 4, err
	case "models":
		v.ForEach(func(_, m gjson.Result) bool {
			s.models = append(s.models, m.String())
			return len(s.models) < 16
		})
		return 5, nil
	case "totals":
		return 6, nil // sums of what the requests say
	}
	return -1, nil
}

// maxBlockTokens bounds the block size that a file may state.
const maxBlockTokens = 1 << 14

// read reads the requests.
func (s *wekaSession) read() error {
	main := wekaAgent{s: s, spawner: -1, preamble: s.toolTokens + s.systemTokens}
	if err := each(s.requests, main.entry); err != nil {
		return err
	}
	if len(s.rows) == 0 {
		return problem{what: "a session without requests", hint: "leave it out"}
	}
	s.w.unjoined += main.waiting
	return s.hand()
}

// hand gives the session's rows to the trace.
func (s *wekaSession) hand() error {
	rows := make([]Request, len(s.rows))
	for i := range rows {
		rows[i] = s.rows[i].Request
	}
	for _, agent := range []bool{false, true} { // each kind has a preamble of its own
		var some []Request
		for i := range rows {
			if rows[i].Agent == agent {
				some = append(some, rows[i])
			}
		}
		overlap(some)
		for i := range rows {
			if rows[i].Agent == agent {
				rows[i].Blocks, some = some[0].Blocks, some[1:]
			}
		}
	}
	base := int32(len(s.w.t.Requests))
	for i := range rows {
		for k := range rows[i].After {
			rows[i].After[k] += base
		}
	}
	s.w.t.Requests = append(s.w.t.Requests, rows...)
	return nil
}

// each calls f for the entries of a list.
func each(list gjson.Result, f func(v gjson.Result) error) (err error) {
	list.ForEach(func(_, v gjson.Result) bool {
		if !v.IsObject() {
			err = problem{what: "requests holds " + clip(v.Raw), hint: "a list of objects", column: v.Index + 1}
		} else {
			err = f(v)
		}
		return err == nil
	})
	return err
}
