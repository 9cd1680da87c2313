package engine

import (
	"encoding/json"
	"strconv"
)

// Figure is a number that may be unknown. The zero Figure is unknown, which is
// not the same as a known zero. In JSON an unknown Figure is null.
type Figure struct {
	value float64
	known bool
}

// Known returns the Figure of a known value.
func Known(value float64) Figure { return Figure{value: value, known: true} }

// Value returns the number and whether it is known; it is 0 when unknown.
func (f Figure) Value() (value float64, known bool) { return f.value, f.known }

// Or returns the number, or fallback when it is unknown.
func (f Figure) Or(fallback float64) float64 {
	if f.known {
		return f.value
	}
	return fallback
}

// String returns the shortest decimal form, or "unknown".
func (f Figure) String() string {
	if !f.known {
		return "unknown"
	}
	return strconv.FormatFloat(f.value, 'g', -1, 64)
}

// MarshalJSON writes a number, or null when unknown.
func (f Figure) MarshalJSON() ([]byte, error) {
	if !f.known {
		return []byte("null"), nil
	}
	return json.Marshal(f.value)
}

// UnmarshalJSON reads a number, or null as unknown.
func (f *Figure) UnmarshalJSON(data []byte) error {
	var value *float64
	if err := json.Unmarshal(data, &value); err != nil {
		return err
	}
	*f = Figure{}
	if value != nil {
		*f = Known(*value)
	}
	return nil
}
