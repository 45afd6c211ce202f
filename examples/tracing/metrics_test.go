package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/forgetest"
)

// bounds are the bucket boundaries that the conventions recommend, in seconds.
var bounds = []float64{0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10}

// collect returns the points of the only metric, after it has checked its name and unit.
func collect(t *testing.T, reader *sdkmetric.ManualReader) []metricdata.HistogramDataPoint[float64] {
	t.Helper()
	var all metricdata.ResourceMetrics
	require.NoError(t, reader.Collect(t.Context(), &all))
	require.Len(t, all.ScopeMetrics, 1, "otelhttp records no metrics of its own")
	assert.Equal(t, "github.com/forge-sdk/forge-go", all.ScopeMetrics[0].Scope.Name)
	require.Len(t, all.ScopeMetrics[0].Metrics, 1)
	m := all.ScopeMetrics[0].Metrics[0]
	assert.Equal(t, "http.client.request.duration", m.Name)
	assert.Equal(t, "s", m.Unit)
	assert.Equal(t, "Duration of HTTP client requests.", m.Description)
	histogram, ok := m.Data.(metricdata.Histogram[float64])
	require.True(t, ok, "%T", m.Data)
	for _, point := range histogram.DataPoints {
		assert.Equal(t, bounds, point.Bounds)
	}
	return histogram.DataPoints
}

// TestMetrics checks the histogram of a run with a 502, the retry of it, and a 404.
func TestMetrics(t *testing.T) {
	srv := forgetest.New(t)
	srv.AddGroup("acme")
	srv.Fail("GET /namespaces/:id", forgetest.Status(http.StatusBadGateway).Times(1))
	reader := sdkmetric.NewManualReader()
	meters := sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))
	global := otel.GetMeterProvider()
	otel.SetMeterProvider(meters) // as services do; otelhttp would record its metrics there
	t.Cleanup(func() { otel.SetMeterProvider(global) })
	transport := traceWith(sdktrace.NewTracerProvider())
	client, err := observe(srv.Client(forge.WithHTTPClient(&http.Client{Transport: transport})), meters)
	require.NoError(t, err)

	started := time.Now()
	for range 3 {
		_, err = client.Namespaces.Get(t.Context(), forge.Path("acme"))
		require.NoError(t, err)
	}
	_, err = client.Namespaces.Get(t.Context(), forge.Path("no-such-group"))
	require.ErrorIs(t, err, forge.ErrNotFound)
	elapsed := time.Since(started).Seconds()

	server, err := url.Parse(srv.URL)
	require.NoError(t, err)
	port, err := strconv.ParseInt(server.Port(), 10, 64)
	require.NoError(t, err)
	common := map[string]any{
		"http.request.method": "GET", "server.address": "127.0.0.1", "server.port": port, "url.template": "/namespaces/:id",
	}
	counts := map[int64]uint64{}
	for _, point := range collect(t, reader) {
		got := attributesOf(point.Attributes.ToSlice())
		status, _ := got["http.response.status_code"].(int64)
		want := merge(common, map[string]any{"http.response.status_code": status})
		if status != http.StatusOK {
			want["error.type"] = strconv.FormatInt(status, 10)
		}
		assert.Equal(t, want, got)
		assert.Greater(t, point.Sum, 0.0)
		assert.Less(t, point.Sum, elapsed, "the unit is the second")
		counts[status] = point.Count
	}
	assert.Equal(t, map[int64]uint64{502: 1, 200: 3, 404: 1}, counts)
}

// TestMetricValues checks what is recorded of given attempts.
func TestMetricValues(t *testing.T) {
	for name, test := range map[string]struct {
		attempt forge.Attempt
		server  string
		want    map[string]any
	}{
		"success":            {forge.Attempt{Status: 201}, "https://forge.example.com/api/v4", map[string]any{"server.port": int64(443), "http.response.status_code": int64(201)}},
		"http":               {forge.Attempt{Status: 304}, "http://forge.example.com", map[string]any{"server.port": int64(80), "http.response.status_code": int64(304)}},
		"port":               {forge.Attempt{Status: 200}, "https://forge.example.com:8443", map[string]any{"server.port": int64(8443), "http.response.status_code": int64(200)}},
		"refused":            {forge.Attempt{Err: errors.New("connection refused")}, "https://forge.example.com", map[string]any{"server.port": int64(443), "error.type": "no_response"}},
		"silent":             {forge.Attempt{Err: fmt.Errorf("gone: %w", forge.ErrTimeout)}, "https://forge.example.com", map[string]any{"server.port": int64(443), "error.type": "timeout"}},
		"deadline":           {forge.Attempt{Status: 200, Err: context.DeadlineExceeded}, "https://forge.example.com", map[string]any{"server.port": int64(443), "http.response.status_code": int64(200), "error.type": "timeout"}},
		"sign-in page":       {forge.Attempt{Status: 200, Err: forge.ErrInvalidResponse}, "https://forge.example.com", map[string]any{"server.port": int64(443), "http.response.status_code": int64(200), "error.type": "unusable_response"}},
		"server error":       {forge.Attempt{Status: 500, Err: forge.ErrServer}, "https://forge.example.com", map[string]any{"server.port": int64(443), "http.response.status_code": int64(500), "error.type": "500"}},
		"canceled by caller": {forge.Attempt{Err: fmt.Errorf("ended: %w", context.Canceled)}, "https://forge.example.com", map[string]any{"server.port": int64(443)}},
	} {
		t.Run(name, func(t *testing.T) {
			reader := sdkmetric.NewManualReader()
			server, err := url.Parse(test.server)
			require.NoError(t, err)
			measure, err := measureWith(sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)), server)
			require.NoError(t, err)
			test.attempt.Method, test.attempt.Route, test.attempt.Path = "PUT", "/user/:id", "/user/7"
			test.attempt.Duration = 30 * time.Millisecond
			measure(t.Context(), test.attempt)
			points := collect(t, reader)
			require.Len(t, points, 1)
			assert.Equal(t, merge(test.want, map[string]any{
				"http.request.method": "PUT", "server.address": "forge.example.com", "url.template": "/user/:id",
			}), attributesOf(points[0].Attributes.ToSlice()))
			assert.Equal(t, uint64(1), points[0].Count)
			assert.InDelta(t, 0.03, points[0].Sum, 1e-9)
			assert.Equal(t, uint64(1), points[0].BucketCounts[3], "between 0.025 and 0.05")
		})
	}
}
