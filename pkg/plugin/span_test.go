package plugin

import (
	"testing"

	"gatewayd/pkg/router"
)

func TestSpansOfSampledCalls(t *testing.T) {
	got := make(chan []Span, 100)
	s := spec("good", "faulty")
	s.OnSpans = func(plugin string, spans []Span) {
		if plugin != "test" {
			t.Error(plugin)
		}
		got <- spans
	}
	i := opened(t, s)
	trace := TraceContext{TraceID: [16]byte{1, 15: 2}, SpanID: [8]byte{3, 7: 4}, Sampled: true}
	unsampled := trace
	unsampled.Sampled = false

	for _, tc := range []TraceContext{unsampled, trace} {
		if _, err := i.RouteContext(t.Context(), request("x"), tc); err != nil {
			t.Fatal(err)
		}
		if _, err := i.PlanContext(t.Context(), router.PlanInput{Pool: "a note"}, tc); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := i.PlanContext(t.Context(), router.PlanInput{Pool: "error"}, trace); err == nil {
		t.Fatal("no error")
	}
	wants := []struct {
		name, fault, key, value string
	}{
		{SpanRoute, "", AttrVerdict, "route"},
		{SpanRoute, "", AttrReason, "x"},
		{SpanPlan, "", AttrNote, "a note"},
		{SpanPlan, "no plan today", AttrStrategy, "faulty"},
	}
	seen := map[[8]byte]Span{}
	for len(seen) < 3 {
		for _, s := range receive(t, "spans", got) {
			seen[s.SpanID] = s
			if s.TraceID != trace.TraceID || s.ParentID != trace.SpanID || s.SpanID == trace.SpanID || s.SpanID == [8]byte{} {
				t.Errorf("%s is %x of %x in %x", s.Name, s.SpanID, s.ParentID, s.TraceID)
			}
			if s.Start.IsZero() || s.End.Before(s.Start) {
				t.Errorf("%s lasts from %v to %v", s.Name, s.Start, s.End)
			}
			if attribute(s, AttrPool).Text != "pool" || attribute(s, AttrVersion).Text != "0" || *attribute(s, AttrInstance).Number != 1 {
				t.Errorf("%s has the attributes %+v", s.Name, s.Attributes)
			}
		}
	}
	for _, want := range wants {
		found := false
		for _, s := range seen {
			found = found || s.Name == want.name && s.Error == want.fault && attribute(s, want.key).Text == want.value
		}
		if !found {
			t.Errorf("no span is %+v; there are %+v", want, seen)
		}
	}
	if len(got) > 0 {
		t.Errorf("there are more spans: %+v", <-got)
	}
}

func attribute(s Span, key string) Attribute {
	for _, a := range s.Attributes {
		if a.Key == key {
			return a
		}
	}
	return Attribute{Number: new(int64)}
}
