package cacheroute

import (
	"testing"
	"time"

	"gatewayd/pkg/router"
)

// TestTrial: a division that is measured to be worse than what was before is
// given up, and tried again after a while.
func TestTrial(t *testing.T) {
	at := func(minutes int) router.Time { return router.Time(0).Add(time.Duration(minutes) * time.Minute) }
	in := router.PlanInput{HalfLife: time.Minute, Reuse: router.Reuse{By: router.ByUsage, Share: 0.5}, Previous: &router.Plan{}}
	divided := Zones{Cold: []uint16{0}}
	step := func(minutes int, share float64, want bool) {
		t.Helper()
		in.Now, in.Reuse.Share = at(minutes), share
		trial := config{}.try(in)
		if trial.divide != want {
			t.Fatalf("minute %d, %.2f cached: may be divided %v, want %v (%+v)", minutes, share, trial.divide, want, trial)
		}
		zones := Zones{}
		if trial.divide {
			zones = divided
		}
		in.Previous = &router.Plan{Rest: router.Rest{Among: zones.Cold}, Trial: trial.next(in, zones)}
	}
	step(1, 0.5, true)
	step(2, 0.3, true) // caches are cold yet
	step(3, 0.3, false)
	step(4, 0.5, false)
	step(17, 0.5, false)
	step(18, 0.5, true)
	step(25, 0.495, true)
	in.Reuse.By = router.NoSignal
	step(26, 0, true) // stays as it is
	in.Reuse.By = router.ByUsage
	step(27, 0.3, false)
	in.Reuse.By = router.NoSignal
	step(60, 0, false)
}
