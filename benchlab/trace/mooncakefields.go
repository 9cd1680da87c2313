package trace

import (
	"time"

	"github.com/tidwall/gjson"
)

// field reads one field of a row into it and says which place of seen it has.
func (row *mooncakeRow) field(key string, v gjson.Result) (place int, err error) {
	var d time.Duration
	switch key {
	case "timestamp", "created_time":
		row.At, err = span(key, v, time.Millisecond)
		return 0, err
	case "input_length", "input_tokens":
		row.Input, err = tokens(key, v)
		return 1, err
	case "output_length", "output_tokens":
		row.Output, err = tokens(key, v)
		return 2, err
	case "hash_ids":
		row.Blocks, err = ids(key, v)
		return 3, err
	case "session_id":
		row.session, err = name(key, v, "leave it out of all rows to have sessions inferred")
		row.hasSession = true
		return 4, err
	case "delay", "delay_ms":
		d, err = span(key, v, time.Millisecond)
		row.Think += d
		return 5, err
	case "request_id":
		row.ID, err = name(key, v, "give each request an id of its own, or none")
		row.ID = unquoted(row.ID)
		return 6, err
	case "wait_for":
		row.waits, err = requestIDs(key, v)
		row.isGraph = true
		return 7, err
	case "tool_wait_ms":
		d, err = span(key, v, time.Millisecond)
		row.Think += d
		return 8, err
	case "branches", "prefix_reset":
		return -1, nil // wait_for and hash_ids say the same
	}
	row.strange = append(row.strange, key)
	return -1, nil
}

// requestIDs reads a list of ids of requests.
func requestIDs(key string, v gjson.Result) (list []string, err error) {
	if v.Type == gjson.Null {
		return nil, nil
	}
	if !v.IsArray() {
		return nil, problem{what: key + " is not a list", hint: "a list of ids of requests"}
	}
	v.ForEach(func(_, e gjson.Result) bool {
		var id string
		if id, err = name(key, e, "a list of ids of requests"); err != nil {
			return false
		}
		list = append(list, unquoted(id))
		return len(list) <= maxWaits
	})
	if err == nil && len(list) > maxWaits {
		err = problem{what: key + " has too many ids", hint: "a request can wait for 1024 others"}
	}
	return list, err
}

// maxWaits bounds the requests that one request waits for.
const maxWaits = 1024

// unquoted is the text of a name, whether a string or a number.
func unquoted(raw string) string { return gjson.Parse(raw).String() }
