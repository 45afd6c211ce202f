// Release-notes generates the changelog section of a release from the commits that have a Changelog
// trailer, prints it, and commits it to the project's changelog if requested. Review the notes
// first, and let the CI job of the tag commit them.
//
//	go run ./examples/release-notes
//	go run ./examples/release-notes -project group/app -version 1.3.0 > notes.md
//	go run ./examples/release-notes -project group/app -version 1.3.0 -commit -yes
//
// By default it starts the embedded server with the demo data. With FORGE_URL and FORGE_TOKEN it
// uses a real server. Only the notes are written to the standard output, everything else to the
// standard error. To commit, the token needs the role Developer in the project.
package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path"
	"strings"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/examples/internal/demo"
)

func main() {
	demo.Main(func(ctx context.Context, args []string, in io.Reader, out io.Writer) error {
		return run(ctx, args, in, out, os.Stderr)
	})
}

// release is one run of the program, as the flags select it.
type release struct {
	client  *forge.Client
	project forge.Ref
	notes   forge.GenerateChangelogOptions
	branch  string
	file    string
}

// run is the whole program; a test runs it too.
func run(ctx context.Context, args []string, in io.Reader, out, progress io.Writer) error {
	r := &release{}
	flags := flag.NewFlagSet("release-notes", flag.ContinueOnError)
	project := flags.String("project", "", "the project, by full path or id")
	flags.StringVar(&r.notes.Version, "version", "", "the version to be released, as in 1.3.0")
	flags.StringVar(&r.notes.From, "from", "", "the commit after which the notes begin; the tag of the version before unless set")
	flags.StringVar(&r.notes.To, "to", "", "the last commit; the tip of the branch unless set")
	commit := flags.Bool("commit", false, "commit the notes to the changelog")
	flags.StringVar(&r.branch, "branch", "", "the branch to commit to; the default branch unless set")
	flags.StringVar(&r.file, "file", "CHANGELOG.md", "the changelog's path in the repository")
	yes := flags.Bool("yes", false, "do not ask")
	if err := demo.Parse(flags, args, out); err != nil {
		return err
	}
	server, err := demo.Connect(progress, "release-notes")
	if err != nil {
		return err
	}
	defer server.Close()
	if server.Embedded != nil {
		*project, r.notes.Version = cmp.Or(*project, "acme/platform/gateway"), cmp.Or(r.notes.Version, "1.3.0")
	}
	if *project == "" || r.notes.Version == "" {
		return errors.New("-project and -version are needed")
	}
	r.client, r.project = server.Client, demo.Ref(*project)
	if r.notes.To == "" {
		r.notes.To = r.branch
	}
	notes, err := r.client.Repositories.GenerateChangelog(ctx, r.project, &r.notes)
	if err != nil {
		return r.explain(err)
	}
	fmt.Fprintln(out, strings.TrimSpace(notes.Notes))
	if !*commit {
		return nil
	}
	return r.publish(ctx, in, progress, *yes)
}

// publish commits the notes, unless the section exists or the user declines.
func (r *release) publish(ctx context.Context, in io.Reader, progress io.Writer, yes bool) error {
	if there, err := r.committed(ctx); err != nil || there {
		return cmp.Or(err, error(demo.Finding(fmt.Sprintf("%s has a section for %s already: nothing was committed", r.file, r.notes.Version))))
	}
	if sure, err := demo.Confirm(ctx, in, progress, yes, "Commit this to "+r.file+"?"); !sure {
		return err
	}
	return r.commit(ctx, progress)
}

// commit adds the section to the changelog. The call is sent once. If its response is lost, the
// changelog shows whether the call was applied.
func (r *release) commit(ctx context.Context, progress io.Writer) error {
	err := r.client.Repositories.CreateChangelog(ctx, r.project, &forge.CreateChangelogOptions{
		Version: r.notes.Version, From: r.notes.From, To: r.notes.To, Branch: r.branch, File: r.file,
	})
	var failed *forge.Error
	if err != nil && (!errors.As(err, &failed) || !failed.MaybeApplied) {
		return r.explain(err)
	}
	there, lookErr := r.committed(ctx)
	switch {
	case lookErr != nil:
		return errors.Join(err, lookErr)
	case !there && err != nil:
		return fmt.Errorf("%w\n%s has no section for %s: it was not committed, and may be tried again", err, r.file, r.notes.Version)
	case !there:
		return fmt.Errorf("the server has accepted the notes, but %s has no section for %s", r.file, r.notes.Version)
	case err != nil:
		fmt.Fprintf(progress, "The answer was lost (%v).\n", failed.Unwrap())
	}
	fmt.Fprintf(progress, "Committed to %s.\n", r.file)
	return nil
}

// committed reports whether the changelog has a section for the version.
func (r *release) committed(ctx context.Context) (bool, error) {
	directory := path.Dir(r.file)
	if directory == "." {
		directory = ""
	}
	for entry, err := range r.client.Repositories.ListTree(ctx, r.project, &forge.ListTreeOptions{Path: directory, Ref: r.branch}) {
		if errors.Is(err, forge.ErrNotFound) {
			return false, nil // no such directory yet
		}
		if err != nil {
			return false, err
		}
		if entry.Path != r.file {
			continue
		}
		blob, err := r.client.Repositories.GetBlob(ctx, r.project, entry.ID)
		if err != nil {
			return false, err
		}
		header := "\n## " + strings.TrimPrefix(r.notes.Version, "v") + " "
		return bytes.Contains(append([]byte("\n"), blob.Content...), []byte(header)), nil
	}
	return false, nil
}

// explain adds what to do if the range of commits cannot be found.
func (r *release) explain(err error) error {
	var failed *forge.Error
	if errors.Is(err, forge.ErrUnprocessable) && errors.As(err, &failed) && r.notes.From == "" {
		return fmt.Errorf("%s\n-from names the commit after which the notes begin", failed.Message)
	}
	return err
}
