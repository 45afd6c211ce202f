// Tracing shows calls as OpenTelemetry spans: one for each call, and below it one for each request
// that was sent, named by its route, so that retries and the pages of lists are visible. It is for
// services that are already traced: trace.go is the code to copy.
//
//	go run .         # the spans as a tree
//	go run . -json   # as OpenTelemetry's exporter for stdout writes them
//
// By default it starts the embedded server with the demo data and some failures. With FORGE_URL and
// FORGE_TOKEN it uses a real server, and changes nothing there except the user's subscription to
// one issue, which it restores. The spans are those of otelhttp, OpenTelemetry's instrumentation of
// net/http: the client needs no tracing code, because each request has its route in its context.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"go.opentelemetry.io/otel/exporters/stdout/stdouttrace"
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
	asJSON := flags.Bool("json", false, "write all that the spans hold, as JSON")
	if err := demo.Parse(flags, args, out); err != nil {
		return err
	}
	var exporter sdktrace.SpanExporter = &tree{out: out}
	if *asJSON {
		if exporter, err = stdouttrace.New(stdouttrace.WithWriter(out), stdouttrace.WithPrettyPrint()); err != nil {
			return err
		}
	}
	// A service uses sdktrace.WithBatcher, and an exporter that sends the spans to a collector.
	provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(exporter))
	defer func() { err = errors.Join(err, provider.Shutdown(context.WithoutCancel(ctx))) }()
	client, done, err := connect(traceWith(provider)...)
	if err != nil {
		return err
	}
	defer done()
	tracer := provider.Tracer("tracing")
	ctx, span := tracer.Start(ctx, "triage")
	err = triage(ctx, tracer, client)
	end(span, err)
	stats := client.Stats()
	fmt.Fprintf(out, "\n%d calls, %d failed; %d requests, %d of them retries; %d waits, %s; %d bytes sent, %d received\n", stats.Calls, stats.Failures,
		stats.Attempts, stats.Retries, stats.RateLimitWaits, stats.RateLimitWaitTime.Round(time.Millisecond), stats.BytesSent, stats.BytesReceived)
	return err
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
