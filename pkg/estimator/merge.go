package estimator

// Merge adds up several gateways' snapshots, each ordered by key, into one
// ordered by key. It is exact for keys that all of them track: rates add, and
// mean prompt lengths are weighted by rate. Of two marks, the one of the higher
// rate stays. The result may be one of the snapshots.
func Merge(snapshots ...[]Rate) []Rate {
	var out []Rate
	for _, s := range snapshots {
		out = mergeTwo(out, s)
	}
	return out
}

func mergeTwo(a, b []Rate) []Rate {
	if len(a) == 0 {
		return b
	}
	out := make([]Rate, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0].Key < b[0].Key:
			out, a = append(out, a[0]), a[1:]
		case a[0].Key > b[0].Key:
			out, b = append(out, b[0]), b[1:]
		default:
			sum := a[0].PerSecond + b[0].PerSecond
			tokens := 0.0
			if sum > 0 {
				tokens = (a[0].Tokens*a[0].PerSecond + b[0].Tokens*b[0].PerSecond) / sum
			}
			mark := a[0].Mark
			if mark == 0 || b[0].Mark != 0 && b[0].PerSecond > a[0].PerSecond {
				mark = b[0].Mark
			}
			out = append(out, Rate{Key: a[0].Key, PerSecond: sum, Tokens: tokens, Mark: mark})
			a, b = a[1:], b[1:]
		}
	}
	return append(append(out, a...), b...)
}
