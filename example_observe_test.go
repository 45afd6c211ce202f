package forge_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"time"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/forgetest"
)

func ExampleWithOnAttempt() {
	srv, client := server()
	defer srv.Close()
	srv.Fail("GET /namespaces/:id", forgetest.Status(http.StatusServiceUnavailable).Times(1))

	measured, err := client.With(
		forge.WithRetry(forge.RetryPolicy{MinWait: time.Millisecond}),
		forge.WithOnAttempt(func(_ context.Context, a forge.Attempt) {
			fmt.Println(a.Method, a.Route, a.Number, a.Status, a.Err == nil, a.WaitAfter > 0)
		}),
	)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := measured.Namespaces.Get(context.Background(), forge.Path("group")); err != nil {
		log.Fatal(err)
	}
	// Output:
	// GET /namespaces/:id 1 503 false true
	// GET /namespaces/:id 2 200 true false
}

func ExampleClient_Stats() {
	srv, client := server()
	defer srv.Close()
	ctx := context.Background()

	if _, err := client.Namespaces.Get(ctx, forge.Path("group")); err != nil {
		log.Fatal(err)
	}
	_, err := client.Namespaces.Get(ctx, forge.Path("no such group"))
	fmt.Println(errors.Is(err, forge.ErrNotFound))

	stats := client.Stats()
	fmt.Println(stats.Calls, "calls,", stats.Failures, "failed,", stats.Retries, "retries,", stats.BytesReceived > 0)
	// Output:
	// true
	// 2 calls, 1 failed, 0 retries, true
}

func ExampleWithDrift() {
	// A release of the server that this version of the library does not know.
	srv, err := forgetest.Start(forgetest.WithUnknownFields("mood"), forgetest.WithMismatchedTypes("time_estimate"))
	if err != nil {
		log.Fatal(err)
	}
	defer srv.Close()
	srv.AddProject("group/app").AddIssues(1, nil)

	var drift forge.Drift
	client := srv.Client(forge.WithDrift(&drift))
	if _, err := client.Issues.GetTimeStats(context.Background(), forge.Path("group/app"), 1); err != nil {
		log.Fatal(err)
	}
	for _, e := range drift.Entries() {
		fmt.Printf("%s %s: want %q, got %s (%d)\n", e.Route, e.Pointer, e.Want, e.Got, e.Count)
	}
	// Output:
	// GET /projects/:id/issues/:issue_iid/time_stats /mood: want "", got string (1)
	// GET /projects/:id/issues/:issue_iid/time_stats /time_estimate: want "integer", got object (1)
}

// named gives each request the name of its endpoint, as a tracing transport names its spans.
type named struct{ next http.RoundTripper }

func (n named) RoundTrip(req *http.Request) (*http.Response, error) {
	if route, ok := forge.RouteFromContext(req.Context()); ok {
		fmt.Println(route.Method, route.Template)
	}
	return n.next.RoundTrip(req)
}

func ExampleRouteFromContext() {
	srv, _ := server()
	defer srv.Close()

	client, err := forge.NewClient(srv.URL, forge.WithToken(srv.Token),
		forge.WithHTTPClient(&http.Client{Transport: named{http.DefaultTransport}}))
	if err != nil {
		log.Fatal(err)
	}
	if _, err := client.Issues.GetTimeStats(context.Background(), forge.Path("group/app"), 1); err != nil {
		log.Fatal(err)
	}
	// Output: GET /projects/:id/issues/:issue_iid/time_stats
}

func ExampleDryRun() {
	client, err := forge.NewClient("https://forge.example.com", forge.WithToken("a-token"))
	if err != nil {
		log.Fatal(err)
	}
	var plan forge.PlannedRequest
	err = client.Registry.DeleteTags(context.Background(), forge.Path("group/app"), 7,
		&forge.DeleteTagsOptions{NameRegexDelete: "ci-.*", OlderThan: "7d"}, forge.DryRun(&plan))
	fmt.Println(errors.Is(err, forge.ErrDryRun))
	fmt.Println(plan.Method, plan.URL)
	fmt.Println(string(plan.Body))
	// Output:
	// true
	// DELETE https://forge.example.com/api/v4/projects/group%2Fapp/registry/repositories/7/tags
	// name_regex_delete=ci-.%2A&older_than=7d
}

func ExamplePlannedRequest_Curl() {
	client, err := forge.NewClient("https://forge.example.com", forge.WithToken("a-token"))
	if err != nil {
		log.Fatal(err)
	}
	var plan forge.PlannedRequest
	_, err = client.Issues.Subscribe(context.Background(), forge.Path("group/app"), 5, forge.DryRun(&plan))
	if !errors.Is(err, forge.ErrDryRun) {
		log.Fatal(err)
	}
	fmt.Println(plan.Curl())
	// Output: curl --request POST 'https://forge.example.com/api/v4/projects/group%2Fapp/issues/5/subscribe' --header "PRIVATE-TOKEN: $FORGE_TOKEN" --header 'Accept: application/json'
}
