package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"

	"gatewayd/pkg/router"
	"gatewayd/pkg/strategies/cacheroute"
)

// placed is a plan with the table to compare it with, nil if there is none.
type placed struct {
	cacheroute.Placement
	before *router.Table
}

// planOutput is what plan prints. Lists are never null.
type planOutput struct {
	Table          planTable `json:"table"`
	ExpectedLoad   []float64 `json:"expected_load"`
	AdmittedRate   float64   `json:"admitted_rate"`
	UnadmittedRate float64   `json:"unadmitted_rate"`
	Imbalance      float64   `json:"imbalance"`
	Saturated      []uint64  `json:"saturated"`
	*planChange
}

// planChange is what plan prints besides if there is an earlier plan.
type planChange struct {
	Moved []uint64 `json:"moved"`
	Churn float64  `json:"churn"`
}

func (r placed) print(w io.Writer) error {
	out := planOutput{
		Table: planTable(r.Table), ExpectedLoad: r.Load, AdmittedRate: r.Admitted, UnadmittedRate: r.Unadmitted,
		Imbalance: r.Imbalance(), Saturated: append([]uint64{}, r.Saturated...),
	}
	if r.before != nil {
		moved, churn := cacheroute.Churn(r.before, &r.Table)
		out.planChange = &planChange{append([]uint64{}, moved...), churn}
	}
	return json.NewEncoder(w).Encode(out)
}

// planTable is written as an object of keys in ascending order.
type planTable router.Table

// MarshalJSON writes {"KEY":[WORKER,...],...}.
func (t planTable) MarshalJSON() ([]byte, error) {
	table := router.Table(t)
	b := []byte{'{'}
	for i, key := range table.Keys {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(strconv.AppendUint(append(b, '"'), key, 10), `":[`...)
		for j, m := range table.Of(i) {
			if j > 0 {
				b = append(b, ',')
			}
			b = strconv.AppendUint(b, uint64(m), 10)
		}
		b = append(b, ']')
	}
	return append(b, '}'), nil
}

// UnmarshalJSON reads what MarshalJSON writes, with keys in any order.
func (t *planTable) UnmarshalJSON(b []byte) error {
	in := json.NewDecoder(bytes.NewReader(b))
	if start, err := in.Token(); err != nil || start != json.Delim('{') {
		return errors.New(`table: it must be an object, as {"1":[0]}`)
	}
	homes := map[uint64][]uint16{}
	for in.More() {
		name, err := in.Token()
		if err != nil {
			return err
		}
		key, err := strconv.ParseUint(fmt.Sprint(name), 10, 64)
		if err != nil {
			return fmt.Errorf("table: %q is not a key of 64 bits", name)
		}
		if _, twice := homes[key]; twice {
			return fmt.Errorf("table: key %d is there twice", key)
		}
		var members []uint16
		err = in.Decode(&members)
		slices.Sort(members)
		if n := len(members); err != nil || n == 0 || len(slices.Compact(members)) < n || int(members[n-1]) >= router.MaxPlanWorkers {
			return fmt.Errorf("table: key %d must have workers from 0 to %d, each once", key, router.MaxPlanWorkers-1)
		}
		homes[key] = members
	}
	var table router.Table
	for _, key := range slices.Sorted(maps.Keys(homes)) {
		table.Append(key, homes[key]...)
	}
	*t = planTable(table)
	return nil
}
