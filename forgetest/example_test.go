package forgetest_test

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

// start starts a server with one small project, outside a test. In a test use forgetest.New(t),
// without Close.
func start() (*forgetest.Server, *forgetest.Project) {
	srv, err := forgetest.Start()
	if err != nil {
		log.Fatal(err)
	}
	app := srv.AddProject("group/app")
	app.AddIssues(3, func(i int, issue *forgetest.Document) {
		issue.Set("title", fmt.Sprintf("Bug %d", i+1)).Set("labels", []string{"bug"})
	})
	return srv, app
}

// Start a server, seed it in a line, and call it with a client.
func ExampleStart() {
	srv, err := forgetest.Start()
	if err != nil {
		log.Fatal(err)
	}
	defer srv.Close()
	srv.AddProject("group/app").AddIssues(250, func(i int, issue *forgetest.Document) {
		issue.Set("title", fmt.Sprintf("Bug %d", i+1))
	})

	issues, err := forge.Collect(srv.Client().Issues.List(context.Background(), nil))
	fmt.Println(len(issues), issues[0].Title, err)
	// Output: 250 Bug 250 <nil>
}

// Let a call fail: the client retries, and the list is complete.
func ExampleServer_Fail() {
	srv, _ := start()
	defer srv.Close()
	srv.Fail("GET /issues", forgetest.Status(502).Times(1))

	issues, err := forge.Collect(srv.Client().Issues.List(context.Background(), nil))
	fmt.Println(len(issues), err, srv.CountRequests("GET /issues"))
	// Output: 3 <nil> 2
}

// Prove that a write ran once, although its response was lost and the call was retried.
func ExampleServer_CountApplied() {
	srv, app := start()
	defer srv.Close()
	const route = "POST /projects/:id/issues/:issue_iid/subscribe"
	srv.Fail(route, forgetest.DropResponse().Times(1))

	_, err := srv.Client().Issues.Subscribe(context.Background(), forge.ID(app.ID), 1)
	fmt.Println("no change any more:", errors.Is(err, forge.ErrNotModified))
	fmt.Println("requests:", srv.CountRequests(route), "effects:", srv.CountApplied(route))
	// Output:
	// no change any more: true
	// requests: 2 effects: 1
}

// Add an endpoint for which the package has no method. The server checks the token and the project
// before it calls the handler.
func ExampleServer_Handle() {
	srv, _ := start()
	defer srv.Close()
	type job struct{ Name string }
	srv.Handle("GET /projects/:id/jobs", func(w http.ResponseWriter, r *http.Request) {
		forgetest.WritePage(w, r, []job{{"build"}, {"tests of " + forgetest.ProjectFrom(r).Path}})
	})

	list := forge.Call{Method: http.MethodGet, Route: "/projects/:id/jobs", Args: []forge.Arg{forge.Path("group/app")}}
	jobs, err := forge.Collect(forge.ListAs[job](context.Background(), srv.Client(), list, forge.PerPage(1)))
	fmt.Println(len(jobs), jobs[1].Name, err, srv.CountRequests("GET /projects/:id/jobs"))
	list.Args = []forge.Arg{forge.Path("group/none")}
	_, err = forge.Collect(forge.ListAs[job](context.Background(), srv.Client(), list))
	fmt.Println(errors.Is(err, forge.ErrNotFound))
	// Output:
	// 2 tests of group/app <nil> 2
	// true
}

// A write that finds nothing to do does not count as applied.
func ExampleSetApplied() {
	srv, _ := start()
	defer srv.Close()
	const route = "POST /projects/:id/star"
	stars := map[*forgetest.User]bool{}
	srv.Handle(route, func(w http.ResponseWriter, r *http.Request) {
		user := forgetest.UserFrom(r)
		forgetest.SetApplied(r, !stars[user])
		stars[user] = true
		forgetest.WriteJSON(w, r, http.StatusCreated, map[string]int{"star_count": len(stars)})
	})

	star := forge.Call{Method: http.MethodPost, Route: "/projects/:id/star", Args: []forge.Arg{forge.Path("group/app")}}
	for range 2 {
		var project struct {
			StarCount int `json:"star_count"`
		}
		fmt.Println(srv.Client().Do(context.Background(), star, &project), project.StarCount)
	}
	fmt.Println("requests:", srv.CountRequests(route), "applied:", srv.CountApplied(route))
	// Output:
	// <nil> 1
	// <nil> 1
	// requests: 2 applied: 1
}

// Call as another user: roles and visibility apply.
func ExampleProject_AddMember() {
	srv, _ := start()
	defer srv.Close()
	secret := srv.AddProject("group/secret", forgetest.Private)
	secret.AddIssue(nil)
	jane := srv.AddUser("jane")
	client := srv.Client(forge.WithToken(jane.Token))

	_, err := client.Issues.GetTimeStats(context.Background(), forge.Path("group/secret"), 1)
	fmt.Println(err != nil)
	secret.AddMember(jane, forgetest.Reporter)
	_, err = client.Issues.GetTimeStats(context.Background(), forge.Path("group/secret"), 1)
	fmt.Println(err)
	// Output:
	// true
	// <nil>
}

// Check the requests. In a test, srv.LastRequest(t, route) and srv.AssertRequests(t, ...) do the
// same, and a failure prints requests and responses.
func ExampleServer_Requests() {
	srv, _ := start()
	defer srv.Close()

	_, err := srv.Client().Issues.SetTimeEstimate(context.Background(), forge.Path("group/app"), 1,
		&forge.SetTimeEstimateOptions{Duration: forge.WorkDuration(3*time.Hour + 30*time.Minute)})
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range srv.Requests() {
		fmt.Println(r.Route, r.Status)
	}
	// Output: POST /projects/:id/issues/:issue_iid/time_estimate 200
}
