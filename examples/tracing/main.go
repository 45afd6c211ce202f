// Tracing shows calls as OpenTelemetry spans and metrics. There is a span for each call, and below
// it one for each request that was sent, named by its route, so that retries and the pages of lists
// are visible. The histogram http.client.request.duration has the durations by route and status. It
// is for services that use OpenTelemetry: trace.go and metrics.go are the code to copy.
//
//	go run .
//
// By default it starts the embedded server with the demo data and some failures. With FORGE_URL and
// FORGE_TOKEN it uses a real server, and changes nothing there except the user's subscription to
// one issue, which it restores. Names, units and attributes are those of OpenTelemetry's semantic
// conventions for HTTP clients. The client needs no code for it: each request has its route in its
// context, and WithOnAttempt reports each attempt.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"time"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/examples/internal/demo"
	"github.com/forge-sdk/forge-go/forgetest"
)

func main() { demo.Main(run) }

// run is the whole program; a test runs it too.
func run(ctx context.Context, args []string, _ io.Reader, out io.Writer) (err error) {
	if err := demo.Parse(flag.NewFlagSet("tracing", flag.ContinueOnError), args, out); err != nil {
		return err
	}
	// A service uses sdktrace.WithBatcher and sdkmetric.NewPeriodicReader, with exporters that send
	// spans and metrics to a collector.
	tracers := sdktrace.NewTracerProvider(sdktrace.WithSyncer(&tree{out: out, below: map[trace.SpanID][]sdktrace.ReadOnlySpan{}}))
	reader := sdkmetric.NewManualReader()
	meters := sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))
	defer func() {
		ctx := context.WithoutCancel(ctx)
		err = errors.Join(err, tracers.Shutdown(ctx), meters.Shutdown(ctx))
	}()
	server, err := demo.Connect(out, "tracing", forge.WithHTTPClient(&http.Client{Transport: traceWith(tracers)}))
	if err != nil {
		return err
	}
	defer server.Close()
	if server.Embedded != nil {
		server.Embedded.Fail("GET /issues", forgetest.Status(502).After(1).Times(1))
		server.Embedded.Fail("POST /projects/:id/issues/:issue_iid/subscribe", forgetest.TooManyRequests(time.Second).Times(1))
	}
	client, err := observe(server.Client, meters)
	if err != nil {
		return err
	}
	tracer := tracers.Tracer("tracing")
	triageCtx, span := tracer.Start(ctx, "triage")
	err = triage(triageCtx, tracer, client)
	end(span, err)
	var metrics metricdata.ResourceMetrics
	if err := errors.Join(err, reader.Collect(context.WithoutCancel(ctx), &metrics)); err != nil {
		return err
	}
	writeTable(out, metrics)
	fmt.Fprintf(out, "\n%s\n", client.Stats())
	return nil
}

// triage makes a few calls, each in its own span.
func triage(ctx context.Context, tracer trace.Tracer, client *forge.Client) error {
	issues, err := traced(ctx, tracer, "Issues.List", func(ctx context.Context) ([]*forge.Issue, error) {
		return forge.Collect(client.Issues.List(ctx, &forge.ListIssuesOptions{
			Scope: forge.ScopeAll, State: forge.IssueStateOpened, Search: "crash",
		}, forge.PerPage(5)))
	})
	if err != nil || len(issues) == 0 {
		return err
	}
	project, issue := forge.ID(issues[0].ProjectID), issues[0].IID
	changed := false
	for range 2 { // the second call has nothing to change, which is not an error
		_, err := traced(ctx, tracer, "Issues.Subscribe", func(ctx context.Context) (*forge.Issue, error) {
			return client.Issues.Subscribe(ctx, project, issue)
		})
		if err != nil && !errors.Is(err, forge.ErrNotModified) {
			return err
		}
		changed = changed || err == nil
	}
	if !changed {
		return nil
	}
	_, err = traced(ctx, tracer, "Issues.Unsubscribe", func(ctx context.Context) (*forge.Issue, error) {
		return client.Issues.Unsubscribe(ctx, project, issue)
	})
	return err
}
