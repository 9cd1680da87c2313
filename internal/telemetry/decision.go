package telemetry

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// DecisionSpan is the span of one choice of a worker. The zero DecisionSpan
// does nothing.
type DecisionSpan struct{ span trace.Span }

// DecisionResult is what was decided, and why.
type DecisionResult struct {
	Verdict     string  // route, wait, refuse
	Strategy    string  // that decided
	Version     string  // its version
	Reason      string  // its reason
	PlanVersion uint64  // of the plan that was asked; 0 = none
	Plan        SpanRef // the span of that plan's making, to link to
	Candidates  int     // workers to choose from
	Rank        int     // of the chosen one in the strategy's ranking; 0 = first choice
	Worker      string  // the chosen one; "" = none
	Fallback    string  // why an earlier strategy of the chain gave no answer; "" = none failed
}

// StartDecision begins the INTERNAL span of a decision, as a child of the span in ctx.
func (t *Telemetry) StartDecision(ctx context.Context) (context.Context, DecisionSpan) {
	if t.tracer == nil {
		return ctx, DecisionSpan{}
	}
	ctx, span := t.child(ctx, SpanDecide, t.internal)
	return ctx, DecisionSpan{span}
}

// Ref names the span: it is the parent of the spans of plugins that are asked
// for this decision.
func (s DecisionSpan) Ref() SpanRef { return refOf(s.span) }

// End ends the span. Call it exactly once.
func (s DecisionSpan) End(r DecisionResult) {
	if s.span == nil {
		return
	}
	if s.span.IsRecording() {
		attrs := make([]attribute.KeyValue, 0, 9)
		attrs = append(attrs, attrCandidates.Int(r.Candidates))
		attrs = appendText(attrs, attrVerdict, r.Verdict)
		attrs = appendText(attrs, attrStrategy, r.Strategy)
		attrs = appendText(attrs, attrStrategyVersion, r.Version)
		attrs = appendText(attrs, attrReason, r.Reason)
		attrs = appendText(attrs, attrFallback, r.Fallback)
		if r.PlanVersion != 0 {
			attrs = append(attrs, attrPlanVersion.Int64(int64(r.PlanVersion)))
		}
		if r.Worker != "" {
			attrs = appendText(append(attrs, attrRank.Int(r.Rank)), attrWorker, r.Worker)
		} else if r.Verdict == "refuse" {
			s.span.SetStatus(codes.Error, clean(r.Reason))
		}
		s.span.SetAttributes(attrs...)
		if r.Plan.Sampled && r.Plan.Valid() {
			s.span.AddLink(trace.Link{SpanContext: r.Plan.context()})
		}
	}
	s.span.End()
}
