// Audit-export writes audit events to a file, one JSON object on each line, as log systems expect.
// Use it to keep events longer than the server does, or to search them elsewhere: a nightly job on
// an instance, a group or a project.
//
//	go run ./examples/audit-export
//	go run ./examples/audit-export -group acme -since 2026-01-01 -file acme.ndjson
//
// An interrupted or killed export resumes where it stopped when it is started again with the same
// flags. A second file, .state, has the cursor of the first page that is not in the export, and the
// length of the export at that point. Events after that point are removed first, so no event is
// lost or written twice.
//
// By default it starts the embedded server with the demo data. With FORGE_URL and FORGE_TOKEN it
// uses a real server, which must be Premium or Ultimate. All events of the instance need an
// administrator's token.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/examples/internal/demo"
)

func main() { demo.Main(run) }

// run is the whole program; a test runs it too.
func run(ctx context.Context, args []string, _ io.Reader, out io.Writer) error {
	flags := flag.NewFlagSet("audit-export", flag.ContinueOnError)
	group := flags.String("group", "", "export the events of a group, by full path or id")
	project := flags.String("project", "", "export the events of a project; without both, those of the whole instance")
	since := flags.String("since", "", "the first day, as in 2026-01-31")
	path := flags.String("file", "audit-events.ndjson", "the file to write, or to go on with")
	ahead := flags.Int("ahead", 1, "how many pages to fetch while one is written")
	if err := demo.Parse(flags, args, out); err != nil {
		return err
	}
	call := forge.Call{Method: http.MethodGet, Route: "/audit_events"}
	switch {
	case *group != "" && *project != "":
		return errors.New("-group and -project exclude each other")
	case *group != "":
		call.Route, call.Args = "/groups/:id/audit_events", []forge.Ref{demo.Ref(*group)}
	case *project != "":
		call.Route, call.Args = "/projects/:id/audit_events", []forge.Ref{demo.Ref(*project)}
	}
	if *since != "" {
		if _, err := time.Parse(time.DateOnly, *since); err != nil {
			return fmt.Errorf("-since %q is no day of the form 2026-01-31", *since)
		}
		call.Query = url.Values{"created_after": {*since + "T00:00:00Z"}}
	}
	server, err := demo.Connect(out, "audit-export")
	if err != nil {
		return err
	}
	defer server.Close()
	return export(ctx, server.Client, call, *path, *ahead, out)
}

// export appends the events that are not in the file yet, as the server sends them:
// AuditEvents.List would decode them into a type, and an archive needs the unknown fields, too.
func export(ctx context.Context, client *forge.Client, call forge.Call, path string, ahead int, out io.Writer) (err error) {
	e, err := openExport(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.file.Close()) }()
	before := e.Events
	switch {
	case e.Cursor.Done():
		fmt.Fprintf(out, "%s is complete: %s. Remove it and %s to start over.\n", path, demo.Count(e.Events, "event"), e.statePath())
		return nil
	case e.Cursor != "":
		fmt.Fprintf(out, "Going on after %s.\n", demo.Count(e.Events, "event"))
	}
	var page forge.Response
	options := []forge.RequestOption{forge.StartAt(e.Cursor), forge.Into(&page)}
	if ahead > 0 {
		options = append(options, forge.Ahead(ahead))
	}
	for event, err := range forge.ListAs[json.RawMessage](ctx, client, call, options...) {
		if err != nil {
			return e.explain(err)
		}
		if page.Cursor != e.Cursor { // the first event of a page: all pages before it are written
			if err := e.save(page.Cursor); err != nil {
				return err
			}
		}
		if err := e.add(*event); err != nil {
			return err
		}
	}
	if err := e.save(page.Cursor); err != nil {
		return err
	}
	fmt.Fprintf(out, "Wrote %s to %s, %d bytes; %s in this run.\n", demo.Count(e.Events, "event"), path, e.Size, demo.Count(e.Events-before, "event"))
	return nil
}
