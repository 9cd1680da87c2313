package replay

import (
	"fmt"
	"time"
)

// Kind is how a request ended.
type Kind uint8

// The endings of a request. All but Complete are failures.
const (
	Pending     Kind = iota // it was never sent: the replay ended before
	Complete                // the whole answer came
	Connect                 // no answer at all: there is no connection, or it broke
	TooLong                 // refused: prompt and answer exceed the model's context
	Status                  // an answer with another error status
	TimedOut                // the answer took longer than allowed
	Truncated               // the answer broke off
	InBand                  // the server told of an error inside the stream
	Empty                   // a whole answer without any content
	NotSent                 // too many requests were open: the generator could not send it
	Interrupted             // the replay was ended while it ran
	numKinds
)

var kindNames = [numKinds]string{
	"pending", "completed", "connect", "too_long", "status", "timeout", "truncated", "error_in_stream", "empty", "not_sent", "interrupted",
}

// String returns the kind's name as used in reports.
func (k Kind) String() string {
	if k < numKinds {
		return kindNames[k]
	}
	return "unknown"
}

// Outcome is what became of one request. Times count from the start of the
// replay, in seconds of the trace: wall time over the dilation. Tokens are -1
// when the server did not say.
type Outcome struct {
	Scheduled time.Duration // when it was to be sent
	Sent      time.Duration // when it was handed to the connection
	First     time.Duration // first generated content
	Last      time.Duration // last generated content
	Ended     time.Duration // end of the answer

	Prompt int32 // tokens as the server counted them
	Output int32
	Cached int32 // of the prompt, from the prefix cache

	Chunks int32         // pieces of generated content
	Gap    time.Duration // longest time between two of them
	Worker int16         // index into Result.Workers, -1 if unknown
	Status int16         // HTTP status, 0 if none came
	Kind   Kind
}

// failure names a failed request's kind, with the status where there is one.
func (o *Outcome) failure() string {
	if o.Kind == Status {
		return fmt.Sprintf("status_%d", o.Status)
	}
	return o.Kind.String()
}
