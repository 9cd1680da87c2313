package fleet

import "testing"

// TestCacheUse completes what engines say of their prefix caches.
func TestCacheUse(t *testing.T) {
	known := func(v float64) Figure { return Figure{v, true} }
	for name, test := range map[string]struct {
		before, now   Sample
		queries, hits Figure
	}{
		"both counted":        {Sample{}, Sample{PromptTokens: known(9), CacheQueries: known(100), CacheHits: known(40), HitRate: known(1)}, known(100), known(40)},
		"hits counted":        {Sample{}, Sample{PromptTokens: known(900), CacheHits: known(450), HitRate: known(0)}, known(900), known(450)},
		"a rate, at first":    {Sample{}, Sample{PromptTokens: known(100), HitRate: known(0.5)}, known(100), known(50)},
		"a rate, later":       {Sample{PromptTokens: known(100), CacheHits: known(50)}, Sample{PromptTokens: known(300), HitRate: known(0.25)}, known(300), known(100)},
		"a rate, fewer":       {Sample{PromptTokens: known(100), CacheHits: known(50)}, Sample{PromptTokens: known(90), HitRate: known(1)}, known(90), known(50)},
		"a rate without size": {Sample{}, Sample{HitRate: known(0.5)}, Figure{}, Figure{}},
		"nothing":             {Sample{CacheHits: known(1)}, Sample{PromptTokens: known(5)}, Figure{}, Figure{}},
	} {
		if got := test.now.since(test.before); got.CacheQueries != test.queries || got.CacheHits != test.hits {
			t.Errorf("%s: %+v of %+v, want %+v of %+v", name, got.CacheHits, got.CacheQueries, test.hits, test.queries)
		}
	}
}
