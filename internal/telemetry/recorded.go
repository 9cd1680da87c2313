package telemetry

import "github.com/prometheus/client_golang/prometheus"

// Recording is what became of a request that was to be written down.
type Recording uint8

// What can become of a request that is to be written down.
const (
	RecordWritten Recording = iota
	RecordDropped           // too many waited to be written
	RecordFailed            // the file could not be written
	numRecorded
)

var recordings = [numRecorded]string{"written", "dropped", "failed"}

func newRecorded(r *registry) (all [numRecorded]prometheus.Counter) {
	vec := r.counter(MetricRecorded, "Requests to be written down for benchlab, by what became of that.", labelResult)
	for i, name := range recordings {
		all[i] = vec.WithLabelValues(name)
	}
	return all
}

// Recorded counts a request that was to be written down.
func (m *Metrics) Recorded(r Recording) {
	if r < numRecorded {
		m.recorded[r].Inc()
	}
}
