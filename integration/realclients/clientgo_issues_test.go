package realclients

import (
	"github.com/stretchr/testify/require"
	"gitlab.com/gitlab-org/api/client-go/v2"
)

func (c *golang) issues() {
	list := func(options gitlab.ListIssuesOptions) any {
		options.Scope = gitlab.Ptr("all")
		return every(func(page gitlab.PaginationOptionFunc) ([]*gitlab.Issue, *gitlab.Response, error) {
			return c.api.Issues.ListIssues(&options, page)
		})
	}
	c.see("issues.list", list(gitlab.ListIssuesOptions{ListOptions: gitlab.ListOptions{PerPage: 100}}))
	c.see("issues.list: filtered", list(gitlab.ListIssuesOptions{
		Confidential: gitlab.Ptr(true), Labels: &gitlab.LabelOptions{"security"}, State: gitlab.Ptr("opened"),
		NotAuthorUsername: gitlab.Ptr("maya.lindqvist"), OrderBy: gitlab.Ptr("title"), Sort: gitlab.Ptr("asc")}))
	c.see("issues.list: by numbers", list(gitlab.ListIssuesOptions{IIDs: &[]int64{1, 2}}))
	c.see("issues.list: nobody's", list(gitlab.ListIssuesOptions{AssigneeID: gitlab.AssigneeID(gitlab.UserIDNone)}))
	c.see("issues.list: two who exclude each other", list(gitlab.ListIssuesOptions{
		AuthorID: gitlab.Ptr(int64(1)), AuthorUsername: gitlab.Ptr("root")}))
	c.see("issues.list: bad token", saw(c.stranger.Issues.ListIssues(nil)))
	c.see("issues.list_group", every(func(page gitlab.PaginationOptionFunc) ([]*gitlab.Issue, *gitlab.Response, error) {
		return c.api.Issues.ListGroupIssues(c.GroupPath, &gitlab.ListGroupIssuesOptions{WithLabelDetails: gitlab.Ptr(true)}, page)
	}))
	c.see("issues.list_group: page", saw(c.api.Issues.ListGroupIssues(c.GroupPath,
		&gitlab.ListGroupIssuesOptions{ListOptions: gitlab.ListOptions{Page: 2, PerPage: 7}})))
	of := func(options gitlab.ListOptions, page ...gitlab.RequestOptionFunc) ([]*gitlab.Issue, *gitlab.Response, error) {
		return c.api.Issues.ListGroupIssues(c.GroupPath, &gitlab.ListGroupIssuesOptions{ListOptions: options}, page...)
	}
	first, response, err := of(gitlab.ListOptions{PerPage: 7})
	require.NoError(c.t, err)
	// With a page loop, as in programs from before the iterator.
	second, response, err := of(gitlab.ListOptions{PerPage: 7, Page: response.NextPage})
	c.see("issues.list_group: two pages", saw(append(first, second...), response, err))
	_, response, err = of(gitlab.ListOptions{PerPage: 7, Page: 2})
	c.see("issues.list_group: figures", saw(map[string]any{"page": response.CurrentPage, "prev": response.PreviousPage,
		"next": response.NextPage, "per_page": response.ItemsPerPage, "total": response.TotalItems, "pages": response.TotalPages}, response, err))
	c.issue()
}

func (c *golang) issue() {
	issues, project := c.api.Issues, c.ProjectPath
	c.see("issues.subscribe", saw(issues.SubscribeToIssue(project, c.Issue)))
	c.see("issues.subscribe: again", saw(issues.SubscribeToIssue(project, c.Issue)))
	c.see("issues.unsubscribe", saw(issues.UnsubscribeFromIssue(project, c.Issue)))
	c.see("issues.unsubscribe: again", saw(issues.UnsubscribeFromIssue(project, c.Issue)))
	c.see("issues.create_todo", saw(issues.CreateTodo(project, c.Issue)))
	c.see("issues.create_todo: again", saw(issues.CreateTodo(project, c.Issue)))
	estimate := func(duration string) any {
		return saw(issues.SetTimeEstimate(project, c.Issue, &gitlab.SetTimeEstimateOptions{Duration: &duration}))
	}
	c.see("issues.set_time_estimate", estimate("3h30m"))
	c.see("issues.set_time_estimate: no duration", estimate("soon"))
	c.see("issues.add_spent_time", saw(issues.AddSpentTime(project, c.Issue, &gitlab.AddSpentTimeOptions{Duration: gitlab.Ptr("1h")})))
	c.see("issues.time_stats", saw(issues.GetTimeSpent(project, c.Issue)))
	c.see("issues.reset_time_estimate", saw(issues.ResetTimeEstimate(project, c.Issue)))
	c.see("issues.reset_spent_time", saw(issues.ResetSpentTime(project, c.Issue)))
	c.see("issues.related_merge_requests", saw(issues.ListMergeRequestsRelatedToIssue(project, c.Issue, nil)))
	c.see("issues.promote_by_note", saw(c.api.Notes.CreateIssueNote(project, c.Quiet,
		&gitlab.CreateIssueNoteOptions{Body: gitlab.Ptr("Large\n/promote")})))
	c.see("issues.time_stats: private project", saw(c.outsider.Issues.GetTimeSpent(c.Private, 1)))
}

func (c *golang) mergeRequests() {
	all, project := c.api.MergeRequests, c.ProjectPath
	list := func(options gitlab.ListMergeRequestsOptions) any {
		options.Scope = gitlab.Ptr("all")
		return every(func(page gitlab.PaginationOptionFunc) ([]*gitlab.BasicMergeRequest, *gitlab.Response, error) {
			return all.ListMergeRequests(&options, page)
		})
	}
	ofProject := func(project string, options gitlab.ListProjectMergeRequestsOptions) any {
		return every(func(page gitlab.PaginationOptionFunc) ([]*gitlab.BasicMergeRequest, *gitlab.Response, error) {
			return all.ListProjectMergeRequests(project, &options, page)
		})
	}
	c.see("merge_requests.list", list(gitlab.ListMergeRequestsOptions{ListOptions: gitlab.ListOptions{PerPage: 5},
		State: gitlab.Ptr("merged"), OrderBy: gitlab.Ptr("updated_at"), Sort: gitlab.Ptr("asc")}))
	c.see("merge_requests.list: drafts", list(gitlab.ListMergeRequestsOptions{WIP: gitlab.Ptr("no"), WithLabelsDetails: gitlab.Ptr(true)}))
	c.see("merge_requests.list_project", ofProject(project, gitlab.ListProjectMergeRequestsOptions{}))
	c.see("merge_requests.list_project: by numbers", ofProject(project, gitlab.ListProjectMergeRequestsOptions{IIDs: &[]int64{1, 2}}))
	c.see("merge_requests.list_project: moved", ofProject(c.Moved,
		gitlab.ListProjectMergeRequestsOptions{ListOptions: gitlab.ListOptions{PerPage: 5}}))
	c.dependencies()
	c.see("merge_requests.changes", saw(all.GetMergeRequestChanges(project, c.Merge,
		&gitlab.GetMergeRequestChangesOptions{AccessRawDiffs: gitlab.Ptr(true)})))
	c.see("merge_requests.subscribe", saw(all.SubscribeToMergeRequest(project, c.Merge)))
	c.see("merge_requests.subscribe: again", saw(all.SubscribeToMergeRequest(project, c.Merge)))
	c.see("merge_requests.unsubscribe", saw(all.UnsubscribeFromMergeRequest(project, c.Merge)))
	c.see("merge_requests.unsubscribe: again", saw(all.UnsubscribeFromMergeRequest(project, c.Merge)))
	c.see("merge_requests.create_todo", saw(all.CreateTodo(project, c.Merge)))
	c.see("merge_requests.create_todo: again", saw(all.CreateTodo(project, c.Merge)))
	c.see("merge_requests.list_versions", saw(all.GetMergeRequestDiffVersions(project, c.Merge, nil)))
	c.see("merge_requests.get_version", saw(all.GetSingleMergeRequestDiffVersion(project, c.Merge, c.Version, nil)))
	c.see("merge_requests.subscribe: missing", saw(all.SubscribeToMergeRequest(project, 999)))
}

func (c *golang) dependencies() {
	all, project := c.api.MergeRequests, c.ProjectPath
	block := gitlab.CreateMergeRequestDependencyOptions{BlockingMergeRequestID: &c.Blocking}
	created, response, err := all.CreateMergeRequestDependency(project, c.Merge, block)
	c.see("merge_requests.create_block", saw(created, response, err))
	c.see("merge_requests.create_block: again", saw(all.CreateMergeRequestDependency(project, c.Merge, block)))
	c.see("merge_requests.list_blocks", saw(all.GetMergeRequestDependencies(project, c.Merge)))
	c.see("merge_requests.delete_block", done(all.DeleteMergeRequestDependency(project, c.Merge, created.ID)))
}
