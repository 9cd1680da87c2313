package telemetry

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// Catalogue lists every metric family of the gateway, ordered by name. Beside
// them /metrics has the go_* and process_* families of the Go client library.
func Catalogue() []MetricDoc {
	docs := NewMetrics("").registry.docs
	slices.SortFunc(docs, func(a, b MetricDoc) int { return strings.Compare(a.Name, b.Name) })
	return docs
}

// WriteDocs writes the catalogue as Markdown.
func WriteDocs(w io.Writer) error {
	var b strings.Builder
	b.WriteString(docsHead)
	for _, m := range Catalogue() {
		labels := "-"
		if len(m.Labels) > 0 {
			labels = "`" + strings.Join(m.Labels, "`, `") + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", m.Name, m.Type, labels, m.Help)
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write the metric catalogue: %w", err)
	}
	return nil
}

const docsHead = `# Metrics

Generated from the code; do not edit.

` + "`/metrics`" + ` on the admin listener serves these families in Prometheus' text format, and the ` + "`go_*` and `process_*`" + `
families of the Go client library beside them. With an OTLP exporter configured for metrics (the standard ` + "`OTEL_*`" + ` variables)
the same families, under the same names, are pushed too.

Label values that clients can choose come from a closed list; values which do not fit a list share the value ` + "`other`" + `.
A figure that nobody reported has no series: unknown is not zero.

| metric | type | labels | meaning |
|---|---|---|---|
`
