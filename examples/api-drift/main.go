// Api-drift calls each read endpoint of the API and reports what the server sends that this version
// of the library does not know: unknown fields, and values of another JSON type than documented.
// Use it before you update a server or the library: run it against a test instance of the new
// release, and send the report to the maintainers of the library.
//
//	go run ./examples/api-drift
//	go run ./examples/api-drift -group acme -project acme/app -registry https://registry.example.com
//
// The report has endpoints, names of fields and JSON types. It has no values, no ids and no names
// of objects. Endpoints that the token cannot read, and those without an object to read, are listed
// after it. The program exits with 1 if it found something, and with 2 if a read failed for another
// reason or nothing could be read.
//
// It reads one page of each list, takes the first object of it, and continues from there
// (reads.go). It sends no write. By default it starts the embedded server with the demo data. With
// FORGE_URL and FORGE_TOKEN it uses a real server. An administrator's token sees the most.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/examples/internal/demo"
)

func main() { demo.Main(run) }

// run is the whole program; a test runs it too.
func run(ctx context.Context, args []string, _ io.Reader, out io.Writer) error {
	flags := flag.NewFlagSet("api-drift", flag.ContinueOnError)
	group := flags.String("group", "", "the group to read, by full path or id; the first one unless set")
	project := flags.String("project", "", "the project to read, by full path or id; the first one unless set")
	registry := flags.String("registry", "", "the address of the container registry, to read it too")
	if err := demo.Parse(flags, args, out); err != nil {
		return err
	}
	server, err := demo.Connect(os.Stderr, "api-drift") // the address is not in the report
	if err != nil {
		return err
	}
	defer server.Close()
	if server.Embedded != nil {
		*group, *project = cmp.Or(*group, "acme"), cmp.Or(*project, "acme/platform/gateway")
	}
	w := &walk{group: demo.Ref(*group), project: demo.Ref(*project), requested: map[string]bool{}}
	requests := func(_ context.Context, a forge.Attempt) { w.requested[a.Method+" "+a.Route] = true }
	if w.client, err = server.Client.With(forge.WithDrift(&w.drift), forge.WithOnAttempt(requests)); err != nil {
		return err
	}
	if err := w.all(ctx, *registry); err != nil {
		return fmt.Errorf("ended before all endpoints were read: %w", err)
	}
	w.addMissing()
	return w.report(out)
}

// walk is one pass over all read endpoints.
type walk struct {
	client    *forge.Client
	end       context.CancelCauseFunc
	drift     forge.Drift
	read      int
	unread    []unread
	requested map[string]bool // routes

	// What earlier reads have found for later ones. The client refuses an id of 0 and an empty name,
	// so that reads that lack an object are not sent.
	group, project forge.Ref // from the flags, or the first ones found
	user           forge.User
	issue          forge.Issue
	request        forge.MergeRequest
	repository     forge.RegistryRepository
}

// unread is an endpoint that was not read.
type unread struct {
	route, reason string
	failed        bool // it may work at another time, or the program cannot read the response
}

// did notes the end of a read. A failure does not stop the others, unless they would fail, too.
func (w *walk) did(err error) {
	var invalid *forge.ValidationError
	var failed *forge.Error
	switch {
	case err == nil:
		w.read++
	case errors.As(err, &invalid): // no earlier read has found an object for it
		w.unread = append(w.unread, unread{route: invalid.Route, reason: "no " + cmp.Or(invalid.Param, invalid.Option) + " is known"})
	case !errors.As(err, &failed):
		w.end(err)
	default:
		note := judge(failed)
		native := strings.HasPrefix(failed.Route, "/jwt/") || strings.HasPrefix(failed.Route, "/v2/") // with a separate credential
		if failed.Status == 0 && note.reason == "" || !native && (errors.Is(err, forge.ErrUnauthorized) || errors.Is(err, forge.ErrNoCredential)) {
			w.end(err)
		}
		w.unread = append(w.unread, note)
	}
}

// addMissing notes the read endpoints of the library for which reads.go has no call.
func (w *walk) addMissing() {
	for _, r := range forge.Routes() {
		route := r.Method + " " + r.Template
		noted := slices.ContainsFunc(w.unread, func(u unread) bool { return u.route == route })
		if r.Method == http.MethodGet && !noted && !w.requested[route] {
			w.unread = append(w.unread, unread{route: route, reason: "reads.go has no call for it"})
		}
	}
}

// judge describes a failed read. It does not use the server's message, which may name objects.
func judge(err *forge.Error) unread {
	note := unread{route: err.Method + " " + err.Route, failed: err.Status < 400}
	if err.Status != 0 {
		note.reason = fmt.Sprintf("%d %s", err.Status, http.StatusText(err.Status))
	}
	for _, class := range []error{
		forge.ErrInvalidResponse, forge.ErrResponseTooLarge, forge.ErrTimeout, forge.ErrRateLimited, forge.ErrRedirect, forge.ErrServer,
		forge.ErrNoCredential,
	} {
		if errors.Is(err, class) {
			note.reason = strings.TrimPrefix(note.reason+", "+class.Error(), ", ")
			// A server that does not have the endpoint, and a token that it does not take, are not failures.
			note.failed = err.Status != http.StatusNotImplemented && !errors.Is(err, forge.ErrNoCredential)
			break
		}
	}
	return note
}

// report prints what was found. Its error sets the exit code of the program.
func (w *walk) report(out io.Writer) error {
	if entries := w.drift.Entries(); len(entries) > 0 {
		table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(table, "ROUTE\tFIELD\tEXPECTED\tFOUND\tCOUNT")
		for _, e := range entries {
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%d\n", e.Route, cmp.Or(e.Pointer, "(all of it)"), cmp.Or(e.Want, "(no such field)"), e.Got, e.Count)
		}
		fmt.Fprintln(table)
		_ = table.Flush()
	}
	failed := 0
	slices.SortStableFunc(w.unread, func(a, b unread) int { return cmp.Compare(a.route, b.route) })
	for _, u := range w.unread {
		fmt.Fprintf(out, "Not read: %s: %s\n", u.route, u.reason)
		if u.failed {
			failed++
		}
	}
	fmt.Fprintf(out, "%d of %d read endpoints were read.\n", w.read, w.read+len(w.unread))
	found, incomplete := len(w.drift.Entries())+w.drift.Dropped(), ""
	if failed > 0 {
		incomplete = "; the report is incomplete: " + demo.Count(failed, "endpoint") + " failed"
	}
	switch {
	case found > 0:
		return demo.Finding(demo.Count(found, "field") + " that this version does not know or reads otherwise" + incomplete)
	case failed > 0:
		return errors.New("no drift in what was read" + incomplete)
	case w.read == 0:
		return errors.New("no endpoint could be read: the reasons are above")
	}
	fmt.Fprintln(out, "No drift.")
	return nil
}
