package report

// Timing is the wall-clock time of a result. It differs from run to run and from
// machine to machine.
type Timing struct {
	Seconds    float64         `json:"seconds"`    // from beginning to end
	Requests   int             `json:"requests"`   // simulated in all
	Processors int             `json:"processors"` // that worked side by side
	Contenders []ContenderTime `json:"contenders"`
}

// ContenderTime is the time of one contender, all seeds together.
type ContenderTime struct {
	Name    string  `json:"name"`
	Seconds float64 `json:"seconds"` // of its simulations
	// PerRequest is the simulation's time a request, decisions included.
	PerRequest float64    `json:"seconds_per_request"`
	Calls      []CallTime `json:"calls"`
}

// CallTime is how long calls to one strategy took.
type CallTime struct {
	Strategy string  `json:"strategy"`
	Call     string  `json:"call"` // route or plan
	Count    int     `json:"count"`
	Mean     float64 `json:"mean_s"`
	P99      float64 `json:"p99_s"` // an upper bound, at most 10 % too high
	Max      float64 `json:"max_s"`
}

// Reproducible returns the comparison without what differs from run to run.
func (c *Comparison) Reproducible() *Comparison {
	same := *c
	same.Timing = nil
	if c.Capacity != nil {
		same.Capacity = c.Capacity.Reproducible()
	}
	return &same
}

// Reproducible returns the sweep without what differs from run to run.
func (s *Sweep) Reproducible() *Sweep {
	same := *s
	same.Timing = nil
	return &same
}
