package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/examples/internal/demo"
	"github.com/forge-sdk/forge-go/forgetest"
)

// connect returns the server that FORGE_URL and FORGE_TOKEN name, or an embedded one.
func connect(out io.Writer, projects int) (*demo.Server, error) {
	if os.Getenv("FORGE_URL") != "" {
		return demo.Connect(out, "export")
	}
	srv, err := embedded(projects)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(out, "Server  %s (embedded, %d generated projects; FORGE_URL and FORGE_TOKEN name a real one)\n\n", srv.URL, projects)
	return &demo.Server{Client: srv.Client(forge.WithUserAgent("export/1.0")), Embedded: srv}, nil
}

// embedded starts a server with generated projects: 120 issues and 5 merge requests each, and an
// audit event for each ten issues. It has the rate limit of a large server.
func embedded(projects int, options ...forgetest.Option) (*forgetest.Server, error) {
	srv, err := forgetest.Start(append(options, forgetest.WithStarterRoutes(), forgetest.WithRateLimitHeaders())...)
	if err != nil {
		return nil, err
	}
	for i := range projects {
		project := srv.AddProject(fmt.Sprintf("acme/app-%04d", i+1))
		project.AddGeneratedIssues(120)
		project.AddMergeRequests(5, nil)
	}
	srv.AddGeneratedAuditEvents(12 * projects)
	srv.SetThrottle("throttle_authenticated_api", 2000, time.Minute)
	return srv, nil
}

// serve runs the embedded server until the program is interrupted.
func serve(ctx context.Context, addr string, projects int, out io.Writer) error {
	srv, err := embedded(projects, forgetest.WithAddr(addr))
	if err != nil {
		return err
	}
	defer srv.Close()
	fmt.Fprintf(out, "export FORGE_URL=%s FORGE_TOKEN=%s\n", srv.URL, srv.Token)
	<-ctx.Done()
	return nil
}
