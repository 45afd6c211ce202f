package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/codes"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/forgetest"
)

const subscribe = "POST /projects/:id/issues/:issue_iid/subscribe"

// TestDemo runs the program; what the lines say of times is not compared.
func TestDemo(t *testing.T) {
	t.Setenv("FORGE_URL", "")
	var out strings.Builder
	require.NoError(t, run(t.Context(), nil, nil, &out))
	for _, want := range []string{
		`(?m)^triage `, `(?m)^  Issues\.List .*  retried$`, `(?m)^    GET /issues .*  502$`, `(?m)^    GET /issues .*  200, resend 1$`,
		`(?m)^  Issues\.Subscribe .*  retried$`, `(?m)^    ` + subscribe + ` .*  429$`, `(?m)^    ` + subscribe + ` .*  304$`,
		`(?m)^http\.client\.request\.duration \(s\)$`,
		`(?m)^  GET /issues +200  2 attempts mean 0\.\d{4}$`, `(?m)^  GET /issues +502  1 attempt  mean 0\.\d{4}$`,
		`(?m)^5 calls, 0 failed, 7 attempts, 2 retries, 1 wait for rate limits \(1\.\d+s\), 0 bytes sent, \d+ bytes received$`,
	} {
		assert.Regexp(t, want, out.String())
	}
}

// TestJSON: the output of -json is JSON and nothing else.
func TestJSON(t *testing.T) {
	t.Setenv("FORGE_URL", "")
	var out strings.Builder
	require.NoError(t, run(t.Context(), []string{"-json"}, nil, &out))
	names := map[string]bool{}
	for decoder := json.NewDecoder(strings.NewReader(out.String())); ; {
		var value struct {
			Name         string
			ScopeMetrics []struct{ Metrics []struct{ Name string } }
		}
		err := decoder.Decode(&value)
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		names[value.Name] = true
		for _, scope := range value.ScopeMetrics {
			for _, m := range scope.Metrics {
				names[m.Name] = true
			}
		}
	}
	assert.True(t, names[subscribe])
	assert.True(t, names["http.client.request.duration"])
}

// newTraced makes a client with the code of trace.go, and a recorder of its spans.
func newTraced(t *testing.T, srv *forgetest.Server, options ...forge.Option) (*forge.Client, trace.Tracer, *tracetest.SpanRecorder) {
	t.Helper()
	spans := tracetest.NewSpanRecorder()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))
	options = append(options, forge.WithHTTPClient(&http.Client{Transport: traceWith(provider)}))
	client, err := observe(srv.Client(options...), sdkmetric.NewMeterProvider())
	require.NoError(t, err)
	return client, provider.Tracer("test"), spans
}

// TestSpans: one span for a call, one below it for each request, named by the route and nothing
// else.
func TestSpans(t *testing.T) {
	srv := forgetest.New(t)
	app := srv.AddProject("acme/app")
	app.AddIssues(12, nil)
	srv.Fail("GET /issues", forgetest.Status(502).After(1).Times(1))
	client, tracer, recorder := newTraced(t, srv)
	_, err := traced(t.Context(), tracer, "list", func(ctx context.Context) ([]*forge.Issue, error) {
		return forge.Collect(client.Issues.List(ctx, &forge.ListIssuesOptions{Scope: forge.ScopeAll}, forge.PerPage(5)))
	})
	require.NoError(t, err)
	_, err = traced(t.Context(), tracer, "get", func(ctx context.Context) (*forge.TimeStats, error) {
		return client.Issues.GetTimeStats(ctx, forge.Path("acme/app"), 7)
	})
	require.NoError(t, err)

	var names []string
	parents := map[string]sdktrace.ReadOnlySpan{}
	for _, span := range recorder.Ended() {
		if !span.Parent().IsValid() {
			parents[span.Name()] = span
		}
	}
	for _, span := range recorder.Ended() {
		for name, parent := range parents {
			if span.Parent().SpanID() == parent.SpanContext().SpanID() {
				names = append(names, name+" > "+span.Name())
			}
		}
	}
	page := "list > GET /issues"
	assert.Equal(t, []string{page, page, page, page, "get > GET /projects/:id/issues/:issue_iid/time_stats"}, names)
	require.Len(t, parents["list"].Events(), 1, "the retry")
	assert.Contains(t, fmt.Sprint(parents["list"].Events()[0].Attributes), "502")
	assert.Empty(t, parents["get"].Events())
	assert.Equal(t, codes.Unset, parents["list"].Status().Code, "a call that went well in the end is no error")
}

// TestSecrets: no span holds the token, what was searched for, or the signature of another server's
// address.
func TestSecrets(t *testing.T) {
	srv := forgetest.New(t)
	srv.AddProject("acme/app").AddIssues(1, nil)
	srv.Fail("GET /users/:id", forgetest.Respond(403, "application/json", `{"message": "the token `+srv.Token+` may not"}`))
	srv.Fail("GET /projects/:id/repository/archive[.:format]", forgetest.RedirectTo("https://127.0.0.1:1/a?X-Signature=s1gn4ture", 302))
	client, tracer, recorder := newTraced(t, srv, forge.WithRetry(forge.RetryPolicy{MaxAttempts: 1}))
	_, err := traced(t.Context(), tracer, "search", func(ctx context.Context) ([]*forge.Issue, error) {
		return forge.Collect(client.Issues.List(ctx, &forge.ListIssuesOptions{Search: "jane doe"}))
	})
	require.NoError(t, err)
	_, err = traced(t.Context(), tracer, "refused", func(ctx context.Context) (*forge.User, error) { return client.Users.Get(ctx, 1, nil) })
	require.ErrorIs(t, err, forge.ErrForbidden)
	_, err = traced(t.Context(), tracer, "away", func(ctx context.Context) (*forge.Download, error) {
		return client.Repositories.Archive(ctx, forge.Path("acme/app"), nil)
	})
	require.Error(t, err)

	names := map[string]bool{}
	for _, span := range recorder.Ended() {
		names[span.Name()] = true
		text := fmt.Sprintf("%s %v %v %v", span.Name(), span.Attributes(), span.Events(), span.Status())
		for _, secret := range []string{srv.Token, "jane", "s1gn4ture"} {
			assert.NotContains(t, text, secret)
		}
		if !span.Parent().IsValid() && span.Name() != "search" {
			assert.Equal(t, codes.Error, span.Status().Code)
		}
	}
	assert.True(t, names["GET /projects/:id/repository/archive[.:format]"])
	assert.True(t, names["GET /users/:id"])
}

// TestUnchanged: the documented 304 is no error, neither in the trace nor in the counters.
func TestUnchanged(t *testing.T) {
	srv := forgetest.New(t)
	app := srv.AddProject("acme/app")
	issue := app.AddIssue(nil)
	client, tracer, recorder := newTraced(t, srv)
	for range 2 {
		_, _ = traced(t.Context(), tracer, "subscribe", func(ctx context.Context) (*forge.Issue, error) {
			return client.Issues.Subscribe(ctx, forge.ID(app.ID), issue.IID)
		})
	}
	srv.AssertAppliedCount(t, subscribe, 1)
	require.Len(t, recorder.Ended(), 4)
	for _, span := range recorder.Ended() {
		assert.NotEqual(t, codes.Error, span.Status().Code)
	}
	stats := client.Stats()
	assert.Equal(t, []int64{2, 0, 2, 0}, []int64{stats.Calls, stats.Failures, stats.Attempts, stats.Retries})
}
