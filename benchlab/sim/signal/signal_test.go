package signal

import (
	"testing"

	"gatewayd/pkg/router"
)

// TestSignals withholds what is better and nothing else.
func TestSignals(t *testing.T) {
	reuse := router.Reuse{By: router.ByTTFT, Share: 0.5}
	for i, s := range All() {
		if again, err := Parse(s.String()); err != nil || again != s || int(s) != i {
			t.Errorf("%v is read as %v, %v", s, again, err)
		}
		u := s.Usage(router.Usage{PromptTokens: 9, OutputTokens: 2, CachedTokens: 5})
		if u.PromptTokens != 9 || u.OutputTokens != 2 || (u.CachedTokens == 5) != (s == Usage) || s != Usage && u.CachedTokens != -1 {
			t.Errorf("%v: usage %+v", s, u)
		}
		if s.Counted() != (s == Usage || s == Counters) {
			t.Errorf("%v: counters read: %v", s, s.Counted())
		}
		if in := s.Told(router.PlanInput{Now: 7, Reuse: reuse}); in.Now != 7 || (in.Reuse == reuse) != (s != None) || s == None && in.Reuse != (router.Reuse{}) {
			t.Errorf("%v: planners are told %+v", s, in.Reuse)
		}
	}
	if s, err := Parse("hearsay"); err == nil {
		t.Errorf("hearsay is read as %v", s)
	}
	if text := Signal(9).String(); text != "unknown" {
		t.Error(text)
	}
}
