// Triage looks after issues without changes for a long time: it labels them and asks in
// a comment, closes those that stay silent, uploads a table of what it did to a report issue, and
// starts a pipeline and waits for its end. Run it every night in a CI job.
//
//	go run ./examples/triage
//	go run ./examples/triage -project group/app -stale 1440h -close 336h -dry-run
//
// A second run does nothing again: a comment whose response was lost is found by its marker. All
// calls are of methods that forgegen wrote into the folder gitlab. By default it starts the
// embedded server with a few issues. With FORGE_URL and FORGE_TOKEN it uses a real server, where
// the token needs the role Developer in the project.
package main

//go:generate go -C ../../forgegen run . -config ../examples/triage/forgegen.yaml

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/examples/internal/demo"
	"github.com/forge-sdk/forge-go/examples/triage/gitlab"
)

func main() { demo.Main(run) }

// run is the whole program; a test runs it too.
func run(ctx context.Context, args []string, in io.Reader, out io.Writer) error {
	flags := flag.NewFlagSet("triage", flag.ContinueOnError)
	project := flags.String("project", "", "the project, by full path or id")
	bot := &triage{out: out}
	flags.DurationVar(&bot.stale, "stale", 60*24*time.Hour, "how long nobody has changed an issue that gets the label")
	flags.DurationVar(&bot.close, "close", 14*24*time.Hour, "how long an issue has the label before it is closed")
	flags.StringVar(&bot.label, "label", "stale", "the label")
	flags.StringVar(&bot.ref, "ref", "main", "the branch of the pipeline")
	dryRun := flags.Bool("dry-run", false, "show the requests that would change something, and send none of them")
	yes := flags.Bool("yes", false, "change without a question")
	if err := demo.Parse(flags, args, out); err != nil {
		return err
	}
	server, err := demo.Connect(out, "triage")
	if err != nil {
		return err
	}
	defer server.Close()
	if server.Embedded != nil {
		*project = cmp.Or(*project, "acme/storefront")
		newTracker(server.Embedded)
	}
	if *project == "" {
		return errors.New("-project is missing")
	}
	bot.api, bot.project = gitlab.New(server.Client), demo.Ref(*project)
	if *dryRun {
		bot.plan = new(forge.PlannedRequest)
		bot.changes = []forge.RequestOption{forge.DryRun(bot.plan)}
	}
	if err := bot.find(ctx); err != nil {
		return err
	}
	bot.print(out)
	if !*dryRun {
		if ok, err := demo.Confirm(ctx, in, out, *yes, "Label, comment and close them?"); !ok || err != nil {
			return err
		}
	}
	return bot.work(ctx)
}

// triage is a run of the program.
type triage struct {
	api          *gitlab.Client
	project      forge.Ref
	out          io.Writer
	stale, close time.Duration
	label, ref   string

	changes []forge.RequestOption // of the calls that change something
	plan    *forge.PlannedRequest // of a dry run; nil otherwise

	quiet, silent []*forge.Issue // to label, and to close
}

// find lists the issues. The clock of the server decides.
func (t *triage) find(ctx context.Context) error {
	var page forge.Response
	_, err := forge.Collect(t.api.Issues.ListForProject(ctx, t.project, nil, forge.OnePage(), forge.PerPage(1), forge.Into(&page)))
	if err != nil {
		return err
	}
	now := demo.ServerTime(&page)
	quiet := &gitlab.ListIssuesForProjectOptions{State: forge.IssueStateOpened, UpdatedBefore: now.Add(-t.stale), NotLabels: forge.Labels(t.label)}
	silent := &gitlab.ListIssuesForProjectOptions{State: forge.IssueStateOpened, UpdatedBefore: now.Add(-t.close), Labels: forge.Labels(t.label)}
	if t.quiet, err = forge.Collect(t.api.Issues.ListForProject(ctx, t.project, quiet)); err != nil {
		return err
	}
	t.silent, err = forge.Collect(t.api.Issues.ListForProject(ctx, t.project, silent))
	return err
}

// print writes the table of what is to be done.
func (t *triage) print(out io.Writer) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ISSUE\tTITLE\tCHANGED\tACTION")
	for _, list := range []struct {
		issues []*forge.Issue
		action string
	}{{t.quiet, "label and ask"}, {t.silent, "close"}} {
		for _, issue := range list.issues {
			fmt.Fprintf(w, "#%d\t%s\t%s\t%s\n", issue.IID, issue.Title, issue.UpdatedAt.Format(time.DateOnly), list.action)
		}
	}
	_ = w.Flush()
}

// work changes the issues, then reports and starts the pipeline.
func (t *triage) work(ctx context.Context) error {
	for _, issue := range t.quiet {
		text := "Is this still needed? Nobody has changed it for a long time. It will be closed unless somebody comments."
		if err := t.comment(ctx, issue.IID, "asked", text); err != nil {
			return err
		}
		if err := t.update(ctx, issue.IID, &gitlab.UpdateIssueOptions{AddLabels: []string{t.label}}); err != nil {
			return err
		}
	}
	for _, issue := range t.silent {
		if err := t.comment(ctx, issue.IID, "closed", "Closed, as nobody has replied. Reopen it if it is still needed."); err != nil {
			return err
		}
		if err := t.update(ctx, issue.IID, &gitlab.UpdateIssueOptions{StateEvent: gitlab.IssueStateEventClose}); err != nil {
			return err
		}
	}
	if err := t.report(ctx); err != nil {
		return err
	}
	if err := t.pipeline(ctx); err != nil {
		return err
	}
	if t.plan == nil {
		fmt.Fprintf(t.out, "\n%s labelled, %d closed.\n", demo.Count(len(t.quiet), "issue"), len(t.silent))
	}
	return nil
}

func (t *triage) update(ctx context.Context, iid int64, o *gitlab.UpdateIssueOptions) error {
	_, err := t.api.Issues.Update(ctx, t.project, iid, o, t.changes...)
	return t.planned(err)
}

// comment adds a comment once: it has a marker, which a later run finds. A response that is lost
// does not show whether the comment was created, so the notes are read.
func (t *triage) comment(ctx context.Context, iid int64, kind, text string) error {
	marker := "<!-- triage: " + kind + " -->"
	if found, err := t.commented(ctx, iid, marker); found || err != nil {
		return err
	}
	o := &gitlab.CreateNoteForIssueOptions{Body: text + "\n\n" + marker}
	_, err := t.api.Notes.CreateForIssue(ctx, t.project, iid, o, t.changes...)
	var failed *forge.Error
	if errors.As(err, &failed) && failed.MaybeApplied {
		if found, listErr := t.commented(ctx, iid, marker); listErr == nil && found {
			return nil
		}
	}
	return t.planned(err)
}

func (t *triage) commented(ctx context.Context, iid int64, marker string) (bool, error) {
	o := &gitlab.ListNotesForIssueOptions{ActivityFilter: gitlab.NoteActivityFilterOnlyComments}
	for note, err := range t.api.Notes.ListForIssue(ctx, t.project, iid, o) {
		if err != nil {
			return false, err
		}
		if strings.Contains(note.Body, marker) {
			return true, nil
		}
	}
	return false, nil
}

// planned shows the request of a dry run.
func (t *triage) planned(err error) error {
	if t.plan == nil || !errors.Is(err, forge.ErrDryRun) {
		return err
	}
	fmt.Fprintf(t.out, "%s %s %s\n", t.plan.Method, strings.TrimPrefix(t.plan.Route, "/projects/:id"), t.plan.Body)
	return nil
}
