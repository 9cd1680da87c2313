package plugin

import "time"

// Phase is what a supervised process is doing.
type Phase uint8

const (
	Starting    Phase = iota // it is being started
	Up                       // it serves
	Down                     // it has ended or did not start; the next start waits
	Quarantined              // it has ended too often; the next start waits long
	Stopped                  // the supervisor is closed
)

// String returns the phase's name as used in logs and metrics.
func (p Phase) String() string {
	return [...]string{"starting", "up", "down", "quarantined", "stopped"}[min(p, Stopped)]
}

// State is what became of a supervised process.
type State struct {
	Plugin   string // Spec.Name
	Phase    Phase
	Pid      int           // 0 unless up
	Restarts int           // starts after the first one that succeeded
	Err      error         // why it is down, or which instances could not be reopened
	Wait     time.Duration // when down or quarantined: until the next start
}
