// Forgegen writes typed methods for endpoints of the GitLab REST API into a package of your own
// module. It reads the OpenAPI document that GitLab publishes; the methods send their calls with
// package forge.
//
//	forgegen -gitlab 19.5 -package gitlab -o gitlab 'POST /projects/:id/issues' tag:pipelines
//	forgegen list issues
//	forgegen diff -spec new.yaml
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
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(os.Stderr, "forgegen:", err)
		}
		os.Exit(1)
	}
}

// run executes a command line.
func run(ctx context.Context, args []string, out io.Writer) error {
	command := ""
	if len(args) > 0 && (args[0] == "list" || args[0] == "diff" || args[0] == "rules") {
		command, args = args[0], args[1:]
	}
	if command == "rules" {
		return listRules(out)
	}
	c, err := readCommand(args, out)
	if err != nil {
		return err
	}
	if command == "diff" {
		return diff(ctx, c, out)
	}
	d, err := source{c.Spec, c.GitLab}.load(ctx)
	if err != nil {
		return err
	}
	if command == "list" {
		return list(d, c.Endpoints, out)
	}
	return generate(c, d, out)
}

// readCommand reads the flags, and forgegen.yaml for what they do not set.
func readCommand(args []string, out io.Writer) (*config, error) {
	flags := flag.NewFlagSet("forgegen", flag.ContinueOnError)
	flags.SetOutput(out)
	name := flags.String("config", configFile, "file with `settings` and corrections")
	given := config{}
	flags.StringVar(&given.Spec, "spec", "", "OpenAPI document of GitLab: a `file` or an address")
	flags.StringVar(&given.GitLab, "gitlab", "", "`release` whose published document is read, such as 19.5")
	flags.StringVar(&given.Package, "package", "", "`name` of the generated package")
	flags.StringVar(&given.Output, "o", "", "`folder` of the generated package")
	flags.Usage = func() {
		fmt.Fprint(out, "forgegen [flags] endpoints...   writes a package\nforgegen list [flags] [word]    lists endpoints\n"+
			"forgegen diff -spec new.yaml    reports what another document changes\nforgegen rules                  lists the corrections of documents\n\n")
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	c, err := readConfig(*name)
	if err != nil {
		return nil, err
	}
	if given.Spec != "" || given.GitLab != "" {
		c.newer = source{given.Spec, given.GitLab}
		c.older = source{c.Spec, c.GitLab}
		c.Spec, c.GitLab = given.Spec, given.GitLab
	}
	if given.Package != "" {
		c.Package = given.Package
	}
	if given.Output != "" {
		c.Output = given.Output
	}
	if flags.NArg() > 0 {
		c.Endpoints = flags.Args()
	}
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
