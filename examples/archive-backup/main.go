// Archive-backup saves the repositories of many projects, several concurrently, each as the tar.gz
// archive that the server makes of its default branch. Use it to keep verified copies elsewhere:
// every archive is read to its end before it appears under its name, SHA256SUMS lists them all
// (`sha256sum -c SHA256SUMS` checks them), and an interrupted backup resumes where it stopped. A
// project that fails does not stop the others; the exit code reports it.
//
//	go run .
//	go run . -dir backup -projects group/app,group/other
//	go run . -dir backup -parallel 8 -list projects.txt
//
// By default it saves a few projects of the embedded server, and keeps no file. With FORGE_URL and
// FORGE_TOKEN it uses a real server, and changes nothing there. vbauerster/mpb shows the progress
// bars, since it can show many; if the output is not a terminal, there are plain lines.
// golang.org/x/sync/errgroup limits the number of concurrent downloads.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	forge "github.com/forge-sdk/forge-go"
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
	list := flags.String("list", "", "`file` with the paths of projects, one on a line")
	if err := demo.Parse(flags, args, out); err != nil {
		return err
	}
	projects, err := readProjects(*list, *paths)
	if err != nil {
		return err
	}
	server, projects, err := connect(projects)
	if err != nil {
		return err
	}
	defer server.Close()
	folder, remove, err := server.Path(out, "-dir", *dir, "backup")
	if err != nil {
		return err
	}
	defer remove()
	sums, err := openManifest(folder)
	if err != nil {
		return err
	}
	b := &backup{client: server.Client, dir: folder, sums: sums, display: newDisplay(out, len(projects))}
	var failed atomic.Int64
	var group errgroup.Group
	group.SetLimit(max(1, *parallel))
	for _, project := range projects {
		group.Go(func() error {
			if b.save(ctx, project) != nil {
				failed.Add(1)
			}
			return nil
		})
	}
	_ = group.Wait() // the display has shown each error
	b.display.close()
	all := demo.Count(len(projects), "project")
	switch n := failed.Load(); {
	case n > 0 && ctx.Err() != nil:
		return fmt.Errorf("interrupted: %d of %s not saved; the same command continues: %w", n, all, ctx.Err())
	case n > 0:
		return demo.Finding(fmt.Sprintf("%d of %s failed; the same command tries again", n, all))
	}
	fmt.Fprintf(out, "Saved and verified %s: %s\n", all, sums.path)
	return nil
}

// readProjects returns the projects of a file and of the command line, without duplicates.
func readProjects(list, paths string) ([]string, error) {
	projects := strings.FieldsFunc(paths, func(r rune) bool { return r == ',' })
	if list != "" {
		content, err := os.ReadFile(list)
		if err != nil {
			return nil, err
		}
		projects = append(projects, strings.Fields(string(content))...)
	}
	slices.Sort(projects)
	return slices.Compact(projects), nil
}

// connect returns the server that the environment names, or an embedded server with projects to
// save.
func connect(projects []string) (server *demo.Server, all []string, err error) {
	agent := forge.WithUserAgent("archive-backup/1.0")
	if os.Getenv("FORGE_URL") != "" {
		if len(projects) == 0 {
			return nil, nil, errors.New("name the projects to save: -projects group/app,group/other, or -list and a file of them")
		}
		client, err := forge.NewClientFromEnv(agent)
		return &demo.Server{Client: client, Close: func() {}}, projects, err
	}
	srv, err := forgetest.Start(forgetest.WithDemo())
	if err != nil {
		return nil, nil, err
	}
	if len(projects) == 0 {
		projects = seed(srv)
	}
	return &demo.Server{Client: srv.Client(agent), Embedded: true, Close: srv.Close}, projects, nil
}

// seed adds projects whose archives take a while on a slow connection, so that there is progress to
// show.
func seed(srv *forgetest.Server) []string {
	projects, random := []string{"acme/platform/gateway"}, rand.NewChaCha8([32]byte{})
	for i, name := range []string{"assets", "datasets", "fonts", "models", "photos", "videos"} {
		content := make([]byte, (i+1)<<16)
		_, _ = random.Read(content) // it never fails
		srv.AddProject("acme/media/" + name).AddFiles(map[string]string{name + ".bin": string(content)})
		projects = append(projects, "acme/media/"+name)
	}
	srv.Fail("GET /projects/:id/repository/archive[.:format]", forgetest.SlowBody(time.Millisecond))
	return projects
}
