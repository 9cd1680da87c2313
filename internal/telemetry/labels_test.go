package telemetry

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"
)

func TestOpenVocabularyTakesTheFirstValues(t *testing.T) {
	v := openVocabulary(2)
	for _, step := range []struct{ value, want string }{
		{"a", "a"}, {"b\xff", "b\uFFFD"}, {"c", Other}, {"a", "a"}, {"b\xff", "b\uFFFD"},
		{strings.Repeat("x", maxText+1), Other},
	} {
		if got := v.of(step.value); got != step.want {
			t.Errorf("of(%.20q) = %q, want %q", step.value, got, step.want)
		}
	}
}

func TestClosedVocabularyTakesAdmittedValues(t *testing.T) {
	v := closedVocabulary(2)
	if got := v.of("a"); got != Other {
		t.Errorf("before it is admitted: %q", got)
	}
	v.admit("a", "b", "c")
	for value, want := range map[string]string{"a": "a", "b": "b", "c": Other} {
		if got := v.of(value); got != want {
			t.Errorf("of(%q) = %q, want %q", value, got, want)
		}
	}
}

func TestVocabularyIsBoundedUnderConcurrency(t *testing.T) {
	v := openVocabulary(10)
	var wait sync.WaitGroup
	for g := range 8 {
		wait.Go(func() {
			for i := range 100 {
				v.of(fmt.Sprint(g, i))
			}
		})
	}
	wait.Wait()
	if n := len(v.values); n != 10 {
		t.Errorf("%d values, want 10", n)
	}
}

func TestCleanIsShortAndValid(t *testing.T) {
	for _, s := range []string{"", "plain", strings.Repeat("é", 1000), strings.Repeat("\xff", 1000), "a" + strings.Repeat("日本", 300)} {
		got := clean(s)
		if !utf8.ValidString(got) || len(got) > 3*maxText {
			t.Errorf("clean(%.10q): valid %v, %d bytes", s, utf8.ValidString(got), len(got))
		}
		if len(s) < maxText && got != s {
			t.Errorf("clean(%q) = %q", s, got)
		}
	}
}
