package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
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
	if t.below == nil {
		t.below = map[trace.SpanID][]sdktrace.ReadOnlySpan{}
	}
	for _, span := range spans {
		if parent := span.Parent(); parent.IsValid() {
			t.below[parent.SpanID()] = append(t.below[parent.SpanID()], span)
			continue
		}
		t.write(span, 0)
	}
	return nil
}

// Shutdown does nothing.
func (t *tree) Shutdown(context.Context) error { return nil }

func (t *tree) write(span sdktrace.ReadOnlySpan, depth int) {
	var status, resends, retried string
	for _, a := range span.Attributes() {
		switch a.Key {
		case semconv.HTTPResponseStatusCodeKey:
			status = "  " + a.Value.String()
		case semconv.HTTPRequestResendCountKey:
			resends = ", resend " + a.Value.String()
		}
	}
	if slices.ContainsFunc(span.Events(), func(e sdktrace.Event) bool { return e.Name == "retry" }) {
		retried = "  retried"
	}
	took := span.EndTime().Sub(span.StartTime()).Round(100 * time.Microsecond)
	fmt.Fprintf(t.out, "%-58s %9s%s%s%s\n", strings.Repeat("  ", depth)+span.Name(), took, status, resends, retried)
	id := span.SpanContext().SpanID()
	for _, child := range t.below[id] {
		t.write(child, depth+1)
	}
	delete(t.below, id)
}
