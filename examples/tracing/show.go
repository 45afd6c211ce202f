package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/forge-sdk/forge-go/examples/internal/demo"
)

// tree is an exporter that prints traces as text. It writes a trace when its root span ends, which
// is the last to end.
type tree struct {
	out   io.Writer
	mu    sync.Mutex
	below map[trace.SpanID][]sdktrace.ReadOnlySpan // in the order in which they ended
}

// ExportSpans keeps spans until the one above them has ended.
func (t *tree) ExportSpans(_ context.Context, spans []sdktrace.ReadOnlySpan) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, span := range spans {
		if parent := span.Parent(); parent.IsValid() {
			t.below[parent.SpanID()] = append(t.below[parent.SpanID()], span)
		} else {
			t.write(span, "")
		}
	}
	return nil
}

// Shutdown does nothing.
func (t *tree) Shutdown(context.Context) error { return nil }

func (t *tree) write(span sdktrace.ReadOnlySpan, indent string) {
	var notes []string
	for _, a := range span.Attributes() {
		switch a.Key {
		case semconv.HTTPResponseStatusCodeKey:
			notes = append(notes, a.Value.String())
		case semconv.HTTPRequestResendCountKey:
			notes = append(notes, "resend "+a.Value.String())
		}
	}
	for _, event := range span.Events() {
		if event.Name == "retry" {
			notes = append(notes, "retried")
		}
	}
	slices.Sort(notes)
	took := span.EndTime().Sub(span.StartTime()).Round(100 * time.Microsecond)
	fmt.Fprintln(t.out, strings.TrimRight(fmt.Sprintf("%-58s %9s  %s", indent+span.Name(), took, strings.Join(notes, ", ")), " "))
	id := span.SpanContext().SpanID()
	for _, child := range t.below[id] {
		t.write(child, indent+"  ")
	}
	delete(t.below, id)
}

// writeTable writes the histogram as text: a line for each set of attributes, with the number of
// attempts and their mean duration.
func writeTable(out io.Writer, metrics metricdata.ResourceMetrics) {
	for _, scope := range metrics.ScopeMetrics {
		for _, m := range scope.Metrics {
			fmt.Fprintf(out, "\n%s (%s)\n", m.Name, m.Unit)
			histogram, _ := m.Data.(metricdata.Histogram[float64])
			var lines []string
			for _, point := range histogram.DataPoints {
				method, _ := point.Attributes.Value(semconv.HTTPRequestMethodKey)
				template, _ := point.Attributes.Value(semconv.URLTemplateKey)
				status, _ := point.Attributes.Value(semconv.HTTPResponseStatusCodeKey)
				lines = append(lines, fmt.Sprintf("  %-56s %3d  %-10s mean %.4f\n", method.AsString()+" "+template.AsString(), status.AsInt64(),
					demo.Count(int(point.Count), "attempt"), point.Sum/float64(point.Count)))
			}
			slices.Sort(lines) // the SDK does not order them
			fmt.Fprint(out, strings.Join(lines, ""))
		}
	}
}
