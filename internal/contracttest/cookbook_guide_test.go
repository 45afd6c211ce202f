package contracttest_test

import (
	"context"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strings"

	forge "github.com/forge-sdk/forge-go"
)

// The declarations of this file are in docs/cookbook.md, word for word. cookbook_test.go runs them.

type Project struct { // the fields that you need; map[string]any has all
	ID   int64
	Path string `json:"path_with_namespace"`
}

func readProject(ctx context.Context, client *forge.Client, path string) (*Project, error) {
	project := new(Project)
	call := forge.Call{Route: "/projects/:id", Args: []forge.Arg{forge.Path(path)}}
	return project, client.Do(ctx, call, project)
}

func listMyProjects(ctx context.Context, client *forge.Client) iter.Seq2[*Project, error] {
	query := url.Values{"membership": {"true"}, "order_by": {"id"}} // keyset pagination needs this order
	call := forge.Call{Route: "/projects", Query: query, Pagination: forge.PaginationKeyset}
	return forge.ListAs[Project](ctx, client, call)
}

func listProjectsOf(ctx context.Context, client *forge.Client, group forge.Ref) iter.Seq2[*Project, error] {
	query := url.Values{"include_subgroups": {"true"}}
	call := forge.Call{Route: "/groups/:id/projects", Args: []forge.Arg{group}, Query: query}
	return forge.ListAs[Project](ctx, client, call)
}

type Group struct {
	ID   int64
	Path string `json:"full_path"`
}

func readGroup(ctx context.Context, client *forge.Client, path string) (*Group, error) {
	group := new(Group)
	call := forge.Call{Route: "/groups/:id", Args: []forge.Arg{forge.Path(path)}}
	return group, client.Do(ctx, call, group)
}

func listGroups(ctx context.Context, client *forge.Client, search string) ([]*Group, error) {
	call := forge.Call{Route: "/groups", Query: url.Values{"search": {search}}}
	return forge.Collect(forge.ListAs[Group](ctx, client, call))
}

func readIssue(ctx context.Context, client *forge.Client, project forge.Ref, iid int64) (*forge.Issue, error) {
	issue := new(forge.Issue)
	call := forge.Call{Route: "/projects/:id/issues/:issue_iid", Args: []forge.Arg{project, forge.ID(iid)}}
	return issue, client.Do(ctx, call, issue)
}

func listIssues(ctx context.Context, client *forge.Client, project forge.Ref, label string) iter.Seq2[*forge.Issue, error] {
	query := url.Values{"state": {"opened"}, "labels": {label}}
	call := forge.Call{Route: "/projects/:id/issues", Args: []forge.Arg{project}, Query: query}
	return forge.ListAs[forge.Issue](ctx, client, call)
}

func createIssue(ctx context.Context, client *forge.Client, project forge.Ref, title string, labels ...string) (*forge.Issue, error) {
	issue := new(forge.Issue)
	call := forge.Call{Method: http.MethodPost, Route: "/projects/:id/issues", Args: []forge.Arg{project}}
	call.Body = map[string]any{"title": title, "labels": strings.Join(labels, ",")}
	return issue, client.Do(ctx, call, issue)
}

func closeIssue(ctx context.Context, client *forge.Client, project forge.Ref, iid int64) error {
	call := forge.Call{Method: http.MethodPut, Route: "/projects/:id/issues/:issue_iid", Args: []forge.Arg{project, forge.ID(iid)}}
	call.Body = map[string]any{"state_event": "close", "add_labels": "done"}
	return client.Do(ctx, call, nil)
}

func listNotes(ctx context.Context, client *forge.Client, project forge.Ref, issue int64) iter.Seq2[*forge.Note, error] {
	call := forge.Call{Route: "/projects/:id/issues/:issue_iid/notes", Args: []forge.Arg{project, forge.ID(issue)}}
	return forge.ListAs[forge.Note](ctx, client, call)
}

func createNote(ctx context.Context, client *forge.Client, project forge.Ref, issue int64, text string) (*forge.Note, error) {
	note := new(forge.Note)
	call := forge.Call{Method: http.MethodPost, Route: "/projects/:id/issues/:issue_iid/notes", Args: []forge.Arg{project, forge.ID(issue)}}
	call.Body = map[string]any{"body": text}
	return note, client.Do(ctx, call, note)
}

type Pipeline struct {
	ID          int64
	Status, Ref string
}

func listPipelines(ctx context.Context, client *forge.Client, project forge.Ref, branch string) iter.Seq2[*Pipeline, error] {
	call := forge.Call{Route: "/projects/:id/pipelines", Args: []forge.Arg{project}, Query: url.Values{"ref": {branch}}}
	return forge.ListAs[Pipeline](ctx, client, call)
}

type Job struct {
	ID           int64
	Name, Status string
}

func failedJobs(ctx context.Context, client *forge.Client, project forge.Ref, pipeline int64) ([]*Job, error) {
	call := forge.Call{Route: "/projects/:id/pipelines/:pipeline_id/jobs", Args: []forge.Arg{project, forge.ID(pipeline)}}
	call.Query = url.Values{"scope[]": {"failed", "canceled"}}
	return forge.Collect(forge.ListAs[Job](ctx, client, call))
}

func writeTrace(ctx context.Context, client *forge.Client, project forge.Ref, job int64, w io.Writer) error {
	trace, err := client.Open(ctx, forge.Call{Route: "/projects/:id/jobs/:job_id/trace", Args: []forge.Arg{project, forge.ID(job)}})
	if err == nil {
		defer trace.Close()
		_, err = io.Copy(w, trace)
	}
	return err
}

func saveArtifacts(ctx context.Context, client *forge.Client, project forge.Ref, job int64, path string) error {
	call := forge.Call{Route: "/projects/:id/jobs/:job_id/artifacts", Args: []forge.Arg{project, forge.ID(job)}}
	archive, err := client.Open(ctx, call, forge.MaxBytes(1<<30))
	if err != nil {
		return err
	}
	return archive.SaveTo(path) // the complete file or none; it closes the stream
}

func readMergeRequest(ctx context.Context, client *forge.Client, project forge.Ref, iid int64) (*forge.MergeRequest, error) {
	mr := new(forge.MergeRequest)
	call := forge.Call{Route: "/projects/:id/merge_requests/:merge_request_iid", Args: []forge.Arg{project, forge.ID(iid)}}
	return mr, client.Do(ctx, call, mr)
}

func createMergeRequest(ctx context.Context, client *forge.Client, project forge.Ref, branch, title string) (*forge.MergeRequest, error) {
	mr := new(forge.MergeRequest)
	call := forge.Call{Method: http.MethodPost, Route: "/projects/:id/merge_requests", Args: []forge.Arg{project}}
	call.Body = map[string]any{"source_branch": branch, "target_branch": "main", "title": title}
	return mr, client.Do(ctx, call, mr)
}

func merge(ctx context.Context, client *forge.Client, project forge.Ref, mr *forge.MergeRequest) error {
	call := forge.Call{Method: http.MethodPut, Route: "/projects/:id/merge_requests/:merge_request_iid/merge"}
	call.Args = []forge.Arg{project, forge.ID(mr.IID)}
	call.Body = map[string]any{"sha": mr.SHA} // 409 if the branch has changed since
	return client.Do(ctx, call, nil)
}

func serverVersion(ctx context.Context, client *forge.Client) (string, error) {
	var read struct{ Version string }
	err := client.Do(ctx, forge.Call{Route: "/version"}, &read)
	return read.Version, err
}
