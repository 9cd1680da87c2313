package router

// Feature is one input of a cost row. The list is closed and versioned: a new
// feature gets the next number and a new FeatureVersion.
type Feature uint8

// FeatureVersion is the version of the list of features.
const FeatureVersion = 2

const (
	One             Feature = iota // the constant 1
	InFlight                       // requests in flight at the worker, with what peers are likely to have added since they told
	QueuedTokens                   // uncached prompt tokens without a first token yet, with the same
	InputTokens                    // prompt tokens of the request
	OutputTokens                   // min(max_tokens, the pool's mean output)
	Uncached                       // prompt tokens of the request not in the worker's cache
	UncachedByBatch                // Uncached * (InFlight + 1)
	Idle                           // 1 if nothing is in flight at the worker, else 0
	IdleOutput                     // Idle * OutputTokens
	KVUsed                         // share of the KV cache in use; the mean of the known ones if unknown
	WorkingSet                     // tokens of the keys seen at the worker within the window
	Missed                         // uncached prompt tokens dispatched to the worker, halved every ten windows
	numFeatures
)

var featureNames = [numFeatures]string{
	"1", "in_flight", "queued_tokens", "input", "output", "uncached",
	"uncached*(in_flight+1)", "idle", "idle*output", "kv_used", "working_set", "missed",
}

// String returns the feature's name.
func (f Feature) String() string {
	if f < numFeatures {
		return featureNames[f]
	}
	return "unknown"
}

// Term weighs one feature, with one weight for all workers or one per worker
// of the plan (in the order of Plan.Workers).
type Term struct {
	Feature Feature
	Weights []float64
}

// Row is a linear cost: the sum over its terms of weight times feature.
type Row []Term
