package cacheroute

import (
	"math"
	"time"

	"gatewayd/pkg/router"
)

// often is the least time between two plans, as a part of the half-life of the
// rates; the most is the half-life itself.
const often = 1.0 / 12

// lasting is the time after which loads will have drifted by as much as the bound
// allows, if they go on as since the previous plan. Of how far they are from what
// was expected then, the part is left out that chance has in two estimates of the
// same rate. stale is what the workers carry now with the homes of that plan. It
// is 0, which leaves it to the host, if nothing can be compared.
func (p Planned) lasting(in router.PlanInput, stale Placement) time.Duration {
	before := in.Previous
	if before == nil || p.HalfLife == 0 || in.PreviousAge <= 0 || len(before.Expected) != len(p.IDs) || len(before.Workers) != len(p.IDs) {
		return 0
	}
	then, now := 0.0, 0.0
	for w, id := range p.IDs {
		if before.Workers[w].ID != id {
			return 0
		}
		then, now = then+before.Expected[w], now+stale.Load[w]*p.speed(w)
	}
	if !(then > 0 && now > 0) {
		return 0
	}
	n, drift := float64(len(p.IDs)), 0.0
	for w := range p.IDs {
		off := n * (stale.Load[w]*p.speed(w)/now - before.Expected[w]/then)
		drift += off * off / n
	}
	age := in.PreviousAge.Seconds()
	drift -= n / now * math.Ln2 / p.HalfLife * (1 - math.Exp2(-age/p.HalfLife))
	seconds := p.HalfLife
	if drift > 0 {
		seconds = age * (p.Bound - 1) * (p.Bound - 1) / drift
	}
	return time.Duration(min(max(seconds, often*p.HalfLife), p.HalfLife) * float64(time.Second))
}
