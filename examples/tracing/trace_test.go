package main

import (
	"context"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/baggage"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/forgetest"
)

// attributesOf returns the attributes as a map.
func attributesOf(list []attribute.KeyValue) map[string]any {
	values := map[string]any{}
	for _, a := range list {
		values[string(a.Key)] = a.Value.AsInterface()
	}
	return values
}

// requestSpans returns the spans of requests, in the order of their start.
func requestSpans(spans []sdktrace.ReadOnlySpan) []sdktrace.ReadOnlySpan {
	requests := slices.DeleteFunc(slices.Clone(spans), func(s sdktrace.ReadOnlySpan) bool { return s.SpanKind() != trace.SpanKindClient })
	slices.SortStableFunc(requests, func(a, b sdktrace.ReadOnlySpan) int { return a.StartTime().Compare(b.StartTime()) })
	return requests
}

// TestSpanAttributes checks the spans of a request that fails with 502 and is sent again, and of
// one that returns 404, against the conventions for HTTP clients.
func TestSpanAttributes(t *testing.T) {
	srv := forgetest.New(t)
	srv.AddProject("acme/app").AddIssues(1, nil)
	srv.Fail("GET /issues", forgetest.Status(http.StatusBadGateway).Times(1))
	client, tracer, recorder := newTraced(t, srv)
	_, err := traced(t.Context(), tracer, "list", func(ctx context.Context) ([]*forge.Issue, error) {
		return forge.Collect(client.Issues.List(ctx, &forge.ListIssuesOptions{Scope: forge.ScopeAll, Search: "jane doe"}))
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
	common := map[string]any{
		"http.request.method": "GET", "server.address": "127.0.0.1", "server.port": port, "network.protocol.version": "1.1",
	}
	list := map[string]any{"url.full": client.BaseURL() + "/issues", "url.template": "/issues"}
	get := map[string]any{"url.full": client.BaseURL() + "/namespaces/acme%2Fsecret", "url.template": "/namespaces/:id"}
	var got []map[string]any
	var statuses []codes.Code
	for _, span := range requestSpans(recorder.Ended()) {
		got = append(got, attributesOf(span.Attributes()))
		statuses = append(statuses, span.Status().Code)
	}
	assert.Equal(t, []map[string]any{
		merge(common, list, map[string]any{"http.response.status_code": int64(502), "error.type": "502"}),
		merge(common, list, map[string]any{"http.response.status_code": int64(200), "http.request.resend_count": int64(1)}),
		merge(common, get, map[string]any{"http.response.status_code": int64(404), "error.type": "404"}),
	}, got)
	assert.Equal(t, []codes.Code{codes.Error, codes.Unset, codes.Error}, statuses)

	events := recorder.Ended()[2].Events() // of the call, which ends after its requests
	require.Len(t, events, 1)
	assert.Equal(t, "retry", events[0].Name)
	event := attributesOf(events[0].Attributes)
	assert.Positive(t, event["forge.retry.wait"])
	delete(event, "forge.retry.wait")
	assert.Equal(t, map[string]any{
		"http.request.resend_count": int64(1), "http.response.status_code": int64(502), "http.response.header.x-request-id": []string{"forgetest-00000001"},
	}, event)
}

func merge(parts ...map[string]any) map[string]any {
	all := map[string]any{}
	for _, part := range parts {
		maps.Copy(all, part)
	}
	return all
}

// resends returns the resend counts of the spans of requests, 0 where there is none.
func resends(spans []sdktrace.ReadOnlySpan) []int64 {
	var counts []int64
	for _, span := range requestSpans(spans) {
		n, _ := attributesOf(span.Attributes())["http.request.resend_count"].(int64)
		counts = append(counts, n)
	}
	return counts
}

// TestResendsOfPages: the pages of a list are not resends of each other, also while they are
// fetched concurrently, and the requests of another call start again.
func TestResendsOfPages(t *testing.T) {
	srv := forgetest.New(t)
	srv.AddProject("acme/app").AddIssues(40, nil)
	srv.Fail("GET /issues", forgetest.Status(http.StatusServiceUnavailable).After(3).Times(2))
	client, tracer, recorder := newTraced(t, srv)
	for range 2 {
		_, err := traced(t.Context(), tracer, "list", func(ctx context.Context) ([]*forge.Issue, error) {
			return forge.Collect(client.Issues.List(ctx, &forge.ListIssuesOptions{Scope: forge.ScopeAll}, forge.PerPage(5), forge.Ahead(4)))
		})
		require.NoError(t, err)
	}
	sum := int64(0)
	for _, n := range resends(recorder.Ended()) {
		sum += n
	}
	assert.LessOrEqual(t, sum, int64(3), "two requests are sent again, or one of them twice (1+2)")
	assert.GreaterOrEqual(t, sum, int64(2))
}

// TestResendsOfRedirects: a hop of a redirect is a resend, and the count goes on after a retry.
func TestResendsOfRedirects(t *testing.T) {
	const archive = "GET /projects/:id/repository/archive[.:format]"
	storage := forgetest.New(t)
	storage.Fail(archive, forgetest.Status(http.StatusBadGateway).Times(1))
	storage.Fail(archive, forgetest.Respond(http.StatusOK, "application/gzip", "the archive"))
	srv := forgetest.New(t)
	srv.AddProject("acme/app")
	srv.Fail(archive, forgetest.RedirectTo(storage.URL, http.StatusFound))
	client, tracer, recorder := newTraced(t, srv, forge.WithPlainHTTP())
	download, err := traced(t.Context(), tracer, "archive", func(ctx context.Context) (*forge.Download, error) {
		return client.Repositories.Archive(ctx, forge.Path("acme/app"), nil)
	})
	require.NoError(t, err)
	require.NoError(t, download.Close())
	assert.Equal(t, []int64{0, 1, 2, 3}, resends(recorder.Ended()), "302, 502, 302, 200")
	for i, span := range requestSpans(recorder.Ended()) {
		address, _ := attributesOf(span.Attributes())["url.full"].(string)
		assert.True(t, strings.HasPrefix(address, []string{srv.URL, storage.URL}[i%2]), address)
	}
}

// TestCallsWithoutTraced: without traced there is no count of resends, and all else stays.
func TestCallsWithoutTraced(t *testing.T) {
	srv := forgetest.New(t)
	srv.Fail("GET /user", forgetest.Status(http.StatusBadGateway).Times(1))
	client, _, recorder := newTraced(t, srv)
	_, err := client.Users.GetCurrent(t.Context(), nil)
	require.NoError(t, err)
	assert.Equal(t, []int64{0, 0}, resends(recorder.Ended()))
	assert.Equal(t, "GET /user", recorder.Ended()[1].Name())
}

// noNetwork is a transport that returns an empty response.
type noNetwork struct{}

func (noNetwork) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Request: r}, nil
}

// TestDescribedAddress: the port of the scheme is an attribute, too, which otelhttp omits. The URL
// has no password and no query.
func TestDescribedAddress(t *testing.T) {
	recorder := tracetest.NewSpanRecorder()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder))
	transport := otelhttp.NewTransport(described{noNetwork{}}, otelhttp.WithTracerProvider(provider))
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://user:passw0rd@forge.example.com/file?X-Signature=s1gn4ture", http.NoBody)
	require.NoError(t, err)
	response, err := transport.RoundTrip(request)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Len(t, recorder.Ended(), 1)
	got := attributesOf(recorder.Ended()[0].Attributes())
	assert.Equal(t, "https://forge.example.com/file", got["url.full"])
	assert.Equal(t, "forge.example.com", got["server.address"])
	assert.Equal(t, int64(443), got["server.port"])
}

// TestBaggageOfOtherOrigins: otelhttp sends baggage to other origins, too. With the propagator of
// docs/observability.md it sends only the trace.
func TestBaggageOfOtherOrigins(t *testing.T) {
	var got http.Header
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = r.Header }))
	t.Cleanup(other.Close)
	member, err := baggage.NewMember("customer", "acme")
	require.NoError(t, err)
	values, err := baggage.New(member)
	require.NoError(t, err)
	provider, only := sdktrace.NewTracerProvider(), propagation.TraceContext{}
	for want, propagator := range map[string]propagation.TextMapPropagator{
		"customer=acme": propagation.NewCompositeTextMapPropagator(only, propagation.Baggage{}), "": only,
	} {
		transport := otelhttp.NewTransport(http.DefaultTransport, otelhttp.WithTracerProvider(provider), otelhttp.WithPropagators(propagator))
		client := forgetest.New(t).Client(forge.WithHTTPClient(&http.Client{Transport: transport}))
		req, err := http.NewRequestWithContext(baggage.ContextWithBaggage(t.Context(), values), http.MethodGet, other.URL, http.NoBody)
		require.NoError(t, err)
		resp, err := client.HTTPClient().Do(req)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		assert.Equal(t, want, got.Get("Baggage"))
		assert.NotEmpty(t, got.Get("Traceparent"))
		assert.Empty(t, got.Get("Private-Token"))
	}
}
