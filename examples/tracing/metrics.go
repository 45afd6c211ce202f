package main

import (
	"context"
	"errors"
	"net/url"
	"strconv"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/semconv/v1.43.0/httpconv"

	forge "github.com/forge-sdk/forge-go"
)

// measureWith returns a function for WithOnAttempt. It records the duration of each attempt in the
// histogram http.client.request.duration of OpenTelemetry's semantic conventions. server is the
// address of the API. Calls of RegistryNative go to other servers; RouteFromContext returns their
// service, registry_native.
func measureWith(meters metric.MeterProvider, server *url.URL) (func(context.Context, forge.Attempt), error) {
	duration, err := httpconv.NewClientRequestDuration(meters.Meter("github.com/forge-sdk/forge-go"))
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, a forge.Attempt) {
		attributes := []attribute.KeyValue{semconv.URLTemplate(a.Route)}
		if a.Status != 0 {
			attributes = append(attributes, semconv.HTTPResponseStatusCode(a.Status))
		}
		if a.Err != nil && !errors.Is(a.Err, context.Canceled) { // canceled is not an error
			attributes = append(attributes, semconv.ErrorTypeKey.String(errorType(a)))
		}
		method := httpconv.RequestMethodAttr(a.Method)
		duration.Record(ctx, a.Duration.Seconds(), method, server.Hostname(), portOf(server), attributes...)
	}, nil
}

// errorType returns the class of an attempt's error. There are few: the statuses from 400, and the
// words below.
func errorType(a forge.Attempt) string {
	switch {
	case a.Status >= 400:
		return strconv.Itoa(a.Status)
	case errors.Is(a.Err, forge.ErrTimeout), errors.Is(a.Err, context.DeadlineExceeded):
		return "timeout"
	case a.Status != 0:
		return "unusable_response"
	default:
		return "no_response"
	}
}

// portOf returns the port of an address, which may be that of its scheme.
func portOf(address *url.URL) int {
	if port, err := strconv.Atoi(address.Port()); err == nil {
		return port
	}
	if address.Scheme == "http" {
		return 80
	}
	return 443
}

// observe returns a client that records each attempt in a histogram, and each retry in the span of
// its call.
func observe(client *forge.Client, meters metric.MeterProvider) (*forge.Client, error) {
	server, err := url.Parse(client.BaseURL())
	if err != nil {
		return nil, err
	}
	measure, err := measureWith(meters, server)
	if err != nil {
		return nil, err
	}
	return client.With(forge.WithOnAttempt(func(ctx context.Context, a forge.Attempt) {
		noteRetry(ctx, a)
		measure(ctx, a)
	}))
}
