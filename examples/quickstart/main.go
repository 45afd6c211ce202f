// Quickstart is the first program to run: it lists issues across pages, walks a repository,
// downloads an archive, and subscribes to an issue twice. It shows the library at work before you
// write code.
//
// By default it starts the embedded server with the demo data. With FORGE_URL and FORGE_TOKEN it
// uses a real server, and FORGE_PROJECT names the project to read there (by default the first one
// found in the user's issues). It changes nothing there except the user's subscription to one
// issue, which it restores at the end.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/forgetest"
)

func main() {
	log.SetFlags(0)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Stdout)
	stop()
	if err != nil {
		log.Fatal(err)
	}
}

// run is the whole program; a test runs it too.
func run(ctx context.Context, out io.Writer) error {
	client, project, done, err := connect(out)
	if err != nil {
		return err
	}
	defer done()
	issue, err := listIssues(ctx, out, client)
	if err != nil {
		return err
	}
	if project == "" {
		project = projectOf(issue)
	}
	if err := walkTree(ctx, out, client, project); err != nil {
		return err
	}
	if err := downloadArchive(ctx, out, client, project); err != nil {
		return err
	}
	return subscribeTwice(ctx, out, client, issue)
}

// connect returns a client of the server that the environment names, or of an embedded one, and the
// project to read.
func connect(out io.Writer) (client *forge.Client, project forge.Path, done func(), err error) {
	if os.Getenv("FORGE_URL") != "" {
		if client, err = forge.NewClientFromEnv(forge.WithUserAgent("quickstart/1.0")); err != nil {
			return nil, "", nil, err
		}
		fmt.Fprintf(out, "Server    %s\n", client.BaseURL())
		return client, forge.Path(os.Getenv("FORGE_PROJECT")), func() {}, nil
	}
	srv, err := forgetest.Start(forgetest.WithDemo())
	if err != nil {
		return nil, "", nil, err
	}
	client = srv.Client(forge.WithUserAgent("quickstart/1.0"))
	fmt.Fprintf(out, "Server    %s (embedded, demo data; FORGE_URL and FORGE_TOKEN name a real one)\n", client.BaseURL())
	return client, "acme/platform/gateway", srv.Close, nil
}

// projectOf returns the path of an issue's project, from its full reference, group/app#5.
func projectOf(issue *forge.Issue) forge.Path {
	path, _, _ := strings.Cut(issue.References.Full, "#")
	return forge.Path(path)
}

// listIssues lists open issues with filters, from all pages, and returns the newest.
func listIssues(ctx context.Context, out io.Writer, client *forge.Client) (newest *forge.Issue, err error) {
	started, count := time.Now(), 0
	fmt.Fprintln(out, "Newest")
	labels := map[string]int{}
	var page forge.Response
	for issue, err := range client.Issues.List(ctx, &forge.ListIssuesOptions{
		Scope: forge.ScopeAll,
		State: forge.IssueStateOpened,
		Not:   &forge.IssueNot{Labels: forge.Labels("wontfix")},
	}, forge.PerPage(50), forge.Ahead(2), forge.Into(&page)) {
		if err != nil {
			return nil, err
		}
		if newest = cmp.Or(newest, issue); count < 5 {
			fmt.Fprintf(out, "          %-28s %s\n", issue.References.Full, issue.Title)
		}
		count++
		for _, label := range issue.Labels {
			labels[label.Name]++
		}
	}
	if newest == nil {
		return nil, errors.New("there is no open issue that this user can see: nothing to show")
	}
	total, known := page.Total()
	fmt.Fprintf(out, "Issues    %d open ones in %s", count, roughly(time.Since(started)))
	if known {
		fmt.Fprintf(out, " (the server counts %d)", total)
	}
	fmt.Fprintf(out, "\n          most used labels: %s\n", strings.Join(mostUsed(labels, 4), ", "))
	return newest, nil
}

// walkTree lists all files of the default branch.
func walkTree(ctx context.Context, out io.Writer, client *forge.Client, project forge.Path) error {
	files, folders := map[string]int{}, 0
	for entry, err := range client.Repositories.ListTree(ctx, project, &forge.TreeOptions{Recursive: new(true)}) {
		if err != nil {
			return err
		}
		if entry.Type == forge.TreeEntryTree {
			folders++
			continue
		}
		files[cmp.Or(filepath.Ext(entry.Name), entry.Name)]++
	}
	sum := 0
	for _, n := range files {
		sum += n
	}
	fmt.Fprintf(out, "Tree      %s has %d files in %d folders; by kind: %s\n", project, sum, folders, strings.Join(mostUsed(files, 4), ", "))
	return nil
}

// downloadArchive saves an archive of the project to a file, in constant memory.
func downloadArchive(ctx context.Context, out io.Writer, client *forge.Client, project forge.Path) error {
	var steps, bytes int64
	progress := forge.Progress(func(done, _ int64) { steps, bytes = steps+1, done })
	archive, err := client.Repositories.Archive(ctx, project, &forge.ArchiveOptions{Format: forge.TarGz}, progress)
	if err != nil {
		return err
	}
	defer archive.Close()
	folder, err := os.MkdirTemp("", "quickstart-") // os.TempDir is shared, and may have a file of this name
	if err != nil {
		return err
	}
	path := filepath.Join(folder, cmp.Or(archive.Name, "archive.tar.gz"))
	if err := archive.SaveTo(path); err != nil {
		return err
	}
	fmt.Fprintf(out, "Archive   %s: %d bytes, %d progress reports\n", path, bytes, steps)
	return nil
}

// subscribeTwice shows the response to a write that has nothing to change.
func subscribeTwice(ctx context.Context, out io.Writer, client *forge.Client, issue *forge.Issue) error {
	project := forge.ID(issue.ProjectID)
	changed := false
	for range 2 {
		_, err := client.Issues.Subscribe(ctx, project, issue.IID)
		switch {
		case forge.IsNotModified(err):
			fmt.Fprintf(out, "Subscribe %s: nothing to change (%v)\n", issue.References.Full, err)
		case err != nil:
			return err
		default:
			changed = true
			fmt.Fprintf(out, "Subscribe %s: now subscribed\n", issue.References.Full)
		}
	}
	if !changed {
		return nil
	}
	if _, err := client.Issues.Unsubscribe(ctx, project, issue.IID); err != nil && !forge.IsNotModified(err) {
		return err
	}
	fmt.Fprintln(out, "          and unsubscribed again")
	return nil
}

// mostUsed returns the n names with the highest counts, each with its count.
func mostUsed(counts map[string]int, n int) []string {
	names := make([]string, 0, len(counts))
	for name := range counts {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b)) })
	for i, name := range names {
		names[i] = fmt.Sprintf("%s (%d)", name, counts[name])
	}
	return names[:min(n, len(names))]
}

// roughly rounds a duration for display.
func roughly(d time.Duration) time.Duration { return d.Round(time.Millisecond) }
