package telemetry

import (
	"context"
	"testing"
	"time"
)

func TestMalformedPluginSpansAreCounted(t *testing.T) {
	m := &memory{}
	telemetry := traced(t, m, nil)
	good := PluginSpan{TraceID: [16]byte{1}, SpanID: [8]byte{1}, Name: "route", Start: time.Unix(1, 0), End: time.Unix(2, 0)}
	many := good
	many.Attributes = make([]PluginAttribute, 10*maxPluginAttributes)
	if n := len(many.snapshot(nil).Attributes()); n != maxPluginAttributes {
		t.Errorf("%d attributes, want %d", n, maxPluginAttributes)
	}
	noTrace, noSpan, noName, noStart, backwards := good, good, good, good, good
	noTrace.TraceID = [16]byte{}
	noSpan.SpanID = [8]byte{}
	noName.Name = ""
	noStart.Start = time.Time{}
	backwards.End = time.Unix(0, 0)
	for i, bad := range []PluginSpan{noTrace, noSpan, noName, noStart, backwards} {
		telemetry.ExportPluginSpans("sticky", []PluginSpan{good, bad})
		if n := value(t, telemetry.Metrics, MetricSpansDropped, "reason=invalid"); n != float64(i+1) {
			t.Errorf("%v spans counted as malformed, want %d: %+v", n, i+1, bad)
		}
	}
	if err := telemetry.Shutdown(context.Background()); err != nil || m.exported() != 5 {
		t.Errorf("shutdown: %v, %d good spans exported, want 5", err, m.exported())
	}
}
