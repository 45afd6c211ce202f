package contracttest_test

import (
	"context"
	"slices"
	"strings"
	"time"

	forge "github.com/forge-sdk/forge-go"
)

// writes has a row for each write endpoint of the contract, in the order of docs/endpoints.md.
var writes = slices.Concat(registryWrites, projectWrites, issueWrites, mergeRequestWrites, userWrites, instanceWrites)

var registryWrites = []write{
	{
		"PUT /projects/:id/", "client.Registry.SetVisibility",
		"no method reads it: send it again", againSame,
		func(ctx context.Context, w *outcomeWorld) error {
			options := &forge.SetRegistryVisibilityOptions{Visibility: forge.RegistryPrivate}
			_, err := w.Registry.SetVisibility(ctx, w.project, options)
			return err
		}, nil,
	},
	{
		"DELETE /projects/:id/registry/repositories/:repository_id", "client.Registry.Delete",
		"`client.Registry.Get`: `Status` is not empty, or `forge.ErrNotFound`", againNotFound,
		func(ctx context.Context, w *outcomeWorld) error {
			return w.Registry.Delete(ctx, w.project, w.repository)
		},
		func(ctx context.Context, w *outcomeWorld) (bool, error) {
			found, err := w.Registry.Get(ctx, w.repository, nil)
			if err == nil {
				return found.Status != "", nil
			}
			return gone(err)
		},
	},
	{
		"DELETE /projects/:id/registry/repositories/:repository_id/tags/:tag_name", "client.Registry.DeleteTag",
		"`client.Registry.GetTag`: `forge.ErrNotFound`", againNotFound,
		func(ctx context.Context, w *outcomeWorld) error {
			return w.Registry.DeleteTag(ctx, w.project, w.repository, "v0001")
		}, tagGone,
	},
	{
		"DELETE /projects/:id/registry/repositories/:repository_id/tags", "client.Registry.DeleteTags",
		"`client.Registry.ListTags`, some time later: the tags are gone", againRateLimited,
		func(ctx context.Context, w *outcomeWorld) error {
			return w.Registry.DeleteTags(ctx, w.project, w.repository, &forge.DeleteTagsOptions{NameRegexDelete: ".*"})
		},
		func(ctx context.Context, w *outcomeWorld) (bool, error) {
			tags, err := forge.Collect(w.Registry.ListTags(ctx, w.project, w.repository, nil))
			return len(tags) == 0, err
		},
	},
	{
		"DELETE /v2/:image_path/manifests/:tag", "client.RegistryNative.DeleteManifest",
		"`client.Registry.GetTag`: `forge.ErrNotFound`", againNotFound,
		func(ctx context.Context, w *outcomeWorld) error {
			return w.RegistryNative.DeleteManifest(ctx, outcomeImage, "v0001", nil)
		}, tagGone,
	},
	{
		"DELETE /v2/:image_path/tags/reference/:tag", "client.RegistryNative.DeleteTagReference",
		"`client.Registry.GetTag`: `forge.ErrNotFound`", againNotFound,
		func(ctx context.Context, w *outcomeWorld) error {
			return w.RegistryNative.DeleteTagReference(ctx, outcomeImage, "v0001") //nolint:staticcheck // deprecated, and documented
		}, tagGone,
	},
}

var projectWrites = []write{
	{
		"PUT /projects/:id/resource_groups/:key", "client.ResourceGroups.Update",
		"`client.ResourceGroups.Get`: `ProcessMode`", againSame,
		func(ctx context.Context, w *outcomeWorld) error {
			options := &forge.UpdateResourceGroupOptions{ProcessMode: forge.ProcessModeOldestFirst}
			_, err := w.ResourceGroups.Update(ctx, w.project, "production", options)
			return err
		},
		func(ctx context.Context, w *outcomeWorld) (bool, error) {
			found, err := w.ResourceGroups.Get(ctx, w.project, "production")
			return err == nil && found.ProcessMode == forge.ProcessModeOldestFirst, err
		},
	},
	{
		"POST /projects/:id/repository/changelog", "client.Repositories.CreateChangelog",
		"`client.Repositories.ListTree` for the blob id of the file, then `client.Repositories.GetBlob`: it has the section", againTwice,
		func(ctx context.Context, w *outcomeWorld) error {
			return w.Repositories.CreateChangelog(ctx, w.project, &forge.CreateChangelogOptions{Version: "1.1.0"})
		},
		func(ctx context.Context, w *outcomeWorld) (bool, error) { return w.changelogHas(ctx, "## 1.1.0 ") },
	},
	{
		"POST /projects/:project_id/secure_files", "client.SecureFiles.Upload",
		"`client.SecureFiles.List`: a file of that `Name`", againBadRequest,
		func(ctx context.Context, w *outcomeWorld) error {
			options := &forge.UploadSecureFileOptions{Name: "new.p12", File: forge.FileBytes([]byte("new"))}
			_, err := w.SecureFiles.Upload(ctx, w.project, options)
			return err
		},
		func(ctx context.Context, w *outcomeWorld) (bool, error) {
			files, err := forge.Collect(w.SecureFiles.List(ctx, w.project))
			return slices.ContainsFunc(files, func(f *forge.SecureFile) bool { return f.Name == "new.p12" }), err
		},
	},
	{
		"DELETE /projects/:project_id/secure_files/:id", "client.SecureFiles.Delete",
		"`client.SecureFiles.Get`: `forge.ErrNotFound`", againNotFound,
		func(ctx context.Context, w *outcomeWorld) error { return w.SecureFiles.Delete(ctx, w.project, w.file) },
		func(ctx context.Context, w *outcomeWorld) (bool, error) {
			_, err := w.SecureFiles.Get(ctx, w.project, w.file)
			return gone(err)
		},
	},
	{
		"PUT /groups/:id/merge_request_approval_setting", "client.ApprovalSettings.UpdateForGroup",
		"`client.ApprovalSettings.GetForGroup`: the values", againSame,
		func(ctx context.Context, w *outcomeWorld) error {
			options := &forge.UpdateApprovalSettingsOptions{AllowAuthorApproval: new(false)}
			_, err := w.ApprovalSettings.UpdateForGroup(ctx, w.group, options)
			return err
		},
		func(ctx context.Context, w *outcomeWorld) (bool, error) {
			rules, err := w.ApprovalSettings.GetForGroup(ctx, w.group)
			return err == nil && !rules.AllowAuthorApproval.Value, err
		},
	},
	{
		"PUT /projects/:id/merge_request_approval_setting", "client.ApprovalSettings.UpdateForProject",
		"`client.ApprovalSettings.GetForProject`: the values", againSame,
		func(ctx context.Context, w *outcomeWorld) error {
			options := &forge.UpdateApprovalSettingsOptions{AllowAuthorApproval: new(false)}
			_, err := w.ApprovalSettings.UpdateForProject(ctx, w.project, options)
			return err
		},
		func(ctx context.Context, w *outcomeWorld) (bool, error) {
			rules, err := w.ApprovalSettings.GetForProject(ctx, w.project)
			return err == nil && !rules.AllowAuthorApproval.Value, err
		},
	},
}

// stats reports whether the time tracking of the issue is the wanted one.
func stats(is func(*forge.TimeStats) bool) func(context.Context, *outcomeWorld) (bool, error) {
	return func(ctx context.Context, w *outcomeWorld) (bool, error) {
		s, err := w.Issues.GetTimeStats(ctx, w.project, 1)
		return err == nil && is(s), err
	}
}

var issueWrites = []write{
	{
		"POST /projects/:id/issues/:issue_iid/subscribe", "client.Issues.Subscribe", sameCall, againUnchanged,
		func(ctx context.Context, w *outcomeWorld) error {
			_, err := w.Issues.Subscribe(ctx, w.project, 1)
			return err
		}, nil,
	},
	{
		"POST /projects/:id/issues/:issue_iid/unsubscribe", "client.Issues.Unsubscribe", sameCall, againUnchanged,
		func(ctx context.Context, w *outcomeWorld) error {
			_, err := w.Issues.Unsubscribe(ctx, w.project, 1)
			return err
		}, nil,
	},
	{
		"POST /projects/:id/issues/:issue_iid/todo", "client.Issues.CreateTodo", sameCall, againUnchanged,
		func(ctx context.Context, w *outcomeWorld) error {
			_, err := w.Issues.CreateTodo(ctx, w.project, 1)
			return err
		}, nil,
	},
	{
		"POST /projects/:id/issues/:issue_iid/notes", "client.Issues.Promote",
		"`client.Issues.ListForGroup` with `IIDs`: `State` is closed", againBadRequest,
		func(ctx context.Context, w *outcomeWorld) error {
			_, err := w.Issues.Promote(ctx, w.project, 1, nil)
			return err
		},
		func(ctx context.Context, w *outcomeWorld) (bool, error) {
			issues, err := forge.Collect(w.Issues.ListForGroup(ctx, w.group, &forge.ListIssuesOptions{IIDs: []int64{1}}))
			return len(issues) == 1 && issues[0].State == forge.IssueStateClosed, err
		},
	},
	{
		"POST /projects/:id/issues/:issue_iid/time_estimate", "client.Issues.SetTimeEstimate",
		"`client.Issues.GetTimeStats`: `TimeEstimate`", againSame,
		func(ctx context.Context, w *outcomeWorld) error {
			options := &forge.SetTimeEstimateOptions{Duration: forge.WorkDuration(time.Hour)}
			_, err := w.Issues.SetTimeEstimate(ctx, w.project, 1, options)
			return err
		}, stats(func(s *forge.TimeStats) bool { return s.TimeEstimate == 3600 }),
	},
	{
		"POST /projects/:id/issues/:issue_iid/reset_time_estimate", "client.Issues.ResetTimeEstimate",
		"`client.Issues.GetTimeStats`: `TimeEstimate` is 0", againSame,
		func(ctx context.Context, w *outcomeWorld) error {
			_, err := w.Issues.ResetTimeEstimate(ctx, w.project, 1)
			return err
		}, stats(func(s *forge.TimeStats) bool { return s.TimeEstimate == 0 }),
	},
	{
		"POST /projects/:id/issues/:issue_iid/add_spent_time", "client.Issues.AddSpentTime",
		"`client.Issues.GetTimeStats`: `TotalTimeSpent`, compared with its value before the write", againTwice,
		func(ctx context.Context, w *outcomeWorld) error {
			options := &forge.AddSpentTimeOptions{Duration: forge.WorkDuration(time.Hour)}
			_, err := w.Issues.AddSpentTime(ctx, w.project, 1, options)
			return err
		}, stats(func(s *forge.TimeStats) bool { return s.TotalTimeSpent == 3*3600 }),
	},
	{
		"POST /projects/:id/issues/:issue_iid/reset_spent_time", "client.Issues.ResetSpentTime",
		"`client.Issues.GetTimeStats`: `TotalTimeSpent` is 0", againSame,
		func(ctx context.Context, w *outcomeWorld) error {
			_, err := w.Issues.ResetSpentTime(ctx, w.project, 1)
			return err
		}, stats(func(s *forge.TimeStats) bool { return s.TotalTimeSpent == 0 }),
	},
}

// blocks returns the number of dependencies of merge request 1.
func (w *outcomeWorld) blocks(ctx context.Context) (int, error) {
	list, err := forge.Collect(w.MergeRequests.ListBlocks(ctx, w.project, 1))
	return len(list), err
}

var mergeRequestWrites = []write{
	{
		"POST /projects/:id/merge_requests/:merge_request_iid/blocks", "client.MergeRequests.CreateBlock",
		"`client.MergeRequests.ListBlocks`: it has the dependency", againConflict,
		func(ctx context.Context, w *outcomeWorld) error {
			_, err := w.MergeRequests.CreateBlock(ctx, w.project, 1, &forge.CreateBlockOptions{BlockingMergeRequestID: w.second})
			return err
		},
		func(ctx context.Context, w *outcomeWorld) (bool, error) {
			n, err := w.blocks(ctx)
			return n == 2, err
		},
	},
	{
		"DELETE /projects/:id/merge_requests/:merge_request_iid/blocks/:block_id", "client.MergeRequests.DeleteBlock",
		"`client.MergeRequests.ListBlocks`: it lacks the dependency", againNotFound,
		func(ctx context.Context, w *outcomeWorld) error {
			return w.MergeRequests.DeleteBlock(ctx, w.project, 1, w.block)
		},
		func(ctx context.Context, w *outcomeWorld) (bool, error) {
			n, err := w.blocks(ctx)
			return n == 0, err
		},
	},
	{
		"POST /projects/:id/merge_requests/:merge_request_iid/subscribe", "client.MergeRequests.Subscribe", sameCall, againUnchanged,
		func(ctx context.Context, w *outcomeWorld) error {
			_, err := w.MergeRequests.Subscribe(ctx, w.project, 1)
			return err
		}, nil,
	},
	{
		"POST /projects/:id/merge_requests/:merge_request_iid/unsubscribe", "client.MergeRequests.Unsubscribe", sameCall, againUnchanged,
		func(ctx context.Context, w *outcomeWorld) error {
			_, err := w.MergeRequests.Unsubscribe(ctx, w.project, 1)
			return err
		}, nil,
	},
	{
		"POST /projects/:id/merge_requests/:merge_request_iid/todo", "client.MergeRequests.CreateTodo", sameCall, againUnchanged,
		func(ctx context.Context, w *outcomeWorld) error {
			_, err := w.MergeRequests.CreateTodo(ctx, w.project, 1)
			return err
		}, nil,
	},
}

var userWrites = []write{
	{
		"POST /user/emails", "client.Emails.Create", "`client.Emails.List`: it has the address", againBadRequest,
		func(ctx context.Context, w *outcomeWorld) error {
			_, err := w.Emails.Create(ctx, &forge.CreateEmailOptions{Email: "new@example.com"})
			return err
		},
		func(ctx context.Context, w *outcomeWorld) (bool, error) {
			list, err := forge.Collect(w.Emails.List(ctx))
			return hasAddress(list, "new@example.com"), err
		},
	},
	{
		"POST /users/:id/emails", "client.Emails.CreateForUser",
		"`client.Emails.ListForUser`: it has the address", againBadRequest,
		func(ctx context.Context, w *outcomeWorld) error {
			_, err := w.Emails.CreateForUser(ctx, w.user, &forge.CreateEmailForUserOptions{Email: "new@example.com"})
			return err
		},
		func(ctx context.Context, w *outcomeWorld) (bool, error) {
			list, err := forge.Collect(w.Emails.ListForUser(ctx, w.user))
			return hasAddress(list, "new@example.com"), err
		},
	},
	{
		"DELETE /user/emails/:email_id", "client.Emails.Delete", "`client.Emails.Get`: `forge.ErrNotFound`", againNotFound,
		func(ctx context.Context, w *outcomeWorld) error { return w.Emails.Delete(ctx, w.own) },
		func(ctx context.Context, w *outcomeWorld) (bool, error) {
			_, err := w.Emails.Get(ctx, w.own)
			return gone(err)
		},
	},
	{
		"DELETE /users/:id/emails/:email_id", "client.Emails.DeleteForUser",
		"`client.Emails.ListForUser`: it lacks the address", againNotFound,
		func(ctx context.Context, w *outcomeWorld) error { return w.Emails.DeleteForUser(ctx, w.user, w.other) },
		func(ctx context.Context, w *outcomeWorld) (bool, error) {
			list, err := forge.Collect(w.Emails.ListForUser(ctx, w.user))
			return !hasAddress(list, "maya.spare@example.com"), err
		},
	},
	{
		"PUT /runners/:id", "client.Runners.Update", "`client.Runners.Get`: the values", againSame,
		func(ctx context.Context, w *outcomeWorld) error {
			_, err := w.Runners.Update(ctx, w.runner, &forge.UpdateRunnerOptions{Description: new("moved")})
			return err
		},
		func(ctx context.Context, w *outcomeWorld) (bool, error) {
			found, err := w.Runners.Get(ctx, w.runner)
			return err == nil && found.Description == "moved", err
		},
	},
	{
		"PUT /runners/:runner_id", "client.Runners.Pause", "`client.Runners.Get`: `Paused`", againSame,
		func(ctx context.Context, w *outcomeWorld) error {
			_, err := w.Runners.Pause(ctx, w.runner, nil)
			return err
		},
		func(ctx context.Context, w *outcomeWorld) (bool, error) {
			found, err := w.Runners.Get(ctx, w.runner)
			return err == nil && found.Paused, err
		},
	},
}

func welcome() *forge.UpdateSettingsOptions {
	return &forge.UpdateSettingsOptions{AfterSignUpText: new("Welcome")}
}

var instanceWrites = []write{
	{
		"POST /groups/:id/placeholder_reassignments", "client.PlaceholderReassignments.Upload",
		"`client.PlaceholderReassignments.List`, some time later: the rows are gone", againSame,
		func(ctx context.Context, w *outcomeWorld) error {
			var file strings.Builder
			rows := func(yield func(*forge.PlaceholderReassignment, error) bool) {
				yield(&forge.PlaceholderReassignment{
					SourceHost: "old.example.com", ImportType: "github", SourceUserIdentifier: "7", SourceUserName: "Maya", SourceUsername: "maya", Username: "maya",
				}, nil)
			}
			err := w.PlaceholderReassignments.WriteCSV(&file, rows)
			if err == nil {
				_, err = w.PlaceholderReassignments.Upload(ctx, w.group, forge.FileBytes([]byte(file.String())))
			}
			return err
		},
		func(ctx context.Context, w *outcomeWorld) (bool, error) {
			rows, err := forge.Collect(w.PlaceholderReassignments.List(ctx, w.group))
			return len(rows) == 0, err
		},
	},
	{
		"PUT /application/settings", "client.Settings.Apply", "`client.Settings.Verify` with the same changes", againSame,
		func(ctx context.Context, w *outcomeWorld) error {
			_, err := w.Settings.Apply(ctx, welcome().Diff())
			return err
		},
		func(ctx context.Context, w *outcomeWorld) (bool, error) {
			report, err := w.Settings.Verify(ctx, welcome().Diff())
			return err == nil && len(report.NotApplied) == 0, err
		},
	},
	{
		"PUT /groups/:id/integrations/:slug", "client.Integrations.Set",
		"`client.Integrations.Get`: `Properties`, which never have secrets", againSame,
		func(ctx context.Context, w *outcomeWorld) error {
			return w.Integrations.Set(ctx, w.group, &forge.CustomIssueTrackerOptions{
				NewIssueURL: "https://t.example.com/new", IssuesURL: "https://t.example.com/:id", ProjectURL: "https://t.example.com",
			})
		},
		func(ctx context.Context, w *outcomeWorld) (bool, error) {
			_, err := w.Integrations.Get(ctx, w.group, forge.IntegrationCustomIssueTracker)
			missing, err := gone(err)
			return !missing, err
		},
	},
	{
		"DELETE /groups/:id/integrations/:slug", "client.Integrations.Disable",
		"`client.Integrations.List`: it lacks the integration", againNotFound,
		func(ctx context.Context, w *outcomeWorld) error {
			return w.Integrations.Disable(ctx, w.group, forge.IntegrationEmailsOnPush)
		},
		func(ctx context.Context, w *outcomeWorld) (bool, error) {
			list, err := forge.Collect(w.Integrations.List(ctx, w.group))
			return len(list) == 0, err
		},
	},
}
