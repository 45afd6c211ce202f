package main

import (
	"context"
	"net/http"

	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	forge "github.com/forge-sdk/forge-go"
)

// traceWith returns options that make a span of provider for each request, and add an event to the
// call's span before each retry.
func traceWith(provider trace.TracerProvider) []forge.Option {
	base := http.DefaultTransport.(*http.Transport).Clone()
	// The client sets its limits on an *http.Transport only, and two idle connections are too few.
	base.MaxIdleConns, base.MaxIdleConnsPerHost = 0, 512
	return []forge.Option{
		forge.WithHTTPClient(&http.Client{Transport: otelhttp.NewTransport(described{base},
			otelhttp.WithTracerProvider(provider), otelhttp.WithSpanNameFormatter(spanName))}),
		forge.WithOnAttempt(noteRetry),
	}
}

// spanName returns the method and the route. The address would make a name for each issue.
func spanName(_ string, r *http.Request) string {
	if route, ok := forge.RouteFromContext(r.Context()); ok {
		return route.Method + " " + route.Template
	}
	return r.Method // the refresh of an OAuth token
}

// described corrects the URL that otelhttp records: its query may hold search terms, and after a
// redirect the signature of a storage server.
type described struct{ http.RoundTripper }

func (d described) RoundTrip(r *http.Request) (*http.Response, error) {
	address := *r.URL
	address.RawQuery = ""
	attributes := []attribute.KeyValue{attribute.String("url.full", address.String())}
	if route, ok := forge.RouteFromContext(r.Context()); ok {
		attributes = append(attributes, attribute.String("url.template", route.Template))
	}
	trace.SpanFromContext(r.Context()).SetAttributes(attributes...)
	return d.RoundTripper.RoundTrip(r)
}

// noteRetry is called after each attempt, with the context of the call. The call's span is the
// parent of the requests' spans.
func noteRetry(ctx context.Context, attempt forge.Attempt) {
	if attempt.WaitAfter == 0 {
		return
	}
	trace.SpanFromContext(ctx).AddEvent("retry", trace.WithAttributes(attribute.Int("attempt", attempt.Number),
		attribute.Int("status", attempt.Status), attribute.Stringer("wait", attempt.WaitAfter), attribute.String("request_id", attempt.RequestID)))
}

// traced makes a call in its own span, which groups its requests.
func traced[T any](ctx context.Context, tracer trace.Tracer, name string, call func(ctx context.Context) (T, error)) (T, error) {
	ctx, span := tracer.Start(ctx, name)
	result, err := call(ctx)
	end(span, err)
	return result, err
}

// end ends a span. The client's error texts hold no secrets, so they may be recorded.
func end(span trace.Span, err error) {
	if err != nil && !forge.IsNotModified(err) {
		span.RecordError(err)
		span.SetStatus(codes.Error, err.Error())
	}
	span.End()
}
