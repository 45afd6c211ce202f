package main

import (
	"context"
	"errors"
	"net/http"
	"sync"

	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric/noop"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	forge "github.com/forge-sdk/forge-go"
)

// traceWith returns a transport that makes a span of provider for each request.
func traceWith(provider trace.TracerProvider) http.RoundTripper {
	base := http.DefaultTransport.(*http.Transport).Clone()
	// The client sets its limits on an *http.Transport only, and two idle connections are too few.
	base.MaxIdleConns, base.MaxIdleConnsPerHost = 0, 512
	return otelhttp.NewTransport(described{base},
		otelhttp.WithTracerProvider(provider), otelhttp.WithSpanNameFormatter(spanName),
		// otelhttp's metrics end at the response header and do not know routes. Those of metrics.go do,
		// and the same histogram from both would count each request twice.
		otelhttp.WithMeterProvider(noop.NewMeterProvider()))
}

// spanName returns the method and the route. The address would make a name for each issue.
func spanName(_ string, r *http.Request) string {
	if route, ok := forge.RouteFromContext(r.Context()); ok {
		return r.Method + " " + route.Template
	}
	return r.Method // the refresh of an OAuth token
}

// described adds to otelhttp's spans what the conventions want and otelhttp does not know. It
// removes the query from the URL: it may hold search terms and, after a redirect, the signature of
// a storage server.
type described struct{ http.RoundTripper }

func (d described) RoundTrip(r *http.Request) (*http.Response, error) {
	address := *r.URL
	address.User, address.RawQuery = nil, ""
	attributes := []attribute.KeyValue{semconv.URLFull(address.String()), semconv.ServerPort(portOf(r.URL))}
	if route, ok := forge.RouteFromContext(r.Context()); ok {
		attributes = append(attributes, semconv.URLTemplate(route.Template))
	}
	if sent, traced := r.Context().Value(sentKey{}).(*sentRequests); traced {
		if resends := sent.count(r); resends > 0 {
			attributes = append(attributes, semconv.HTTPRequestResendCount(resends))
		}
	}
	trace.SpanFromContext(r.Context()).SetAttributes(attributes...)
	return d.RoundTripper.RoundTrip(r)
}

// sentRequests counts how often each request of a call was sent: by its method and URL, since the
// pages of a list are several requests.
type sentRequests struct {
	mu    sync.Mutex
	times map[string]int
}

// sentKey is the context key of the sentRequests of a call.
type sentKey struct{}

// count counts a request, and returns how often it was sent before.
func (s *sentRequests) count(r *http.Request) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.times[r.Method+r.URL.String()]++
	return s.times[r.Method+r.URL.String()] - 1
}

// noteRetry adds an event to the span of the call before each retry. It is called after each
// attempt, with the context of the call.
func noteRetry(ctx context.Context, a forge.Attempt) {
	if a.WaitAfter == 0 {
		return
	}
	trace.SpanFromContext(ctx).AddEvent("retry", trace.WithAttributes(
		semconv.HTTPRequestResendCount(a.Number), semconv.HTTPResponseStatusCode(a.Status),
		semconv.HTTPResponseHeader("x-request-id", a.RequestID), attribute.Float64("forge.retry.wait", a.WaitAfter.Seconds())))
}

// traced makes a call in its own span. The spans of its requests are below it.
func traced[T any](ctx context.Context, tracer trace.Tracer, name string, call func(ctx context.Context) (T, error)) (T, error) {
	ctx, span := tracer.Start(ctx, name)
	result, err := call(context.WithValue(ctx, sentKey{}, &sentRequests{times: map[string]int{}}))
	end(span, err)
	return result, err
}

// end ends a span. The client's error texts hold no secrets, so they may be recorded.
func end(span trace.Span, err error) {
	if err != nil && !errors.Is(err, forge.ErrNotModified) {
		span.RecordError(err)
		span.SetStatus(codes.Error, err.Error())
	}
	span.End()
}
