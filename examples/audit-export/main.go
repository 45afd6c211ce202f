// Audit-export writes audit events to files: one file for each day, one JSON object on each line,
// as log systems expect. Use it to keep events longer than the server does, or to search them
// elsewhere: a nightly job on an instance, a group or a project.
//
//	go run ./examples/audit-export
//	go run ./examples/audit-export -dir audit -since 2026-01-01
//	go run ./examples/audit-export -dir acme -group acme
//
// Each run exports the days that have ended since the last run, so a night that was missed is made
// up for by the next one. The first run begins with -since, or with yesterday. Days begin and end
// at midnight UTC, by the server's clock, and the newest event of a day is the first line of its
// file. A day that has ended gets no new events: no event is in two files, and none is between
// them. A day without events is an empty file. Each query is for one day, so nothing is lost if a
// server limits queries to 30 days, as GitLab's page states.
//
// A run that is interrupted or killed is continued by the same command. Until a day is complete,
// its file has the suffix .part. The file audit-export.json has the cursor of the first page that
// is not in the file, and the length of the file without that page. The next run truncates the file
// to that length and continues at the cursor.
//
// The exit code is 0 if a day was exported, 1 if there was none to export, as after a second run in
// the same night, and 2 after an error. Two runs at the same time need a lock. For cron, with
// FORGE_URL and FORGE_TOKEN in its environment:
//
//	30 1 * * * flock /var/lock/audit-export audit-export -dir /var/lib/audit
//
// By default it starts the embedded server with the demo data, exports a week, and keeps no file.
// With FORGE_URL and FORGE_TOKEN it uses a real server, which must be Premium or Ultimate. All
// events of the instance need an administrator's token, those of a group or project the role Owner
// or Maintainer: with a lower role, the server lists only the events of the token's user.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"time"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/examples/internal/demo"
)

// settle is how long after its end a day is exported: a server may store an event a little later
// than its created_at.
const settle = 15 * time.Minute

func main() { demo.Main(run) }

// run is the whole program; a test runs it too.
func run(ctx context.Context, args []string, _ io.Reader, out io.Writer) error {
	e := &export{out: out}
	flags := flag.NewFlagSet("audit-export", flag.ContinueOnError)
	flags.StringVar(&e.dir, "dir", "", "the `folder` to write to, and to continue")
	group := flags.String("group", "", "export the events of a group, by full path or id")
	project := flags.String("project", "", "export the events of a project; without both, those of the whole instance")
	since := flags.String("since", "", "the first `day` of a new folder, as in 2026-01-31; yesterday unless set")
	if err := demo.Parse(flags, args, out); err != nil {
		return err
	}
	if *group != "" && *project != "" {
		return errors.New("-group and -project exclude each other")
	}
	server, err := demo.Connect(out, "audit-export")
	if err != nil {
		return err
	}
	defer server.Close()
	if server.Embedded != nil {
		*since = cmp.Or(*since, "2026-02-23") // the demo data have no event of yesterday
	}
	var remove func()
	if e.dir, remove, err = server.Path(out, "-dir", e.dir, "audit"); err != nil {
		return err
	}
	defer remove()
	e.client = server.Client
	e.list, e.source = list(*group, *project)
	return e.run(ctx, *since)
}

// list returns the list of the events of a group, of a project or of the instance. It is a Call and
// not AuditEvents.List, which decodes events: an archive needs them as the server sent them.
func list(group, project string) (call forge.Call, source string) {
	switch {
	case group != "":
		return forge.Call{Method: http.MethodGet, Route: "/groups/:id/audit_events", Args: []forge.Arg{demo.Ref(group)}}, "the group " + group
	case project != "":
		return forge.Call{Method: http.MethodGet, Route: "/projects/:id/audit_events", Args: []forge.Arg{demo.Ref(project)}}, "the project " + project
	}
	return forge.Call{Method: http.MethodGet, Route: "/audit_events"}, "the instance"
}

// run exports the days that have ended and that the folder does not have.
func (e *export) run(ctx context.Context, since string) error {
	last, err := e.lastDay(ctx)
	if err != nil {
		return err
	}
	first := last
	if since != "" {
		if first, err = time.Parse(time.DateOnly, since); err != nil {
			return fmt.Errorf("-since %q is not a day of the form 2026-01-31", since)
		}
	}
	if err := e.open(first, since != ""); err != nil {
		return err
	}
	if e.Day.After(last) {
		return demo.Finding(fmt.Sprintf("nothing to export: the next day of %s is %s, which can be exported from %s UTC on",
			e.dir, date(e.Day), e.Day.AddDate(0, 0, 1).Add(settle).Format("2006-01-02 15:04")))
	}
	days := 0
	for ; !e.Day.After(last); days++ {
		if err := e.exportDay(ctx); err != nil {
			return err
		}
	}
	fmt.Fprintf(e.out, "Exported %s to %s, which has all events from %s to %s.\n", demo.Count(days, "day"), e.dir, date(e.First), date(last))
	return nil
}

// lastDay returns the last day that has ended, by the server's clock.
func (e *export) lastDay(ctx context.Context) (time.Time, error) {
	var page forge.Response
	_, err := forge.Collect(forge.ListAs[json.RawMessage](ctx, e.client, e.list, forge.OnePage(), forge.PerPage(1), forge.Into(&page)))
	return demo.ServerTime(&page).UTC().Add(-settle).Truncate(24*time.Hour).AddDate(0, 0, -1), err
}

func date(day time.Time) string { return day.Format(time.DateOnly) }
