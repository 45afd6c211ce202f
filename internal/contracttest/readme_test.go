package contracttest_test

import (
	"fmt"
	"testing"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/forgetest"
)

// TestTriage is the test that the README shows, word for word.
func TestTriage(t *testing.T) {
	srv := forgetest.New(t)
	app := srv.AddProject("group/app")
	app.AddIssues(250, func(i int, issue *forgetest.Document) {
		issue.Set("title", fmt.Sprintf("Bug %d", i)).Set("labels", []string{"bug"})
	})
	srv.Fail("GET /issues", forgetest.Status(502).Times(1)) // retried

	issues, err := forge.Collect(srv.Client().Issues.List(t.Context(), &forge.ListIssuesOptions{
		Scope: forge.ScopeAll, Labels: forge.Labels("bug"),
	}))
	if err != nil || len(issues) != 250 {
		t.Fatal(len(issues), err)
	}
}
