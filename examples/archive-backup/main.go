// Archive-backup saves the repositories of many projects, several concurrently, each as the tar.gz
// archive that the server makes of its default branch. Use it to keep verified copies elsewhere:
// every archive is read to its end before it appears under its name, SHA256SUMS lists them all
// (`sha256sum -c SHA256SUMS` checks them), and an interrupted backup resumes where it stopped. A
// project that fails does not stop the others; the exit code reports it.
//
//	go run .
//	go run . -dir backup -parallel 8 -projects group/app,group/other
//
// By default it saves a few projects of the embedded server, and keeps no file. With FORGE_URL and
// FORGE_TOKEN it uses a real server, and changes nothing there. golang.org/x/sync/errgroup limits
// the number of concurrent downloads.
package main

import (
	"context"
	"errors"
	"flag"
	"io"
	"slices"
	"strings"

	"github.com/forge-sdk/forge-go/examples/internal/demo"
	"github.com/forge-sdk/forge-go/forgetest"
)

func main() { demo.Main(run) }

// run is the whole program; a test runs it too.
func run(ctx context.Context, args []string, _ io.Reader, out io.Writer) error {
	flags := flag.NewFlagSet("archive-backup", flag.ContinueOnError)
	dir := flags.String("dir", "", "`folder` of the backup; complete archives in it are not fetched again")
	parallel := flags.Int("parallel", 4, "the `number` of archives that are fetched at a time")
	paths := flags.String("projects", "", "`paths` of projects, separated by commas")
	if err := demo.Parse(flags, args, out); err != nil {
		return err
	}
	server, err := demo.Connect(out, "archive-backup")
	if err != nil {
		return err
	}
	defer server.Close()
	projects := strings.FieldsFunc(*paths, func(r rune) bool { return r == ',' })
	if len(projects) == 0 && server.Embedded != nil {
		projects = seed(server.Embedded)
	}
	if len(projects) == 0 {
		return errors.New("name the projects to save: -projects group/app,group/other")
	}
	folder, remove, err := server.Path(out, "-dir", *dir, "backup")
	if err != nil {
		return err
	}
	defer remove()
	sums, err := openManifest(folder)
	if err != nil {
		return err
	}
	slices.Sort(projects)
	b := &backup{client: server.Client, dir: folder, sums: sums, out: out}
	return b.all(ctx, slices.Compact(projects), *parallel)
}

// seed adds projects with files, and returns their paths.
func seed(srv *forgetest.Server) []string {
	projects := []string{"acme/platform/gateway"}
	for i, name := range []string{"assets", "fonts", "models", "photos"} {
		srv.AddProject("acme/media/" + name).AddFiles(map[string]string{name + ".bin": strings.Repeat(name, (i+1)<<14)})
		projects = append(projects, "acme/media/"+name)
	}
	return projects
}
