package paper

// The figures of the paper's tables.

func values(v ...float64) (out []Published) {
	for _, x := range v {
		out = append(out, Published{Mean: x})
	}
	return out
}

// publishedHeadline is Table 1: KV hit, capacity at 3.5 s and 5 s, p99 of TTFT at
// 100 QPS; 5 paired seeds.
func publishedHeadline() map[string][]Published {
	return map[string][]Published{
		flat.name:       {{0.641, 0.013}, {42, 20}, {80, 0}, {5.7, 0}},
		sticky.name:     {{0.873, 0.024}, {30, 0}, {42, 20}, {8.5, 0}},
		bounded.name:    {{0.756, 0.008}, {64, 11}, {128, 14}, {3.8, 0}},
		dualmap.name:    {{0.887, 0.019}, {58, 22}, {84, 32}, {5.3, 0}},
		preble.name:     {{0.720, 0.007}, {76, 11}, {140, 0}, {3.8, 0}},
		cacheroute.name: {{0.932, 0.005}, {176, 11}, {180, 0}, {1.8, 0}},
	}
}

// publishedSets is Table 3: capacity at 3.5 s by size of the active set.
func publishedSets() map[string][]Published {
	return map[string][]Published{
		flat.name:       values(500, 500, 500, 240, 160, 100),
		sticky.name:     values(100, 100, 160, 240, 240, 360),
		bounded.name:    values(500, 360, 360, 360, 240, 160),
		dualmap.name:    values(100, 100, 160, 360, 360, 360),
		preble.name:     values(500, 360, 360, 360, 360, 160),
		cacheroute.name: values(500, 500, 500, 500, 500, 360),
	}
}

// publishedAblation is Table 4: KV hit, imbalance, capacity at 3.5 s; 3 seeds.
func publishedAblation() map[string][]Published {
	return map[string][]Published{
		flat.name:        {{0.56, 0.019}, {1.00, 0}, {240, 0}},
		affinity.name:    {{0.88, 0.015}, {3.46, 0}, {240, 0}},
		replication.name: {{0.88, 0.016}, {2.60, 0}, {240, 0}},
		balanced.name:    {{0.90, 0.010}, {1.24, 0}, {500, 0}},
	}
}
