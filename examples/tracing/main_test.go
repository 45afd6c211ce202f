package main

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/baggage"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/examples/internal/demotest"
	"github.com/forge-sdk/forge-go/forgetest"
)

// TestDemo runs the program; what the lines say of times is not compared. On a real server it
// leaves the subscription as it was, and an interrupted run fails.
func TestDemo(t *testing.T) {
	t.Setenv("FORGE_URL", "")
	out, err := demotest.Run(t, run, "")
	require.NoError(t, err)
	const subscribe = "POST /projects/:id/issues/:issue_iid/subscribe"
	for _, want := range []string{
		`(?m)^triage `, `(?m)^  Issues\.List .*  retried$`, `(?m)^    GET /issues .*  502$`, `(?m)^    GET /issues .*  200, resend 1$`,
		`(?m)^  Issues\.Subscribe .*  retried$`, `(?m)^    ` + subscribe + ` .*  429$`, `(?m)^    ` + subscribe + ` .*  304$`,
		`(?m)^http\.client\.request\.duration \(s\)$`, `(?m)^  GET /issues +200  2 attempts mean 0\.\d{4}$`, `(?m)^  GET /issues +502  1 attempt  mean 0\.\d{4}$`,
		`(?m)^5 calls, 0 failed, 7 attempts, 2 retries, 1 wait for rate limits \(1\.\d+s\), 0 waits of pacing \(0s\), 0 bytes sent, \d+ bytes received$`,
	} {
		assert.Regexp(t, want, out)
	}
	var srv *forgetest.Server
	demotest.Interrupt(t, run, ", 0 failed,", func(t *testing.T) (*forgetest.Server, []string) {
		srv = demotest.Server(t)
		return srv, nil
	}, nil)
	srv.AssertAppliedCount(t, subscribe, 1)
	srv.AssertAppliedCount(t, "POST /projects/:id/issues/:issue_iid/unsubscribe", 1)
}

// newTraced makes a client with the code of trace.go and metrics.go, a recorder of its spans and a
// reader of its metrics.
func newTraced(t *testing.T, srv *forgetest.Server, options ...forge.Option) (*forge.Client, trace.Tracer, *tracetest.SpanRecorder, *sdkmetric.ManualReader) {
	t.Helper()
	spans, reader := tracetest.NewSpanRecorder(), sdkmetric.NewManualReader()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))
	options = append(options, forge.WithHTTPClient(&http.Client{Transport: traceWith(provider)}))
	client, err := observe(srv.Client(options...), sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)))
	require.NoError(t, err)
	return client, provider.Tracer("test"), spans, reader
}

func attributesOf(list []attribute.KeyValue) map[string]any {
	values := map[string]any{}
	for _, a := range list {
		values[string(a.Key)] = a.Value.AsInterface()
	}
	return values
}

func merge(parts ...map[string]any) map[string]any {
	all := map[string]any{}
	for _, part := range parts {
		maps.Copy(all, part)
	}
	return all
}

// pointsOf returns the points of the only metric, and checks its name and unit.
func pointsOf(t *testing.T, reader *sdkmetric.ManualReader) []metricdata.HistogramDataPoint[float64] {
	t.Helper()
	var all metricdata.ResourceMetrics
	require.NoError(t, reader.Collect(t.Context(), &all))
	require.Len(t, all.ScopeMetrics, 1, "otelhttp records no metrics of its own")
	require.Len(t, all.ScopeMetrics[0].Metrics, 1)
	m := all.ScopeMetrics[0].Metrics[0]
	assert.Equal(t, "http.client.request.duration s", m.Name+" "+m.Unit)
	histogram, ok := m.Data.(metricdata.Histogram[float64])
	require.True(t, ok, "%T", m.Data)
	return histogram.DataPoints
}

// TestConventions checks the spans and the histogram of a request that fails with 502 and is sent
// again, and of one that returns 404, against the conventions for HTTP clients.
func TestConventions(t *testing.T) {
	srv := demotest.Server(t)
	srv.Fail("GET /issues", forgetest.Status(http.StatusBadGateway).Times(1))
	client, tracer, recorder, reader := newTraced(t, srv)
	_, err := traced(t.Context(), tracer, "list", func(ctx context.Context) ([]*forge.Issue, error) {
		return forge.Collect(client.Issues.List(ctx, &forge.ListIssuesOptions{Search: "jane doe"}))
	})
	require.NoError(t, err)
	_, err = traced(t.Context(), tracer, "get", func(ctx context.Context) (*forge.Namespace, error) {
		return client.Namespaces.Get(ctx, forge.Path("acme/secret"))
	})
	require.ErrorIs(t, err, forge.ErrNotFound)

	server, err := url.Parse(srv.URL)
	require.NoError(t, err)
	port, err := strconv.ParseInt(server.Port(), 10, 64)
	require.NoError(t, err)
	common := map[string]any{"http.request.method": "GET", "server.address": "127.0.0.1", "server.port": port}
	var want, got []map[string]any
	for _, request := range []map[string]any{
		{"url.template": "/issues", "http.response.status_code": int64(502), "error.type": "502"},
		{"url.template": "/issues", "http.response.status_code": int64(200)},
		{"url.template": "/namespaces/:id", "http.response.status_code": int64(404), "error.type": "404"},
	} {
		want = append(want, merge(common, request))
	}
	for _, point := range pointsOf(t, reader) {
		got = append(got, attributesOf(point.Attributes.ToSlice()))
	}
	assert.ElementsMatch(t, want, got)

	list, get := map[string]any{"network.protocol.version": "1.1", "url.full": client.BaseURL() + "/issues"}, "/namespaces/acme%2Fsecret"
	want[0], want[1] = merge(want[0], list), merge(want[1], list, map[string]any{"http.request.resend_count": int64(1)})
	want[2] = merge(want[2], list, map[string]any{"url.full": client.BaseURL() + get})
	spans := recorder.Ended()
	require.Len(t, spans, 5)
	for i, at := range []int{0, 1, 3} {
		assert.Equal(t, want[i], attributesOf(spans[at].Attributes()))
		assert.Equal(t, "GET "+want[i]["url.template"].(string), spans[at].Name())
		assert.Equal(t, spans[[]int{2, 2, 4}[i]].SpanContext().SpanID(), spans[at].Parent().SpanID(), "below the span of the call")
	}
	require.Len(t, spans[2].Events(), 1, "the retry")
	assert.Equal(t, int64(502), attributesOf(spans[2].Events()[0].Attributes)["http.response.status_code"])
	assert.Equal(t, []codes.Code{codes.Unset, codes.Error}, []codes.Code{spans[2].Status().Code, spans[4].Status().Code},
		"a call that went well in the end is no error")
}

// TestSecrets: no span holds the token, what was searched for, or the signature of another server's
// address.
func TestSecrets(t *testing.T) {
	srv := demotest.Server(t)
	srv.Fail("GET /users/:id", forgetest.Respond(403, "application/json", `{"message": "the token `+srv.Token+` may not"}`))
	storage := forgetest.New(t)
	storage.Fail("*", forgetest.Respond(200, "application/gzip", "the archive"))
	srv.Fail("GET /projects/:id/repository/archive[.:format]", forgetest.RedirectTo(storage.URL+"/a?X-Signature=s1gn4ture", 302))
	client, tracer, recorder, _ := newTraced(t, srv, forge.WithPlainHTTP())
	_, err := traced(t.Context(), tracer, "search", func(ctx context.Context) ([]*forge.Issue, error) {
		return forge.Collect(client.Issues.List(ctx, &forge.ListIssuesOptions{Search: "jane doe"}))
	})
	require.NoError(t, err)
	_, err = traced(t.Context(), tracer, "refused", func(ctx context.Context) (*forge.User, error) { return client.Users.Get(ctx, 1, nil) })
	require.ErrorIs(t, err, forge.ErrForbidden)
	archive, err := traced(t.Context(), tracer, "away", func(ctx context.Context) (*forge.Download, error) {
		return client.Repositories.Archive(ctx, forge.Path("acme/platform/gateway"), nil)
	})
	require.NoError(t, err)
	require.NoError(t, archive.Close())
	for _, span := range recorder.Ended() {
		text := fmt.Sprintf("%s %v %v %v", span.Name(), span.Attributes(), span.Events(), span.Status())
		for _, secret := range []string{srv.Token, "jane", "s1gn4ture"} {
			assert.NotContains(t, text, secret)
		}
	}
	assert.True(t, slices.ContainsFunc(recorder.Ended(), func(s sdktrace.ReadOnlySpan) bool {
		return attributesOf(s.Attributes())["url.full"] == storage.URL+"/a"
	}), "the hop to the other server has a span")
}

// TestBaggageOfOtherOrigins: otelhttp sends baggage to other origins, too, and with the propagator of
// docs/observability.md only the trace.
func TestBaggageOfOtherOrigins(t *testing.T) {
	var got http.Header
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = r.Header }))
	t.Cleanup(other.Close)
	values, err := baggage.Parse("customer=acme")
	require.NoError(t, err)
	only := propagation.TraceContext{}
	for want, propagator := range map[string]propagation.TextMapPropagator{
		"customer=acme": propagation.NewCompositeTextMapPropagator(only, propagation.Baggage{}), "": only,
	} {
		transport := otelhttp.NewTransport(http.DefaultTransport, otelhttp.WithTracerProvider(sdktrace.NewTracerProvider()), otelhttp.WithPropagators(propagator))
		client := forgetest.New(t).Client(forge.WithHTTPClient(&http.Client{Transport: transport})).HTTPClient()
		req, err := http.NewRequestWithContext(baggage.ContextWithBaggage(t.Context(), values), http.MethodGet, other.URL, http.NoBody)
		require.NoError(t, err)
		resp, err := client.Do(req)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		assert.Equal(t, want, got.Get("Baggage"))
		assert.NotEmpty(t, got.Get("Traceparent"))
	}
}
