package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/examples/internal/demo"
	"github.com/forge-sdk/forge-go/examples/triage/gitlab"
)

const reportTitle = "Triage report"

// report uploads the table, and adds it to the report issue, which the first run creates.
func (t *triage) report(ctx context.Context) error {
	if len(t.quiet)+len(t.silent) == 0 {
		return nil
	}
	iid, err := t.reportIssue(ctx)
	if err != nil {
		return err
	}
	var table bytes.Buffer
	t.print(&table)
	upload, err := t.api.Projects.CreateUpload(ctx, t.project, forge.FileBytes(table.Bytes()).Named("triage.txt"), t.changes...)
	if t.plan != nil || err != nil {
		return t.planned(err)
	}
	text := fmt.Sprintf("%s labelled, %d closed: %s", demo.Count(len(t.quiet), "issue"), len(t.silent), upload.Markdown)
	return t.comment(ctx, iid, "report "+upload.URL, text)
}

// reportIssue finds or creates the issue. If the response of its creation is lost, the next run
// finds it.
func (t *triage) reportIssue(ctx context.Context) (iid int64, err error) {
	o := &gitlab.ListIssuesForProjectOptions{State: forge.IssueStateOpened, Search: reportTitle, In: "title"}
	for issue, err := range t.api.Issues.ListForProject(ctx, t.project, o) {
		if err != nil {
			return 0, err
		}
		if issue.Title == reportTitle {
			return issue.IID, nil
		}
	}
	issue, err := t.api.Issues.Create(ctx, t.project, &gitlab.CreateIssueOptions{Title: reportTitle, Confidential: new(true)}, t.changes...)
	if err != nil {
		return 0, t.planned(err)
	}
	return issue.IID, nil
}

// pipelineLimit is how long the program waits for a pipeline; then it cancels it.
const pipelineLimit = time.Hour

// pipeline starts a pipeline, unless one runs already, and waits until it has ended.
func (t *triage) pipeline(ctx context.Context) error {
	id, err := t.startPipeline(ctx)
	if t.plan != nil || err != nil {
		return t.planned(err)
	}
	var last *gitlab.PipelineWithMetadata
	ended := false
	err = demo.Wait(ctx, pipelineLimit, func() (bool, error) {
		if last, err = t.api.Pipelines.Get(ctx, t.project, id); err != nil {
			return false, err
		}
		switch last.Status {
		case "success", "failed", "canceled", "skipped":
			ended = true
		}
		return ended, nil
	})
	switch {
	case err != nil:
		return err
	case !ended:
		_, err = t.api.Pipelines.Cancel(ctx, t.project, id, t.changes...)
		return errors.Join(demo.Finding(fmt.Sprintf("pipeline %d was canceled after %s", id, pipelineLimit)), err)
	}
	fmt.Fprintf(t.out, "\nPipeline %d: %s\n", id, last.Status)
	if last.Status != "success" {
		return t.showFailures(ctx, id)
	}
	return nil
}

func (t *triage) startPipeline(ctx context.Context) (id int64, err error) {
	o := &gitlab.ListPipelinesOptions{Ref: t.ref, Status: gitlab.PipelineStatusRunning}
	for running, err := range t.api.Pipelines.List(ctx, t.project, o, forge.OnePage()) {
		if err != nil {
			return 0, err
		}
		return running.ID, nil
	}
	created, err := t.api.Pipelines.Create(ctx, t.project, &gitlab.CreatePipelineOptions{Ref: t.ref}, t.changes...)
	if err != nil {
		return 0, err
	}
	return created.ID, nil
}

// showFailures writes the end of the logs of the jobs that failed.
func (t *triage) showFailures(ctx context.Context, pipeline int64) error {
	failed := 0
	o := &gitlab.PipelinesListJobsOptions{Scope: gitlab.PipelinesListJobsScopeFailed}
	for job, err := range t.api.Pipelines.ListJobs(ctx, t.project, pipeline, o) {
		if err != nil {
			return err
		}
		failed++
		log, err := t.lastLine(ctx, job.ID)
		if err != nil {
			return err
		}
		fmt.Fprintf(t.out, "%s (%s): %s\n", job.Name, job.Stage, log)
	}
	return demo.Finding(demo.Count(failed, "job") + " failed")
}

// lastLine returns the last line of the log of a job.
func (t *triage) lastLine(ctx context.Context, job int64) (string, error) {
	log, err := t.api.CIJobs.DownloadTrace(ctx, t.project, job)
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(log)
	if err = errors.Join(err, log.Close()); err != nil {
		return "", err
	}
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	return string(lines[len(lines)-1]), nil
}
