package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/examples/triage/gitlab"
	"github.com/forge-sdk/forge-go/forgetest"
)

// tracker has the issues, comments and pipelines of one project, for routes that forgetest does not
// have.
type tracker struct {
	mu        sync.Mutex
	issues    []*forge.Issue
	notes     map[int64][]forge.Note // by IID
	uploads   int
	pipelines []*gitlab.PipelineWithMetadata
	result    string // of the next pipelines
	log       string // of their job
}

// newTracker adds the routes to a server, and a few issues.
func newTracker(srv *forgetest.Server) *tracker {
	t := &tracker{notes: map[int64][]forge.Note{}, result: "success", log: "$ make dashboard\nok\n"}
	for days, title := range []string{"Search finds no umlauts", "Checkout is slow on phones", "Add a dark theme", "Export as CSV"} {
		t.add(title, forgetest.DemoTime().AddDate(0, 0, -40*days))
	}
	t.issues[2].Labels = []forge.Label{{Name: "stale"}}
	for route, handler := range map[string]http.HandlerFunc{
		"GET /projects/:id/issues":                         t.listIssues,
		"POST /projects/:id/issues":                        t.createIssue,
		"PUT /projects/:id/issues/:issue_iid":              t.updateIssue,
		"GET /projects/:id/issues/:issue_iid/notes":        t.listNotes,
		"POST /projects/:id/issues/:issue_iid/notes":       t.createNote,
		"POST /projects/:id/uploads":                       t.upload,
		"GET /projects/:id/pipelines":                      t.listPipelines,
		"POST /projects/:id/pipeline":                      t.createPipeline,
		"GET /projects/:id/pipelines/:pipeline_id":         t.getPipeline,
		"GET /projects/:id/pipelines/:pipeline_id/jobs":    t.listJobs,
		"GET /projects/:id/jobs/:job_id/trace":             t.trace,
		"POST /projects/:id/pipelines/:pipeline_id/cancel": t.getPipeline,
	} {
		srv.Handle(route, func(w http.ResponseWriter, r *http.Request) {
			t.mu.Lock()
			defer t.mu.Unlock()
			handler(w, r)
		})
	}
	return t
}

func (t *tracker) add(title string, updated time.Time) *forge.Issue {
	iid := int64(len(t.issues) + 1)
	issue := &forge.Issue{ID: 1000 + iid, IID: iid, Title: title, State: forge.IssueStateOpened, UpdatedAt: updated}
	t.issues = append(t.issues, issue)
	return issue
}

func (t *tracker) listIssues(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	before, _ := time.Parse(time.RFC3339, q.Get("updated_before"))
	var found []*forge.Issue
	for _, issue := range t.issues {
		has := func(label string) bool {
			return slices.ContainsFunc(issue.Labels, func(l forge.Label) bool { return l.Name == label })
		}
		switch {
		case q.Get("state") != "" && q.Get("state") != string(issue.State),
			q.Get("labels") != "" && !has(q.Get("labels")), q.Get("not[labels]") != "" && has(q.Get("not[labels]")),
			!before.IsZero() && issue.UpdatedAt.After(before), !strings.Contains(issue.Title, q.Get("search")):
			continue
		}
		found = append(found, issue)
	}
	forgetest.WritePage(w, r, found)
}

// decode reads a body.
func decode[T any](r *http.Request) (body T) {
	_ = json.NewDecoder(r.Body).Decode(&body)
	return body
}

func (t *tracker) createIssue(w http.ResponseWriter, r *http.Request) {
	forgetest.WriteJSON(w, r, http.StatusCreated, t.add(decode[gitlab.CreateIssueOptions](r).Title, forgetest.DemoTime()))
}

// number returns a placeholder.
func number(r *http.Request, name string) int64 {
	n, _ := strconv.ParseInt(r.PathValue(name), 10, 64)
	return n
}

func (t *tracker) updateIssue(w http.ResponseWriter, r *http.Request) {
	iid, o := number(r, "issue_iid"), decode[gitlab.UpdateIssueOptions](r)
	if iid < 1 || iid > int64(len(t.issues)) {
		forgetest.WriteError(w, r, http.StatusNotFound, "404 Issue Not Found")
		return
	}
	issue := t.issues[iid-1]
	for _, name := range o.AddLabels {
		issue.Labels = append(issue.Labels, forge.Label{Name: name})
	}
	if o.StateEvent == gitlab.IssueStateEventClose {
		issue.State = forge.IssueStateClosed
	}
	issue.UpdatedAt = forgetest.DemoTime()
	forgetest.WriteJSON(w, r, http.StatusOK, issue)
}

func (t *tracker) listNotes(w http.ResponseWriter, r *http.Request) {
	forgetest.WritePage(w, r, t.notes[number(r, "issue_iid")])
}

func (t *tracker) createNote(w http.ResponseWriter, r *http.Request) {
	iid := number(r, "issue_iid")
	note := forge.Note{ID: int64(len(t.notes[iid]) + 1), Body: decode[gitlab.CreateNoteForIssueOptions](r).Body}
	t.notes[iid] = append(t.notes[iid], note)
	forgetest.WriteJSON(w, r, http.StatusCreated, note)
}

func (t *tracker) upload(w http.ResponseWriter, r *http.Request) {
	_, header, err := r.FormFile("file")
	if err != nil {
		forgetest.WriteError(w, r, http.StatusBadRequest, "400 Bad request - file is missing")
		return
	}
	t.uploads++
	url := fmt.Sprintf("/uploads/%d/%s", t.uploads, header.Filename)
	forgetest.WriteJSON(w, r, http.StatusCreated, gitlab.ProjectUpload{URL: url, Markdown: "[" + header.Filename + "](" + url + ")"})
}

func (t *tracker) listPipelines(w http.ResponseWriter, r *http.Request) {
	forgetest.WritePage(w, r, slices.DeleteFunc(slices.Clone(t.pipelines), func(p *gitlab.PipelineWithMetadata) bool {
		return p.Status != r.URL.Query().Get("status")
	}))
}

func (t *tracker) createPipeline(w http.ResponseWriter, r *http.Request) {
	pipeline := &gitlab.PipelineWithMetadata{ID: int64(len(t.pipelines) + 1), Ref: decode[gitlab.CreatePipelineOptions](r).Ref, Status: "running"}
	t.pipelines = append(t.pipelines, pipeline)
	forgetest.WriteJSON(w, r, http.StatusCreated, pipeline)
}

// getPipeline shows a pipeline, which has ended when it is shown next.
func (t *tracker) getPipeline(w http.ResponseWriter, r *http.Request) {
	pipeline := t.pipelines[number(r, "pipeline_id")-1]
	forgetest.WriteJSON(w, r, http.StatusOK, pipeline)
	pipeline.Status = t.result
}

func (t *tracker) listJobs(w http.ResponseWriter, r *http.Request) {
	forgetest.WritePage(w, r, []gitlab.Job{{ID: 7, Name: "dashboard", Stage: "deploy", Status: t.result}})
}

func (t *tracker) trace(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain")
	fmt.Fprint(w, t.log)
}
