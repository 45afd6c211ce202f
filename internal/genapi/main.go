// Genapi writes the exported API of the library as text: api/forge.txt and api/forgetest.txt, one
// line for each exported name, sorted, in the form of the Go project's own api/*.txt. A change of
// the API therefore changes these files, so that it is visible in a review. go generate runs it.
//
// A line has types only: names of parameters, struct tags and comments do not bind callers. The
// value of an error constant is omitted, because it is a text for people. Unexported fields are one
// line for each struct that has them.
//
//	genapi -breaking CHANGELOG.md -since DIR [-release v0.1.0]
//
// compares api/*.txt with the files of an earlier version in DIR, and fails for each name with a
// removed or changed line that the section "Breaking" of the unreleased changes does not mention.
package main

import (
	"flag"
	"fmt"
	"log"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/forge-sdk/forge-go/internal/gosource"
)

const outputDir = "api"

func main() {
	log.SetFlags(0)
	log.SetPrefix("genapi: ")
	changelog := flag.String("breaking", "", "compare with -since instead of writing; this `file` is the changelog")
	since := flag.String("since", "", "the `directory` with the api files of an earlier version")
	release := flag.String("release", "", "the `tag` of that version; without one the whole changelog counts")
	flag.Parse()
	if *changelog == "" {
		if err := write(".", ".", "./forgetest"); err != nil {
			log.Fatal(err)
		}
		return
	}
	missing, err := unlisted(*since, outputDir, *changelog, *release)
	if err != nil {
		log.Fatal(err)
	}
	for _, name := range missing {
		fmt.Printf("%s was removed or changed, and %s does not list it under Breaking\n", name, *changelog)
	}
	if len(missing) > 0 {
		os.Exit(1)
	}
}

// write writes the file of each package into the directory api of dir.
func write(dir string, patterns ...string) error {
	files, err := generate(dir, patterns...)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := os.WriteFile(filepath.Join(dir, outputDir, name), files[name], 0o644); err != nil {
			return err
		}
	}
	return nil
}

// generate returns the text for each package that the patterns name, by file name.
func generate(dir string, patterns ...string) (map[string][]byte, error) {
	packages, err := gosource.Load(dir, patterns...)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for _, pkg := range packages {
		files[pkg.Name()+".txt"] = []byte(strings.Join(features(pkg), "\n") + "\n")
	}
	return files, nil
}
