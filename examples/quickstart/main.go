// Quickstart is the first program to run. It shows the library at work before you write code: it
// reads issues, files and an archive, and shows what the client does after faults (faults.go).
//
// By default it starts the embedded server with demo data. With FORGE_URL and FORGE_TOKEN it uses a
// real server, only reads, and causes no faults. FORGE_PROJECT is then the project whose files it
// reads; without it, that of the newest issue.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/examples/internal/demo"
	"github.com/forge-sdk/forge-go/forgetest"
)

func main() { demo.Main(run) }

// run is the whole program; a test runs it too.
func run(ctx context.Context, _ []string, _ io.Reader, out io.Writer) error {
	if os.Getenv("FORGE_URL") != "" {
		client, err := forge.NewClientFromEnv(forge.WithUserAgent("quickstart/1.0"))
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "Server   %s\n\n", client.BaseURL())
		if _, err := read(ctx, out, client, forge.Path(os.Getenv("FORGE_PROJECT"))); err != nil {
			return err
		}
		fmt.Fprintln(out, "\nDone. Nothing was changed. Without FORGE_URL, the embedded server also shows faults.")
		return nil
	}
	srv, err := forgetest.Start(forgetest.WithDemo())
	if err != nil {
		return err
	}
	defer srv.Close()
	client := srv.Client(forge.WithUserAgent("quickstart/1.0"))
	fmt.Fprintf(out, "Server   %s, embedded, with demo data\n\n", client.BaseURL())
	issue, err := read(ctx, out, client, "acme/platform/gateway")
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "\nThe embedded server now causes one fault for each of these calls:")
	if err := showFaults(ctx, out, srv, client, issue); err != nil {
		return err
	}
	fmt.Fprintln(out, "\nDone. Set FORGE_URL and FORGE_TOKEN to read a real server.")
	return nil
}

// read shows issues and the content of a project, and returns the newest issue.
func read(ctx context.Context, out io.Writer, client *forge.Client, project forge.Path) (*forge.Issue, error) {
	issue, err := listIssues(ctx, out, client)
	if err != nil {
		return nil, err
	}
	named := project != ""
	if !named {
		path, _, _ := strings.Cut(issue.References.Full, "#") // group/app#5
		project = forge.Path(path)
	}
	err = listFiles(ctx, out, client, project)
	if errors.Is(err, forge.ErrNotFound) && !named {
		fmt.Fprintf(out, "Files    none to show in %s: set FORGE_PROJECT to a project with a repository\n", project)
		return issue, nil
	}
	if err != nil {
		return nil, err
	}
	return issue, downloadArchive(ctx, out, client, project)
}

// pageSize makes the lists have several pages.
const pageSize = 50

// openIssues selects the issues that the program lists.
func openIssues() *forge.ListIssuesOptions {
	return &forge.ListIssuesOptions{
		Scope: forge.ScopeAll, // without it, only the issues that the user created
		State: forge.IssueStateOpened,
		Not:   &forge.IssueNot{Labels: forge.Labels("wontfix")},
	}
}

// listIssues lists issues from all pages, and returns the newest.
func listIssues(ctx context.Context, out io.Writer, client *forge.Client) (*forge.Issue, error) {
	started, listed := time.Now(), 0
	var newest []*forge.Issue
	labels := map[string]int{}
	var page forge.Response
	for issue, err := range client.Issues.List(ctx, openIssues(), forge.PerPage(pageSize), forge.Ahead(2), forge.Into(&page)) {
		if err != nil {
			return nil, err
		}
		if listed++; listed <= 3 {
			newest = append(newest, issue)
		}
		for _, label := range issue.Labels {
			labels[label.Name]++
		}
	}
	if listed == 0 {
		return nil, errors.New("this user can see no open issue, so there is nothing to show")
	}
	fmt.Fprintf(out, "Issues   %s in %s", demo.Count(listed, "open issue"), time.Since(started).Round(time.Millisecond))
	if total, known := page.Total(); known {
		fmt.Fprintf(out, "; the server reports a total of %d", total)
	}
	fmt.Fprintln(out, "; the newest:")
	for _, issue := range newest {
		fmt.Fprintf(out, "           %-26s %s\n", issue.References.Full, issue.Title)
	}
	fmt.Fprintf(out, "Labels   %s\n", mostUsed(labels, 4))
	return newest[0], nil
}

// listFiles lists the files of the default branch.
func listFiles(ctx context.Context, out io.Writer, client *forge.Client, project forge.Path) error {
	kinds, files, folders := map[string]int{}, 0, 0
	for entry, err := range client.Repositories.ListTree(ctx, project, &forge.ListTreeOptions{Recursive: new(true)}) {
		if err != nil {
			return err
		}
		if entry.Type == forge.TreeEntryTypeTree {
			folders++
			continue
		}
		files++
		kinds[cmp.Or(filepath.Ext(entry.Name), entry.Name)]++
	}
	fmt.Fprintf(out, "Files    %s in %s of %s: %s\n", demo.Count(files, "file"), demo.Count(folders, "folder"), project, mostUsed(kinds, 3))
	return nil
}

// downloadArchive saves an archive of the project to a file, in constant memory, and removes it.
func downloadArchive(ctx context.Context, out io.Writer, client *forge.Client, project forge.Path) error {
	archive, err := client.Repositories.Archive(ctx, project, &forge.ArchiveOptions{Format: forge.ArchiveFormatTarGz})
	if err != nil {
		return err
	}
	defer archive.Close()
	folder, err := os.MkdirTemp("", "quickstart-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, cmp.Or(archive.Name, "archive.tar.gz"))
	if err := archive.SaveTo(path); err != nil { // the complete file, or none
		return err
	}
	file, err := os.Stat(path)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "Archive  %s: %s, saved and removed\n", file.Name(), demo.Count(int(file.Size()), "byte"))
	return nil
}

// mostUsed returns the n names with the highest counts, each with its count.
func mostUsed(counts map[string]int, n int) string {
	names := make([]string, 0, len(counts))
	for name := range counts {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b)) })
	for i, name := range names {
		names[i] = fmt.Sprintf("%s (%d)", name, counts[name])
	}
	return cmp.Or(strings.Join(names[:min(n, len(names))], ", "), "none")
}
