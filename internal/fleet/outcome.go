package fleet

// Outcome is what became of one attempt at a worker, as far as it says
// something about the worker. Nothing is to be reported when the client went
// away, and for answers with a 4xx status other than 404: those say nothing.
type Outcome uint8

const (
	Served      Outcome = iota // it answered as asked
	Refused                    // it refused the connection: nobody listens there
	Unreachable                // no connection within the time limit
	Broken                     // it broke, stalled or timed out an answer, or its status was 5xx
	Missing                    // it answered 404: its model list may have changed
)

// String returns the outcome's name as used in logs.
func (o Outcome) String() string {
	if int(o) < len(outcomes) {
		return outcomes[o]
	}
	return "unknown"
}

var outcomes = [...]string{"served", "refused", "unreachable", "broken", "missing"}
