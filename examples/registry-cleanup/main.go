// Registry-cleanup frees the space of a container registry: it shows which tags a bulk deletion
// would remove, asks, deletes, and waits until the tags are gone; or it deletes a whole repository
// in the same way. Run it by hand, or every night in a CI job.
//
//	go run ./examples/registry-cleanup
//	go run ./examples/registry-cleanup -project group/app -repository web \
//		-match '(dev|mr)-.*' -keep-n 5 -older-than 30d
//	go run ./examples/registry-cleanup -project group/app -repository old -delete-repository -yes
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
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/examples/internal/demo"
)

func main() { demo.Main(run) }

// cleanup is one run of the program, as the flags select it.
type cleanup struct {
	client     *forge.Client
	out        io.Writer
	project    string
	repository string
	tags       forge.DeleteTagsOptions
	whole      bool
	yes        bool
	wait       time.Duration
	ask        func(question string) (bool, error)
}

// run is the whole program; a test runs it too.
func run(ctx context.Context, args []string, in io.Reader, out io.Writer) error {
	c := &cleanup{out: out, tags: forge.DeleteTagsOptions{KeepN: 5, OlderThan: forge.Days(30)}}
	flags := flag.NewFlagSet("registry-cleanup", flag.ContinueOnError)
	flags.StringVar(&c.project, "project", "", "the project, by full path or id")
	flags.StringVar(&c.repository, "repository", "", "the repository of the registry, by name or path; without it they are listed")
	flags.StringVar(&c.tags.NameRegexDelete, "match", "", "regular expression of the tags to delete, matched with the whole name")
	flags.StringVar(&c.tags.NameRegexKeep, "keep", "", "regular expression of the tags to keep all the same")
	flags.IntVar(&c.tags.KeepN, "keep-n", c.tags.KeepN, "how many of the newest tags that match stay")
	flags.Func("older-than", "how old a tag must be to go: 12h, 30d, 2 months (default 30d)", func(text string) (err error) {
		c.tags.OlderThan, err = forge.ParseAge(text)
		return err
	})
	flags.BoolVar(&c.whole, "delete-repository", false, "delete the repository with all its tags")
	flags.BoolVar(&c.yes, "yes", false, "do not ask")
	flags.DurationVar(&c.wait, "wait", 2*time.Minute, "how long to wait for the server, which deletes in the background")
	if err := demo.Parse(flags, args, out); err != nil {
		return err
	}
	server, err := demo.Connect(out, "registry-cleanup")
	if err != nil {
		return err
	}
	defer server.Close()
	if server.Embedded {
		c.project, c.repository = cmp.Or(c.project, "acme/storefront"), cmp.Or(c.repository, "web")
		c.tags.NameRegexDelete = cmp.Or(c.tags.NameRegexDelete, "(dev|mr)-.*")
	}
	c.client = server.Client
	c.ask = func(question string) (bool, error) { return demo.Confirm(ctx, in, out, question) }
	return c.run(ctx)
}

func (c *cleanup) run(ctx context.Context) error {
	repository, err := c.find(ctx)
	switch {
	case err != nil || repository == nil:
		return err
	case c.whole:
		return c.deleteRepository(ctx, repository)
	}
	return c.deleteTags(ctx, repository)
}

// find lists the repositories of the project and returns the selected one, or nil if none was
// named.
func (c *cleanup) find(ctx context.Context) (meant *forge.RegistryRepository, err error) {
	if c.project == "" {
		return nil, errors.New("-project is missing: whose registry?")
	}
	repositories, table := 0, tabwriter.NewWriter(c.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "REPOSITORY\tTAGS\tCREATED\tSTATUS")
	for repository, err := range c.client.Registry.ListForProject(ctx, demo.Ref(c.project), &forge.ListRegistryRepositoriesOptions{TagsCount: new(true)}) {
		if err != nil {
			return nil, err
		}
		repositories++
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", repository.Path, tagsOf(repository, strconv.Itoa), repository.CreatedAt.Format(time.DateOnly), repository.Status)
		if c.repository != "" && (c.repository == repository.Name || c.repository == repository.Path) {
			meant = repository
		}
	}
	if repositories > 0 {
		_ = table.Flush()
	}
	switch {
	case c.repository == "" && repositories == 0:
		fmt.Fprintln(c.out, "The project has no registry repository.")
	case c.repository == "":
		fmt.Fprintln(c.out, "\nName one with -repository to clean it up.")
	case meant == nil:
		return nil, fmt.Errorf("project %s has no registry repository %q", c.project, c.repository)
	}
	return meant, nil
}

// deleteTags shows which tags will be deleted, asks, deletes and waits.
func (c *cleanup) deleteTags(ctx context.Context, repository *forge.RegistryRepository) error {
	project := forge.ID(repository.ProjectID)
	preview, err := c.client.Registry.PreviewDeleteTags(ctx, project, repository.ID, &c.tags)
	if err != nil {
		return err
	}
	c.show(preview)
	if len(preview.Delete) == 0 {
		return nil
	}
	if sure, err := c.sure("Delete %s of %s?", demo.Count(len(preview.Delete), "tag"), repository.Path); !sure {
		return err
	}
	if err := c.client.Registry.DeleteTags(ctx, project, repository.ID, &c.tags); err != nil {
		return explain(err)
	}
	fmt.Fprintln(c.out, "The server has accepted it; waiting until they are gone.")
	left, err := c.waitForTags(ctx, repository, preview.Delete)
	if err != nil {
		return err
	}
	fmt.Fprintf(c.out, "Deleted %s.\n", demo.Count(len(preview.Delete)-len(left), "tag"))
	if len(left) > 0 {
		return demo.Finding(fmt.Sprintf("still there after %s: %s\nA protection rule keeps them, or the server is not done yet.", c.wait, strings.Join(left, ", ")))
	}
	return nil
}

// show prints what a preview found.
func (c *cleanup) show(preview *forge.DeleteTagsPreview) {
	fmt.Fprintf(c.out, "\n%s: %d to delete, and %d to keep of those that match.\n", demo.Count(preview.Total, "tag"), len(preview.Delete), len(preview.Keep))
	if len(preview.Delete) == 0 {
		return
	}
	table := tabwriter.NewWriter(c.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "\nDELETE\tCREATED\tSIZE\tDIGEST")
	var sum int64
	for _, tag := range preview.Delete {
		sum += tag.TotalSize
		fmt.Fprintf(table, "%s\t%s\t%s\t%.19s\n", tag.Name, tag.CreatedAt.Format(time.DateOnly), megabytes(tag.TotalSize), tag.Digest)
	}
	_ = table.Flush()
	fmt.Fprintf(c.out, "\n%s at most: layers that tags share count once on the disk.\n", megabytes(sum))
	for _, sentence := range preview.Unknown {
		fmt.Fprintln(c.out, "-", sentence)
	}
}

// tagsOf formats the number of tags of a repository, if the server sent it.
func tagsOf(repository *forge.RegistryRepository, write func(n int) string) string {
	if repository.TagsCount == nil {
		return "an unknown number of tags"
	}
	return write(*repository.TagsCount)
}

// deleteRepository deletes a repository and waits until it is gone.
func (c *cleanup) deleteRepository(ctx context.Context, repository *forge.RegistryRepository) error {
	if sure, err := c.sure("Delete the repository %s with %s?", repository.Path, tagsOf(repository, func(n int) string { return demo.Count(n, "tag") })); !sure {
		return err
	}
	project, started := forge.ID(repository.ProjectID), time.Now()
	if err := c.client.Registry.Delete(ctx, project, repository.ID); err != nil {
		return err
	}
	fmt.Fprintln(c.out, "The server has accepted it; waiting until it is gone.")
	ctx, cancel := context.WithTimeout(ctx, c.wait)
	defer cancel()
	if err := c.client.Registry.WaitDeleted(ctx, project, repository.ID); err != nil {
		return fmt.Errorf("%s is scheduled for deletion, and was not gone in %s: %w", repository.Path, c.wait, err)
	}
	fmt.Fprintf(c.out, "%s is gone after %s.\n", repository.Path, time.Since(started).Round(100*time.Millisecond))
	return nil
}

// sure asks the user to confirm a deletion, unless -yes is set.
func (c *cleanup) sure(format string, args ...any) (bool, error) {
	if c.yes {
		return true, nil
	}
	sure, err := c.ask(fmt.Sprintf(format, args...))
	if err == nil && !sure {
		fmt.Fprintln(c.out, "Nothing was deleted.")
	}
	return sure, err
}

// waitForTags polls at intervals growing to 10 s until the tags are gone. The tags that are left at
// the end are protected, or not deleted yet.
func (c *cleanup) waitForTags(ctx context.Context, repository *forge.RegistryRepository, tags []*forge.RegistryTagDetail) (left []string, err error) {
	deadline := time.Now().Add(c.wait)
	for pause := 500 * time.Millisecond; ; pause = min(2*pause, 10*time.Second) {
		there := map[string]bool{}
		for tag, err := range c.client.Registry.ListTags(ctx, forge.ID(repository.ProjectID), repository.ID, nil) {
			if err != nil {
				return nil, err
			}
			there[tag.Name] = true
		}
		left = nil
		for _, tag := range tags {
			if there[tag.Name] {
				left = append(left, tag.Name)
			}
		}
		rest := time.Until(deadline)
		if len(left) == 0 || rest <= 0 {
			return left, nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(min(pause, rest)):
		}
	}
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
