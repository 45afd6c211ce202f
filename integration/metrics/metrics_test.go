package metrics

import (
	"reflect"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/forgetest"
)

// Each counter of Stats is exported, next to the durations. A second client in the same registry is
// an error, not a panic.
func TestWithMetrics(t *testing.T) {
	srv, registry := forgetest.New(t), prometheus.NewPedanticRegistry()
	client, err := withMetrics(srv.Client(), registry)
	require.NoError(t, err)
	_, err = client.Users.GetCurrent(t.Context(), nil)
	require.NoError(t, err)
	families, err := registry.Gather()
	require.NoError(t, err)
	require.Len(t, families, reflect.TypeFor[forge.Stats]().NumField()+1)
	for _, family := range families {
		switch metric := family.GetMetric()[0]; family.GetName() {
		case "forge_attempt_duration_seconds":
			assert.EqualValues(t, 1, metric.GetHistogram().GetSampleCount())
		case "forge_calls_total", "forge_attempts_total":
			assert.InDelta(t, 1, metric.GetCounter().GetValue(), 0)
		}
	}
	_, err = withMetrics(srv.Client(), registry)
	require.ErrorContains(t, err, "duplicate metrics collector registration")
}
