package contracttest_test

import (
	"context"
	"errors"
	"testing"
	"time"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/forgetest"
)

// These functions are in docs/testing.md, word for word.

// bookTime books time on an issue once, even if the response is lost.
func bookTime(ctx context.Context, client *forge.Client, project forge.Ref, issue int64, spent time.Duration) error {
	before, err := client.Issues.GetTimeStats(ctx, project, issue)
	if err != nil {
		return err
	}
	booking := &forge.AddSpentTimeOptions{Duration: forge.WorkDuration(spent)}
	_, err = client.Issues.AddSpentTime(ctx, project, issue, booking)
	var failed *forge.Error
	if !errors.As(err, &failed) || !failed.MaybeApplied {
		return err
	}
	after, err := client.Issues.GetTimeStats(ctx, project, issue)
	if err != nil || after.TotalTimeSpent > before.TotalTimeSpent {
		return err // nil: it took effect
	}
	_, err = client.Issues.AddSpentTime(ctx, project, issue, booking)
	return err
}

func TestBookTime(t *testing.T) {
	const route = "POST /projects/:id/issues/:issue_iid/add_spent_time"
	for name, fault := range map[string]forgetest.Fault{
		"the response is lost": forgetest.DropResponse().Times(1),
		"the request is lost":  forgetest.DropRequest().Times(1),
	} {
		t.Run(name, func(t *testing.T) {
			srv := forgetest.New(t)
			srv.AddProject("acme/app").AddIssues(1, nil)
			srv.Fail(route, fault)
			if err := bookTime(t.Context(), srv.Client(), forge.Path("acme/app"), 1, time.Hour); err != nil {
				t.Fatal(err)
			}
			srv.AssertAppliedCount(t, route, 1)
		})
	}
}
