package plugin

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"time"

	"gatewayd/pkg/plugin/wire"
	"gatewayd/pkg/router"
)

// Names of the spans that a plugin records of sampled calls, and of their
// attributes.
const (
	SpanPlan  = "gatewayd.plugin.plan"
	SpanRoute = "gatewayd.plugin.route"

	AttrStrategy = "gatewayd.strategy"          // text: the strategy's name
	AttrVersion  = "gatewayd.strategy.version"  // text
	AttrPool     = "gatewayd.pool"              // text
	AttrInstance = "gatewayd.strategy.instance" // number within the plugin's process
	AttrWorkers  = "gatewayd.workers"           // number of workers to choose from
	AttrVerdict  = "gatewayd.verdict"           // text: pass, route, wait or refuse
	AttrReason   = "gatewayd.reason"            // text: the decision's reason
	AttrKeys     = "gatewayd.plan.keys"         // number of keys in the plan's table
	AttrRates    = "gatewayd.plan.rates"        // number of key rates it was made from
	AttrNote     = "gatewayd.plan.note"         // text: the plan's note
)

// TraceContext is the W3C trace context of a call. Only sampled calls produce
// spans; the zero value is not sampled.
type TraceContext struct {
	TraceID [16]byte
	SpanID  [8]byte // the caller's span, the parent of the plugin's
	Sampled bool
}

// Span is a finished span that a plugin recorded.
type Span struct {
	TraceID          [16]byte
	SpanID, ParentID [8]byte
	Name             string // SpanPlan or SpanRoute
	Start, End       time.Time
	Error            string // "" if the call ended well
	Attributes       []Attribute
}

// Attribute is one attribute of a span: a number if Number is set, else a text.
type Attribute struct {
	Key    string
	Text   string
	Number *int64
}

func encodeTrace(t TraceContext) *wire.Trace {
	if !t.Sampled {
		return nil
	}
	return &wire.Trace{TraceId: t.TraceID[:], SpanId: t.SpanID[:]}
}

func text(key, value string) *wire.Attribute {
	return &wire.Attribute{Key: key, Value: &wire.Attribute_Text{Text: wire.Text(value)}}
}

func number(key string, value int) *wire.Attribute {
	return &wire.Attribute{Key: key, Value: &wire.Attribute_Number{Number: int64(value)}}
}

// newSpan starts a span of the instance under t, which may be nil: then there
// is no span.
func newSpan(t *wire.Trace, name string, s *served) *wire.Span {
	if t == nil {
		return nil
	}
	return &wire.Span{
		TraceId:  t.GetTraceId(),
		SpanId:   binary.BigEndian.AppendUint64(nil, rand.Uint64()|1),
		ParentId: t.GetSpanId(),
		Name:     name,
		Start:    time.Now().UnixNano(),
		Attributes: []*wire.Attribute{
			text(AttrStrategy, s.info.Name), text(AttrVersion, s.info.Version),
			text(AttrPool, s.pool), number(AttrInstance, int(s.id)),
		},
	}
}

// endSpan finishes span.
func endSpan(span *wire.Span, err error, attributes ...*wire.Attribute) *wire.Span {
	span.End = time.Now().UnixNano()
	if err != nil {
		span.Error = wire.Text(err.Error())
	}
	span.Attributes = append(span.Attributes, attributes...)
	return span
}

// decodeSpans returns the well-formed ones of spans.
func decodeSpans(ms []*wire.Span) []Span {
	spans := make([]Span, 0, len(ms))
	for _, m := range ms {
		if len(m.GetTraceId()) != 16 || len(m.GetSpanId()) != 8 || len(m.GetParentId()) != 8 {
			continue
		}
		s := Span{
			TraceID:  [16]byte(m.TraceId),
			SpanID:   [8]byte(m.SpanId),
			ParentID: [8]byte(m.ParentId),
			Name:     m.GetName(),
			Start:    time.Unix(0, m.GetStart()),
			End:      time.Unix(0, m.GetEnd()),
			Error:    m.GetError(),
		}
		for _, a := range m.GetAttributes() {
			attribute := Attribute{Key: a.GetKey(), Text: a.GetText()}
			if n, ok := a.GetValue().(*wire.Attribute_Number); ok {
				attribute.Number = &n.Number
			}
			s.Attributes = append(s.Attributes, attribute)
		}
		spans = append(spans, s)
	}
	return spans
}

func verdictName(v router.Verdict) string {
	names := [...]string{"pass", "route", "wait", "refuse"}
	if int(v) < len(names) {
		return names[v]
	}
	return fmt.Sprintf("verdict %d", v)
}
