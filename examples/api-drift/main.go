// Api-drift calls each read endpoint of the API and reports what the server sends that this version
// of the library does not know: unknown fields, and values of another JSON type than documented.
// Use it before you update a server or the library: run it against a test instance of the new
// release, and send the report to the maintainers of the library.
//
//	go run ./examples/api-drift
//	go run ./examples/api-drift -group acme -project acme/app -registry https://registry.example.com
//	go run ./examples/api-drift -json > drift.ndjson
//
// The report has endpoints, names of fields and JSON types. It has no values, no ids and no names
// of objects. Endpoints that the token cannot read, and those without an object to read, are listed
// after it. The program exits with 1 if it found something, and with 2 if a read failed for another
// reason or nothing could be read.
//
// It reads one page of each list, takes the first object of it, and continues from there. It sends
// no write. Of downloads it reads the first bytes; -downloads=false omits them. By default it
// starts the embedded server with the demo data. With FORGE_URL and FORGE_TOKEN it uses a real
// server; a GitLab server also needs FORGE_VOCABULARY=gitlab. An administrator's token sees the
// most.
//
// The report of the embedded server has ten settings in angle brackets: the contract describes them
// without a name, and only that server sends such names.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/examples/internal/demo"
)

func main() {
	demo.Main(func(ctx context.Context, args []string, _ io.Reader, out io.Writer) error {
		return run(ctx, args, out, os.Stderr)
	})
}

// run is the whole program; a test runs it too.
func run(ctx context.Context, args []string, out, progress io.Writer) error {
	flags := flag.NewFlagSet("api-drift", flag.ContinueOnError)
	group := flags.String("group", "", "the group to read, by full path or id; the first one unless set")
	project := flags.String("project", "", "the project to read, by full path or id; the first one unless set")
	perPage := flags.Int("per-page", 20, "how many items of each list to read, 100 at most")
	downloads := flags.Bool("downloads", true, "open files and archives, and read their first bytes")
	registry := flags.String("registry", "", "the address of the container registry, to read it too")
	asJSON := flags.Bool("json", false, "print lines of JSON")
	if err := demo.Parse(flags, args, out); err != nil {
		return err
	}
	if *perPage < 1 || *perPage > 100 {
		return fmt.Errorf("-per-page is %d: it must be from 1 to 100", *perPage)
	}
	server, err := demo.Connect(progress, "api-drift")
	if err != nil {
		return err
	}
	defer server.Close()
	if server.Embedded && *registry != "" {
		return errors.New("-registry names the registry of a real server: set FORGE_URL and FORGE_TOKEN, too")
	}
	if server.Embedded {
		*group, *project = cmp.Or(*group, "acme"), cmp.Or(*project, "acme/platform/gateway")
	}
	w := &walk{downloads: *downloads, registry: *registry, hasRegistry: server.Embedded, perPage: *perPage}
	w.page = []forge.RequestOption{forge.OnePage(), forge.PerPage(*perPage)}
	if w.client, err = server.Client.With(forge.WithDrift(&w.drift)); err != nil {
		return err
	}
	if *group != "" {
		w.group = demo.Ref(*group)
	}
	if *project != "" {
		w.project = demo.Ref(*project)
	}
	if err := w.all(ctx); err != nil {
		return err
	}
	return w.report(out, *asJSON)
}

// walk is one pass over all read endpoints.
type walk struct {
	client      *forge.Client
	perPage     int
	page        []forge.RequestOption // options of each list
	downloads   bool
	registry    string // the value of the flag
	hasRegistry bool   // the client has a registry address
	drift       forge.Drift
	read        int
	unread      []unread
	objects
}

// unread is an endpoint that was not read.
type unread struct {
	route  string
	status int // 0: it was not called, or there was no response
	reason string
	failed bool // it may work at another time, or the program cannot read the response
}

// all reads every endpoint once, in the order of steps. An endpoint that cannot be read does not
// stop it.
func (w *walk) all(ctx context.Context) error {
	for _, s := range steps() {
		w.chooseProject()
		if missing := w.lacks(s.needs); missing != "" {
			w.unread = append(w.unread, unread{route: s.route, reason: missing})
			continue
		}
		err := s.read(ctx, w)
		if ctx.Err() != nil {
			return fmt.Errorf("ended before all endpoints were read: %w", ctx.Err())
		}
		if err == nil {
			w.read++
			continue
		}
		note, ends := judge(s.route, err)
		if ends {
			return err
		}
		w.unread = append(w.unread, note)
	}
	return nil
}

// useRegistry configures the client for the registry. Its tokens come from the server, for the same
// user.
func (w *walk) useRegistry() error {
	client, err := w.client.With(forge.WithRegistry(w.registry, strings.TrimSuffix(w.client.BaseURL(), "/api/v4")),
		forge.WithRegistryCredentials(w.user.Username, os.Getenv("FORGE_TOKEN")))
	if err == nil {
		w.client, w.hasRegistry = client, true
	}
	return err
}

// judge classifies a failed read, and reports whether no other read can succeed either. It does not
// use the server's message, which may name objects.
func judge(route string, err error) (note unread, ends bool) {
	var invalid *forge.ValidationError
	if errors.As(err, &invalid) { // an invalid id, of a response or a flag
		return unread{route: route, reason: cmp.Or(invalid.Param, invalid.Option) + " has no valid value"}, false
	}
	var failed *forge.Error
	refused := errors.Is(err, forge.ErrUnauthorized) || errors.Is(err, forge.ErrNoCredential)
	if !errors.As(err, &failed) || refused && !isNative(route) {
		return unread{}, true
	}
	note = unread{route: route, status: failed.Status}
	if errors.Is(err, forge.ErrNoCredential) {
		note.reason = forge.ErrNoCredential.Error()
		return note, false
	}
	for _, sentinel := range []error{
		forge.ErrInvalidResponse, forge.ErrResponseTooLarge, forge.ErrTimeout, forge.ErrIncomplete, forge.ErrRateLimited, forge.ErrRedirect, forge.ErrServer,
	} {
		if errors.Is(err, sentinel) {
			note.reason, note.failed = sentinel.Error(), true
			break
		}
	}
	switch {
	case failed.Status == 0 && note.reason == "":
		return unread{}, true
	case failed.Status == 501:
		note.reason, note.failed = "", false // not an error: the server does not have the endpoint
	case failed.Status < 400 && note.reason == "":
		note.reason, note.failed = "incomplete response", true
	}
	return note, false
}

// isNative reports whether an endpoint uses the registry's separate credential.
func isNative(route string) bool {
	return strings.HasPrefix(route, "GET /jwt/") || strings.HasPrefix(route, "GET /v2/")
}
