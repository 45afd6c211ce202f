// Mirror keeps a copy of the issues and merge requests of a group in a SQLite file, to search and
// join them with other data, without asking the server each time. A run stores what has changed
// since the last one. A run that is interrupted or killed loses nothing: the next one continues.
//
//	go run .
//	go run . -db acme.db -group acme
//	go run . -db acme.db -group acme -sweep
//
// Deletions, moves to other groups and changes that do not touch the time of the last change are
// not seen. -sweep reads everything again and removes what is gone: run it once a night, and
// without it every few minutes.
//
// The table items has a row for each issue and merge request, with the JSON of it. Rows and marks
// are stored in one transaction. Two runs at the same time need a lock.
//
// By default it uses the embedded server with demo data, and keeps no file. With FORGE_URL and
// FORGE_TOKEN it uses a real server, and changes nothing there.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/examples/internal/demo"
	"github.com/forge-sdk/forge-go/forgetest"
)

func main() { demo.Main(run) }

// run is the whole program; a test runs it too.
func run(ctx context.Context, args []string, _ io.Reader, out io.Writer) error {
	flags := flag.NewFlagSet("mirror", flag.ContinueOnError)
	path := flags.String("db", "", "the `file` of the copy")
	group := flags.String("group", "acme", "the `group`, by full path or id")
	sweep := flags.Bool("sweep", false, "read everything again, and remove what is gone")
	if err := demo.Parse(flags, args, out); err != nil {
		return err
	}
	server, err := demo.Connect(out, "mirror")
	if err != nil {
		return err
	}
	defer server.Close()
	if server.Embedded != nil {
		serveGroup(server.Embedded)
	}
	file, remove, err := server.Path(out, "-db", *path, "mirror.db")
	if err != nil {
		return err
	}
	defer remove()
	db, err := openStore(ctx, file)
	if err != nil {
		return err
	}
	defer db.Close()

	ref, client := demo.Ref(*group), server.Client
	issues := func(opts ...forge.RequestOption) iter.Seq2[*forge.Issue, error] {
		return client.Issues.ListForGroup(ctx, ref, &forge.ListIssuesOptions{Scope: forge.ScopeAll}, opts...)
	}
	if err := follow(ctx, db, "issues", issues, *sweep, out); err != nil {
		return err
	}
	call := forge.Call{Route: "/groups/:id/merge_requests", Args: []forge.Arg{ref}, Query: url.Values{"scope": {"all"}}}
	mergeRequests := func(opts ...forge.RequestOption) iter.Seq2[*forge.MergeRequest, error] {
		return forge.ListAs[forge.MergeRequest](ctx, client, call, opts...)
	}
	return follow(ctx, db, "merge requests", mergeRequests, *sweep, out)
}

// batchSize is the number of items that are stored in one transaction.
const batchSize = 100

// follow stores what has changed in a list since the last run. The mark of a batch is that of the
// moment at which all its items were taken from the list, and no other.
func follow[T forge.Issue | forge.MergeRequest](ctx context.Context, db *store, name string, list func(...forge.RequestOption) iter.Seq2[*T, error], sweep bool, out io.Writer) error {
	state, err := db.begin(ctx, name, sweep)
	if err != nil {
		return err
	}
	var page forge.Response
	var batch []*T
	total := 0
	for item, err := range list(forge.Since(state.mark), forge.Into(&page), forge.Ahead(1)) {
		if err != nil {
			return fmt.Errorf("after %d changes of %s: %w", total, name, err)
		}
		if len(batch) == batchSize {
			if err := save(ctx, db, state, batch, page.Mark, false); err != nil {
				return err
			}
			total += len(batch)
			batch = batch[:0]
			fmt.Fprintf(out, "%d changes of %s\n", total, name)
		}
		batch = append(batch, item)
	}
	if err := save(ctx, db, state, batch, page.Mark, true); err != nil {
		return err
	}
	fmt.Fprintf(out, "%s: %d changes, %d in the copy\n", name, total+len(batch), db.count(ctx, name))
	return nil
}

// serveGroup adds the list of a group's merge requests, which the embedded server does not have:
// all of its merge requests are in one group.
func serveGroup(srv *forgetest.Server) {
	srv.Handle("GET /groups/:id/merge_requests", func(w http.ResponseWriter, r *http.Request) {
		inner, err := http.NewRequestWithContext(r.Context(), http.MethodGet, srv.URL+"/api/v4/merge_requests?"+r.URL.RawQuery, nil)
		if err != nil {
			panic(err)
		}
		inner.Header.Set("Private-Token", srv.Token)
		resp, err := http.DefaultClient.Do(inner)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		defer resp.Body.Close()
		for _, name := range []string{"Content-Type", "Link"} {
			w.Header().Set(name, resp.Header.Get(name))
		}
		w.WriteHeader(resp.StatusCode)
		_, _ = io.Copy(w, resp.Body)
	})
}
