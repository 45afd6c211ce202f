// Package metrics has the Prometheus snippet of docs/observability.md.
package metrics

import (
	"context"
	"errors"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	forge "github.com/forge-sdk/forge-go"
)

// withMetrics returns a client that exports its counters, and the duration of each attempt.
func withMetrics(client *forge.Client, registry prometheus.Registerer) (*forge.Client, error) {
	durations := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "forge_attempt_duration_seconds", Help: "Duration of attempts; code 0 is no response.",
	}, []string{"method", "route", "code"})
	measured, err := client.With(forge.WithOnAttempt(func(_ context.Context, a forge.Attempt) {
		durations.WithLabelValues(a.Method, a.Route, strconv.Itoa(a.Status)).Observe(a.Duration.Seconds())
	}))
	if err != nil {
		return nil, err
	}
	return measured, errors.Join(registry.Register(durations), registry.Register(clientStats{measured}))
}

// clientStats is a collector of the counters of a client.
type clientStats struct{ client *forge.Client }

func (c clientStats) Describe(out chan<- *prometheus.Desc) { prometheus.DescribeByCollect(c, out) }

func (c clientStats) Collect(out chan<- prometheus.Metric) {
	stats := c.client.Stats()
	for name, value := range map[string]float64{
		"forge_calls_total": float64(stats.Calls), "forge_failures_total": float64(stats.Failures),
		"forge_attempts_total": float64(stats.Attempts), "forge_retries_total": float64(stats.Retries),
		"forge_rate_limit_waits_total": float64(stats.RateLimitWaits), "forge_rate_limit_wait_seconds_total": stats.RateLimitWaitTime.Seconds(),
		"forge_pacing_waits_total": float64(stats.PacingWaits), "forge_pacing_wait_seconds_total": stats.PacingWaitTime.Seconds(),
		"forge_sent_bytes_total": float64(stats.BytesSent), "forge_received_bytes_total": float64(stats.BytesReceived),
	} {
		out <- prometheus.MustNewConstMetric(prometheus.NewDesc(name, "See forge.Stats.", nil, nil), prometheus.CounterValue, value)
	}
}
