package trace

import (
	"encoding/json"
	"errors"

	"github.com/tidwall/gjson"
)

const wholeObject = "each line is one whole JSON object"

// object calls field for each field of a line that is a JSON object; field says
// which place of seen the name has, -1 for one that the reader does not know.
// Errors that are problems get the column of the field.
func object(line []byte, seen []bool, field func(key string, v gjson.Result) (place int, err error)) error {
	if !json.Valid(line) {
		return notJSON(line)
	}
	whole := gjson.ParseBytes(line)
	if !whole.IsObject() {
		return problem{what: "not a JSON object", hint: wholeObject, column: 1}
	}
	return fields(whole, seen, field)
}

// fields is object for what was parsed already.
func fields(whole gjson.Result, seen []bool, field func(key string, v gjson.Result) (place int, err error)) (err error) {
	whole.ForEach(func(key, v gjson.Result) bool {
		place := -1
		place, err = field(key.Str, v)
		if err == nil && place >= 0 {
			if seen[place] {
				err = problem{what: clip(key.Str) + " is given twice", hint: "keep one of the two"}
			}
			seen[place] = true
		}
		var p problem
		if errors.As(err, &p) && p.column == 0 {
			p.column = v.Index + 1
			err = p
		}
		return err == nil
	})
	return err
}

// notJSON says where a line stops being JSON.
func notJSON(line []byte) error {
	var v json.RawMessage
	err := json.Unmarshal(line, &v)
	p := problem{what: "not JSON", hint: wholeObject}
	if err != nil {
		p.what += ": " + err.Error()
	}
	if s, ok := errors.AsType[*json.SyntaxError](err); ok {
		p.column = int(s.Offset)
	}
	return p
}
