package metrics

import (
	"net/http"
	"reflect"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/forgetest"
)

// gather returns the metrics of a registry by name.
func gather(t *testing.T, registry *prometheus.Registry) map[string]*dto.MetricFamily {
	t.Helper()
	families, err := registry.Gather()
	require.NoError(t, err)
	byName := map[string]*dto.MetricFamily{}
	for _, family := range families {
		byName[family.GetName()] = family
	}
	return byName
}

// TestWithMetrics checks names, types, labels and values after a run with a 502, the retry of it, a
// 404, a wait that the server requested, and a lost connection.
func TestWithMetrics(t *testing.T) {
	srv := forgetest.New(t)
	srv.AddProject("acme/app").AddIssue(nil)
	srv.Fail("GET /namespaces/:id", forgetest.Status(http.StatusBadGateway).Times(1))
	srv.Fail("GET /user", forgetest.TooManyRequests(time.Second).Times(1))
	srv.Fail("GET /projects/:id/issues/:issue_iid/time_stats", forgetest.DropRequest().Times(1))
	registry := prometheus.NewPedanticRegistry()
	client, err := withMetrics(srv.Client(), registry)
	require.NoError(t, err)
	started := time.Now()
	_, err = client.Namespaces.Get(t.Context(), forge.Path("acme"))
	require.NoError(t, err)
	_, err = client.Namespaces.Get(t.Context(), forge.Path("no-such-group"))
	require.ErrorIs(t, err, forge.ErrNotFound)
	_, err = client.Issues.GetTimeStats(t.Context(), forge.Path("acme/app"), 1)
	require.NoError(t, err)
	_, err = client.Users.GetCurrent(t.Context(), nil)
	require.NoError(t, err)
	elapsed := time.Since(started).Seconds()

	metrics := gather(t, registry)
	durations := metrics["forge_attempt_duration_seconds"]
	assert.Equal(t, dto.MetricType_HISTOGRAM, durations.GetType())
	counts := map[string]uint64{}
	for _, m := range durations.GetMetric() {
		labels := map[string]string{}
		for _, pair := range m.GetLabel() {
			labels[pair.GetName()] = pair.GetValue()
		}
		counts[labels["method"]+" "+labels["route"]+" "+labels["code"]] = m.GetHistogram().GetSampleCount()
		assert.Less(t, m.GetHistogram().GetSampleSum(), elapsed, "the unit is the second")
	}
	const timeStats = "GET /projects/:id/issues/:issue_iid/time_stats"
	assert.Equal(t, map[string]uint64{
		"GET /namespaces/:id 502": 1, "GET /namespaces/:id 200": 1, "GET /namespaces/:id 404": 1,
		timeStats + " 0": 1, timeStats + " 200": 1, "GET /user 429": 1, "GET /user 200": 1,
	}, counts)

	stats := client.Stats()
	assert.Equal(t, []int64{4, 1, 7, 3, 1}, []int64{stats.Calls, stats.Failures, stats.Attempts, stats.Retries, stats.RateLimitWaits})
	want := map[string]float64{
		"forge_calls_total": 4, "forge_failures_total": 1, "forge_attempts_total": 7, "forge_retries_total": 3,
		"forge_rate_limit_waits_total": 1, "forge_rate_limit_wait_seconds_total": stats.RateLimitWaitTime.Seconds(),
		"forge_sent_bytes_total": 0, "forge_received_bytes_total": float64(stats.BytesReceived),
	}
	assert.Equal(t, len(want), reflect.TypeFor[forge.Stats]().NumField(), "each counter is exported")
	assert.Len(t, metrics, len(want)+1)
	for name, value := range want {
		family := metrics[name]
		require.NotNil(t, family, name)
		assert.Equal(t, dto.MetricType_COUNTER, family.GetType(), name)
		assert.InDelta(t, value, family.GetMetric()[0].GetCounter().GetValue(), 1e-9, name)
	}
	assert.Positive(t, stats.BytesReceived)
	assert.GreaterOrEqual(t, stats.RateLimitWaitTime, time.Second/2)
}

// A second client in the same registry is an error, not a panic.
func TestWithMetricsTwice(t *testing.T) {
	srv := forgetest.New(t)
	registry := prometheus.NewPedanticRegistry()
	_, err := withMetrics(srv.Client(), registry)
	require.NoError(t, err)
	_, err = withMetrics(srv.Client(), registry)
	require.ErrorContains(t, err, "duplicate metrics collector registration")
}
