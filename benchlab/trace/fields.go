package trace

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

const (
	maxTokens = 1_000_000_000           // of one length; more is a mistake in the file
	maxMillis = 200 * 365 * 24 * 3600e3 // 200 years, so that no sum of times overflows
)

// milliseconds gives nanoseconds.
func milliseconds(v gjson.Result) (int64, error) {
	const hint = "milliseconds from the start, 0 or more"
	if v.Type != gjson.Number {
		return 0, problem{"timestamp is not a number", hint}
	}
	if ms, err := strconv.ParseInt(v.Raw, 10, 64); err == nil && ms >= 0 && ms <= maxMillis {
		return ms * 1e6, nil
	}
	ms, err := strconv.ParseFloat(v.Raw, 64)
	if err != nil || !(ms >= 0 && ms <= maxMillis) {
		return 0, problem{"timestamp is negative or out of range: " + clip(v.Raw), hint}
	}
	return int64(math.Round(ms * 1e6)), nil
}

func tokens(name string, v gjson.Result) (int, error) {
	n, err := strconv.Atoi(v.Raw)
	if v.Type != gjson.Number || err != nil || n < 0 || n > maxTokens {
		return 0, problem{name + " is not a count of tokens: " + clip(v.Raw), fmt.Sprintf("a whole number from 0 to %d", maxTokens)}
	}
	return n, nil
}

func hashIDs(v gjson.Result) (ids []uint64, err error) {
	if !v.IsArray() {
		return nil, problem{"hash_ids is not a list", "a list of whole numbers"}
	}
	ids = make([]uint64, 0, strings.Count(v.Raw, ",")+1)
	v.ForEach(func(_, e gjson.Result) bool {
		id, parse := strconv.ParseUint(e.Raw, 10, 64)
		if e.Type != gjson.Number || parse != nil {
			err = problem{"hash_ids holds " + clip(e.Raw), "each id is a whole number from 0 to 2^64-1"}
			return false
		}
		ids = append(ids, id)
		return true
	})
	return ids, err
}
