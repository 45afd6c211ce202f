// Tracing shows calls as OpenTelemetry spans and metrics. There is a span for each call, and below
// it one for each request that was sent, named by its route, so that retries and the pages of lists
// are visible. The histogram http.client.request.duration has the durations by route and status. It
// is for services that use OpenTelemetry: trace.go and metrics.go are the code to copy.
//
//	go run .         # the spans as a tree, the histogram as a table
//	go run . -json   # all that they hold
//
// By default it starts the embedded server with the demo data and some failures. With FORGE_URL and
// FORGE_TOKEN it uses a real server, and changes nothing there except the user's subscription to
// one issue, which it restores. Names, units and attributes are those of OpenTelemetry's semantic
// conventions for HTTP clients. The client needs no code for it: each request has its route in its
// context, and WithOnAttempt reports each attempt.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"time"

	"go.opentelemetry.io/otel/exporters/stdout/stdouttrace"
	"go.opentelemetry.io/otel/metric"
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
	flags := flag.NewFlagSet("tracing", flag.ContinueOnError)
	asJSON := flags.Bool("json", false, "write all that the spans and the histogram hold, as JSON")
	if err := demo.Parse(flags, args, out); err != nil {
		return err
	}
	var exporter sdktrace.SpanExporter = &tree{out: out}
	if *asJSON {
		if exporter, err = stdouttrace.New(stdouttrace.WithWriter(out), stdouttrace.WithPrettyPrint()); err != nil {
			return err
		}
	}
	// A service uses sdktrace.WithBatcher and sdkmetric.NewPeriodicReader, with exporters that send
	// spans and metrics to a collector.
	tracers := sdktrace.NewTracerProvider(sdktrace.WithSyncer(exporter))
	reader := sdkmetric.NewManualReader()
	meters := sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))
	defer func() {
		ctx := context.WithoutCancel(ctx)
		err = errors.Join(err, tracers.Shutdown(ctx), meters.Shutdown(ctx))
	}()
	client, done, err := connect(forge.WithHTTPClient(&http.Client{Transport: traceWith(tracers)}))
	if err != nil {
		return err
	}
	defer done()
	if client, err = observe(client, meters); err != nil {
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
	if *asJSON {
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "\t")
		return encoder.Encode(metrics)
	}
	writeTable(out, metrics)
	fmt.Fprintf(out, "\n%s\n", client.Stats())
	return nil
}

// connect returns a client of the server that the environment names, or of an embedded one with
// some failures.
func connect(options ...forge.Option) (client *forge.Client, done func(), err error) {
	options = append(options, forge.WithUserAgent("tracing/1.0"))
	if os.Getenv("FORGE_URL") != "" {
		client, err = forge.NewClientFromEnv(options...)
		return client, func() {}, err
	}
	srv, err := forgetest.Start(forgetest.WithDemo())
	if err != nil {
		return nil, nil, err
	}
	srv.Fail("GET /issues", forgetest.Status(502).After(1).Times(1))
	srv.Fail("POST /projects/:id/issues/:issue_iid/subscribe", forgetest.TooManyRequests(time.Second).Times(1))
	return srv.Client(options...), srv.Close, nil
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
		if err != nil && !forge.IsNotModified(err) {
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
