package main

import (
	"encoding/json"
	"io"
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
