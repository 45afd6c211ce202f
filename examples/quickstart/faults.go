package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/examples/internal/demo"
	"github.com/forge-sdk/forge-go/forgetest"
)

// The routes of the calls, as the server names them.
const (
	listRoute      = "GET /issues"
	subscribeRoute = "POST /projects/:id/issues/:issue_iid/subscribe"
	spendRoute     = "POST /projects/:id/issues/:issue_iid/add_spent_time"
	archiveRoute   = "GET /projects/:id/repository/archive[.:format]"
)

// faults has the embedded server, which causes the faults and counts what arrives.
type faults struct {
	srv    *forgetest.Server
	client *forge.Client
	issue  *forge.Issue // for the writes
}

// showFaults makes a call for each fault and prints a line about it.
func showFaults(ctx context.Context, out io.Writer, srv *forgetest.Server, client *forge.Client, issue *forge.Issue) error {
	f := &faults{srv, client, issue}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "FAULT\tWHAT THE CLIENT DID\tWHAT THE SERVER COUNTED")
	for _, fault := range []struct {
		name string
		show func(context.Context) (did, counted string, err error)
	}{
		{"502 for page 2 of a list", f.badGateway},
		{"response to Subscribe lost", f.lostSubscription},
		{"response to AddSpentTime lost", f.lostSpentTime},
		{"crash in the middle of page 2", f.crash},
		{"archive moved to another host", f.redirect},
	} {
		did, counted, err := fault.show(ctx)
		if err != nil {
			return err
		}
		fmt.Fprintf(table, "%s\t%s\t%s\n", fault.name, did, counted)
	}
	return table.Flush()
}

// badGateway lists issues. The second page fails once.
func (f *faults) badGateway(ctx context.Context) (did, counted string, err error) {
	f.srv.Fail(listRoute, forgetest.Status(http.StatusBadGateway).After(1).Times(1))
	before := f.srv.CountRequests(listRoute)
	issues, err := forge.Collect(f.client.Issues.List(ctx, openIssues(), forge.PerPage(pageSize)))
	if err != nil {
		return "", "", err
	}
	return fmt.Sprintf("sent it again, returned %s", demo.Count(len(issues), "issue")), f.requests(before, len(issues)), nil
}

// requests returns how many requests for lists arrived since the server had counted before, and how
// many pages the issues have.
func (f *faults) requests(before, issues int) string {
	pages := (issues + pageSize - 1) / pageSize
	return demo.Count(f.srv.CountRequests(listRoute)-before, "request") + " for " + demo.Count(pages, "page")
}

// lostSubscription subscribes to an issue, and the response is lost. Subscribing twice does no
// harm, so the client sends the request again. The server then has nothing to change, which is a
// success.
func (f *faults) lostSubscription(ctx context.Context) (did, counted string, err error) {
	f.srv.Fail(subscribeRoute, forgetest.DropResponse().Times(1))
	_, err = f.client.Issues.Subscribe(ctx, forge.ID(f.issue.ProjectID), f.issue.IID)
	if err != nil && !errors.Is(err, forge.ErrNotModified) {
		return "", "", err
	}
	return "sent it again, which is safe", f.effects(subscribeRoute), nil
}

// lostSpentTime adds working time to an issue, and the response is lost. Adding the time twice
// would be wrong, so the client returns an error that says that the time may have been added.
func (f *faults) lostSpentTime(ctx context.Context) (did, counted string, err error) {
	f.srv.Fail(spendRoute, forgetest.DropResponse().Times(1))
	spent := &forge.AddSpentTimeOptions{Duration: forge.WorkDuration(30 * time.Minute)}
	_, err = f.client.Issues.AddSpentTime(ctx, forge.ID(f.issue.ProjectID), f.issue.IID, spent)
	var failed *forge.Error
	switch {
	case err == nil:
		return "", "", errors.New("the client did not report the lost response")
	case !errors.As(err, &failed) || !failed.MaybeApplied:
		return "", "", err
	}
	return "did not retry, reported MaybeApplied", f.effects(spendRoute), nil
}

// effects returns how many requests of a write arrived, and how many of them changed something.
func (f *faults) effects(route string) string {
	return demo.Count(f.srv.CountRequests(route), "request") + ", " + demo.Count(f.srv.CountApplied(route), "effect")
}

// progress is what a program stores while it reads a list. It outlives a crash.
type progress struct {
	cursor forge.Cursor // the first page that is not in issues
	issues []int64
}

// crash reads a list. The program crashes in the middle of page 2, and a second run resumes.
func (f *faults) crash(ctx context.Context) (did, counted string, err error) {
	whole, err := forge.Collect(f.client.Issues.List(ctx, openIssues()))
	if err != nil {
		return "", "", err
	}
	before := f.srv.CountRequests(listRoute)
	var saved progress
	for _, crashAfter := range []int{pageSize * 3 / 2, 0} {
		if err := f.export(ctx, &saved, crashAfter); err != nil {
			return "", "", err
		}
	}
	if !slices.EqualFunc(saved.issues, whole, func(id int64, issue *forge.Issue) bool { return id == issue.ID }) {
		return "", "", errors.New("the resumed list differs from the whole one")
	}
	return fmt.Sprintf("resumed there: %s, each once", demo.Count(len(saved.issues), "issue")), f.requests(before, len(saved.issues)), nil
}

// export reads the issues that follow the saved cursor, and saves them page by page. It crashes
// after the given number of issues; 0 means never.
func (f *faults) export(ctx context.Context, saved *progress, crashAfter int) error {
	var page forge.Response
	var unsaved []int64
	read := 0
	for issue, err := range f.client.Issues.List(ctx, openIssues(), forge.PerPage(pageSize), forge.StartAt(saved.cursor), forge.Into(&page)) {
		if err != nil {
			return err
		}
		if page.Cursor != saved.cursor { // the first issue of another page: those before are complete
			saved.cursor, saved.issues, unsaved = page.Cursor, append(saved.issues, unsaved...), nil
		}
		unsaved = append(unsaved, issue.ID)
		if read++; read == crashAfter {
			return nil // unsaved is lost
		}
	}
	saved.cursor, saved.issues = page.Cursor, append(saved.issues, unsaved...)
	return nil
}

// redirect downloads an archive that the server has moved to another origin, as servers do that
// keep files in an object storage.
func (f *faults) redirect(ctx context.Context) (did, counted string, err error) {
	storage, err := forgetest.Start()
	if err != nil {
		return "", "", err
	}
	defer storage.Close()
	storage.Fail(archiveRoute, forgetest.Respond(http.StatusOK, "application/gzip", "the archive"))
	f.srv.Fail(archiveRoute, forgetest.RedirectTo(storage.URL, http.StatusFound).Times(1))
	client, err := f.client.With(forge.WithPlainHTTP()) // the embedded servers have no certificates
	if err != nil {
		return "", "", err
	}
	archive, err := client.Repositories.Archive(ctx, forge.ID(f.issue.ProjectID), nil)
	if err != nil {
		return "", "", err
	}
	defer archive.Close()
	if _, err := io.Copy(io.Discard, archive); err != nil {
		return "", "", err
	}
	tokens := 0
	for _, request := range storage.Requests() {
		tokens += strings.Count(fmt.Sprint(request.Header), f.srv.Token)
	}
	return "followed it without the token", fmt.Sprintf("other host: %s, %s", demo.Count(len(storage.Requests()), "request"), demo.Count(tokens, "token")), nil
}
