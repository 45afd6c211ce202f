// Forgegen writes typed methods for endpoints of the GitLab REST API into a package of your
// module. It reads the OpenAPI document that GitLab publishes; the methods send their calls with
// package forge.
//
//	forgegen -gitlab 19.5 -package gitlab -o gitlab 'POST /projects/:id/issues' tag:pipelines
//	forgegen list issues
//	forgegen diff -gitlab 19.6
//	forgegen rules
//
// docs/forgegen.md of the repository is its guide.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdout)
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "forgegen:", err)
		os.Exit(1) //nolint:gocritic // stop only matters while it runs
	}
}

// run executes a command line.
func run(ctx context.Context, args []string, out io.Writer) error {
	command := "generate"
	if len(args) > 0 && commands[args[0]] {
		command, args = args[0], args[1:]
	}
	c, err := readCommand(args, out)
	if err != nil {
		return err
	}
	switch command {
	case "rules":
		return listRules(out)
	case "diff":
		return diff(ctx, c, out)
	case "deployed":
		return updateDeployed(ctx, c, out)
	}
	d, err := source{c.Spec, c.GitLab}.load(ctx)
	switch {
	case err != nil:
		return err
	case command == "list":
		return list(d, c.words, out)
	}
	return generate(c, d, out)
}

var commands = wordSet("list diff rules deployed")

const usage = `forgegen [flags] endpoint...  writes a package
forgegen list [flags] [word]  lists the endpoints that have the word
forgegen diff [flags]         reports what another document changes for the generated endpoints
forgegen rules                lists the corrections of the documents

An endpoint is 'POST /projects/:id/issues', tag:issues, or /projects/:id/issues for all below it.

`

// readCommand reads the flags, and forgegen.yaml for what they do not set.
func readCommand(args []string, out io.Writer) (*config, error) {
	flags := flag.NewFlagSet("forgegen", flag.ContinueOnError)
	flags.SetOutput(out)
	var given config
	name := flags.String("config", configFile, "`file` with settings and corrections")
	flags.StringVar(&given.Spec, "spec", "", "OpenAPI document of GitLab: a `file` or an address")
	flags.StringVar(&given.GitLab, "gitlab", "", "`release` whose published document is read, such as 19.5")
	flags.StringVar(&given.Package, "package", "", "`name` of the generated package")
	flags.StringVar(&given.Output, "o", "", "`folder` of the generated package")
	flags.Usage = func() {
		fmt.Fprint(out, usage)
		flags.PrintDefaults()
	}
	var rest []string
	for more := args; len(more) > 0; { // flags may follow endpoints
		if err := flags.Parse(more); err != nil {
			return nil, err
		}
		if more = flags.Args(); len(more) > 0 {
			rest, more = append(rest, more[0]), more[1:]
		}
	}
	c, err := readConfig(*name)
	if err != nil {
		return nil, err
	}
	c.replace(given, rest)
	return c, nil
}

// generate writes the package.
func generate(c *config, d *document, out io.Writer) error {
	if err := c.checkOutput(); err != nil {
		return err
	}
	m, err := modelOf(c, d)
	if err != nil {
		return err
	}
	files, err := m.emit()
	if err != nil {
		return err
	}
	if err := writePackage(c.Output, files); err != nil {
		return err
	}
	methods := 0
	for _, s := range m.Services {
		methods += len(s.Methods)
	}
	fmt.Fprintf(out, "%d methods in %d files of %s\n", methods, len(files), filepath.Clean(c.Output))
	return nil
}

// modelOf selects the endpoints and models them.
func modelOf(c *config, d *document) (*model, error) {
	all := d.endpoints()
	chosen, err := selectEndpoints(all, c.Endpoints)
	if err != nil {
		return nil, err
	}
	fixes, err := c.correctionsByKey(all)
	if err != nil {
		return nil, err
	}
	selected := map[*endpoint]bool{}
	for _, e := range chosen {
		selected[e] = true
	}
	return buildModel(c, d, operations(all, fixes), selected)
}
