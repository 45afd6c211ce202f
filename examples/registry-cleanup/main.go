// Registry-cleanup frees space in a project's container registry. It shows which tags the server
// will delete, asks, deletes, and waits until the tags are gone. Run it by hand, or every night in
// a CI job.
//
//	go run ./examples/registry-cleanup
//	go run ./examples/registry-cleanup -project group/app -repository web \
//		-match '(dev|mr)-.*' -keep-n 5 -older-than 30d
//
// By default it starts the embedded server with the demo data. With FORGE_URL and FORGE_TOKEN it
// uses a real server, where the token needs the role Maintainer in the project.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/examples/internal/demo"
)

func main() { demo.Main(run) }

// run is the whole program; a test runs it too.
func run(ctx context.Context, args []string, in io.Reader, out io.Writer) error {
	tags := &forge.DeleteTagsOptions{KeepN: 5}
	flags := flag.NewFlagSet("registry-cleanup", flag.ContinueOnError)
	project := flags.String("project", "", "the project, by full path or id")
	name := flags.String("repository", "", "the repository of the registry, by name or path; without it they are listed")
	flags.StringVar(&tags.NameRegexDelete, "match", "", "regular expression of the tags to delete, matched with the whole name")
	flags.StringVar(&tags.NameRegexKeep, "keep", "", "regular expression of the tags to keep all the same")
	flags.IntVar(&tags.KeepN, "keep-n", tags.KeepN, "how many of the newest tags that match stay")
	flags.StringVar((*string)(&tags.OlderThan), "older-than", "30d", "how old a tag must be to go: 12h, 30d, 2 months")
	yes := flags.Bool("yes", false, "do not ask")
	wait := flags.Duration("wait", 2*time.Minute, "how long to wait for the server, which deletes in the background")
	if err := demo.Parse(flags, args, out); err != nil {
		return err
	}
	server, err := demo.Connect(out, "registry-cleanup")
	if err != nil {
		return err
	}
	defer server.Close()
	if server.Embedded != nil {
		*project, *name = cmp.Or(*project, "acme/storefront"), cmp.Or(*name, "web")
		tags.NameRegexDelete = cmp.Or(tags.NameRegexDelete, "(dev|mr)-.*")
	}
	if *project == "" {
		return errors.New("-project is missing: whose registry?")
	}
	repository, err := find(ctx, out, server.Client, demo.Ref(*project), *name)
	if err != nil || repository == nil {
		return err
	}
	gone, err := preview(ctx, out, server.Client, repository, tags)
	if err != nil || len(gone) == 0 {
		return err
	}
	question := fmt.Sprintf("Delete %s of %s?", demo.Count(len(gone), "tag"), repository.Path)
	if sure, err := demo.Confirm(ctx, in, out, *yes, question); !sure {
		return err
	}
	if err := server.Client.Registry.DeleteTags(ctx, forge.ID(repository.ProjectID), repository.ID, tags); err != nil {
		return explain(err)
	}
	fmt.Fprintln(out, "The server has accepted it; waiting until they are gone.")
	return waitFor(ctx, out, server.Client, repository, gone, *wait)
}

// find returns the repository with a name or path. Without a name it prints them all.
func find(ctx context.Context, out io.Writer, client *forge.Client, project forge.Ref, name string) (*forge.RegistryRepository, error) {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "REPOSITORY\tTAGS\tCREATED")
	for repository, err := range client.Registry.ListForProject(ctx, project, &forge.ListRegistryRepositoriesOptions{TagsCount: new(true)}) {
		if err != nil {
			return nil, err
		}
		if name == repository.Name || name == repository.Path {
			return repository, nil
		}
		tags := "?" // the server sends the number if it has it
		if repository.TagsCount != nil {
			tags = strconv.Itoa(*repository.TagsCount)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\n", repository.Path, tags, repository.CreatedAt.Format(time.DateOnly))
	}
	if name != "" {
		return nil, fmt.Errorf("the project has no registry repository %q", name)
	}
	fmt.Fprintln(table, "\nName one with -repository to clean it up.")
	return nil, table.Flush()
}

// preview shows which tags will be deleted, and returns their names.
func preview(ctx context.Context, out io.Writer, client *forge.Client, repository *forge.RegistryRepository, tags *forge.DeleteTagsOptions) (gone []string, err error) {
	preview, err := client.Registry.PreviewDeleteTags(ctx, forge.ID(repository.ProjectID), repository.ID, tags)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(out, "%s: %d to delete, and %d to keep of those that match.\n", demo.Count(preview.Total, "tag"), len(preview.Delete), len(preview.Keep))
	if len(preview.Delete) == 0 {
		return nil, nil
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "\nDELETE\tCREATED\tSIZE\tDIGEST")
	var sum int64
	for _, tag := range preview.Delete {
		gone = append(gone, tag.Name)
		sum += tag.TotalSize
		fmt.Fprintf(table, "%s\t%s\t%s\t%.19s\n", tag.Name, tag.CreatedAt.Format(time.DateOnly), megabytes(tag.TotalSize), tag.Digest)
	}
	_ = table.Flush()
	fmt.Fprintf(out, "\n%s at most: layers that tags share count once on the disk.\n", megabytes(sum))
	for _, sentence := range preview.Unknown {
		fmt.Fprintln(out, "-", sentence)
	}
	return gone, nil
}

// waitFor waits until the tags are gone. Those that are left at the end are protected, or not
// deleted yet.
func waitFor(ctx context.Context, out io.Writer, client *forge.Client, repository *forge.RegistryRepository, gone []string, wait time.Duration) error {
	var left []string
	err := demo.Wait(ctx, wait, func() (bool, error) {
		left = nil
		for tag, err := range client.Registry.ListTags(ctx, forge.ID(repository.ProjectID), repository.ID, nil) {
			if err != nil {
				return false, err
			}
			if slices.Contains(gone, tag.Name) {
				left = append(left, tag.Name)
			}
		}
		return len(left) == 0, nil
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "Deleted %s.\n", demo.Count(len(gone)-len(left), "tag"))
	if len(left) > 0 {
		return demo.Finding(fmt.Sprintf("still there after %s: %s\nA protection rule keeps them, or the server is not done yet.", wait, strings.Join(left, ", ")))
	}
	return nil
}

// explain shortens the error of a second bulk deletion within an hour.
func explain(err error) error {
	var limited *forge.RateLimitError
	if errors.As(err, &limited) && !limited.Until.IsZero() {
		return fmt.Errorf("this repository was cleaned up less than an hour ago: try again after %s; nothing was deleted", limited.Until.Format(time.Kitchen))
	}
	return err
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }
