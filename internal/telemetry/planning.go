package telemetry

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// PlanSpan is the span of the making of one plan. The zero PlanSpan does nothing.
type PlanSpan struct{ span trace.Span }

// StartPlan begins the INTERNAL span of a plan, in a trace of its own.
func (t *Telemetry) StartPlan(ctx context.Context, pool, strategy string) (context.Context, PlanSpan) {
	if t.tracer == nil {
		return ctx, PlanSpan{}
	}
	ctx, span := t.tracer.Start(ctx, SpanPlan, t.root...)
	if span.IsRecording() {
		span.SetAttributes(attrPool.String(clean(pool)), attrStrategy.String(clean(strategy)))
	}
	return ctx, PlanSpan{span}
}

// Ref names the span: it is the parent of the planner's own span and what
// decisions by the plan link to.
func (s PlanSpan) Ref() SpanRef { return refOf(s.span) }

// End ends the span with what became of the plan; err is nil unless it failed
// or was refused. Call it exactly once.
func (s PlanSpan) End(result PlanResult, version uint64, keys int, err error) {
	if s.span == nil {
		return
	}
	if s.span.IsRecording() {
		attrs := []attribute.KeyValue{attrPlanResult.String(result.String()), attrPlanKeys.Int(keys)}
		if version != 0 {
			attrs = append(attrs, attrPlanVersion.Int64(int64(version)))
		}
		s.span.SetAttributes(attrs...)
		if err != nil {
			s.span.SetStatus(codes.Error, clean(err.Error()))
		}
	}
	s.span.End()
}
