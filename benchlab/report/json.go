package report

import (
	"encoding/json"
	"fmt"
	"io"
)

// WriteJSON writes the comparison as indented JSON.
func (c *Comparison) WriteJSON(w io.Writer) error {
	return writeJSON(w, struct {
		Format string `json:"format"`
		*Comparison
	}{Format, c})
}

// WriteJSON writes the sweep as indented JSON.
func (s *Sweep) WriteJSON(w io.Writer) error {
	return writeJSON(w, struct {
		Format string `json:"format"`
		*Sweep
	}{SweepFormat, s})
}

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// Read reads what WriteJSON wrote: one of the two results is not nil.
func Read(r io.Reader) (*Comparison, *Sweep, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, nil, err
	}
	var head struct {
		Format string `json:"format"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return nil, nil, fmt.Errorf("not a result of benchlab: %w", err)
	}
	switch head.Format {
	case Format:
		c := new(Comparison)
		if err := json.Unmarshal(data, c); err != nil {
			return nil, nil, fmt.Errorf("result %s: %w", head.Format, err)
		}
		if len(c.Contenders) == 0 {
			return nil, nil, fmt.Errorf("result %s: it has no contenders", head.Format)
		}
		return c, nil, nil
	case SweepFormat:
		s := new(Sweep)
		if err := json.Unmarshal(data, s); err != nil {
			return nil, nil, fmt.Errorf("result %s: %w", head.Format, err)
		}
		if len(s.Contenders) == 0 {
			return nil, nil, fmt.Errorf("result %s: it has no contenders", head.Format)
		}
		return nil, s, nil
	}
	return nil, nil, fmt.Errorf("a result has the format %q or %q, this has %q; make it again with this benchlab", Format, SweepFormat, head.Format)
}
