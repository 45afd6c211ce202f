package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"go/token"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

const configFile = "forgegen.yaml"

// config is forgegen.yaml. The flags of the command replace its first four values.
type config struct {
	Spec        string                `yaml:"spec"`        // a file or an address
	GitLab      string                `yaml:"gitlab"`      // or a release
	Package     string                `yaml:"package"`     // name of the generated package
	Output      string                `yaml:"output"`      // its folder
	Endpoints   []string              `yaml:"endpoints"`   // patterns
	Corrections map[string]correction `yaml:"corrections"` // by endpoint
	Schemas     map[string]schemaFix  `yaml:"schemas"`     // by name in the document

	older, newer source   // the documents of the file and of the flags
	words        []string // arguments of the command
}

// correction replaces what the rules say of an endpoint.
type correction struct {
	Name       string            `yaml:"name"`       // of the method
	Service    string            `yaml:"service"`    // a tag
	Returns    string            `yaml:"returns"`    // list, one, file or nothing
	Response   string            `yaml:"response"`   // a Go type, such as forge.Issue, or a schema
	Class      string            `yaml:"class"`      // safe, idempotent or non-idempotent
	Pagination string            `yaml:"pagination"` // offset or keyset
	Types      map[string]string `yaml:"types"`      // Go types of parameters, by wire name
	Without    []string          `yaml:"without"`    // names of rules that are not applied
}

// schemaFix replaces what the rules say of a schema.
type schemaFix struct {
	Name   string            `yaml:"name"`   // of the Go type
	Type   string            `yaml:"type"`   // another Go type that is used instead
	Fields map[string]string `yaml:"fields"` // Go types of fields, by wire name
}

// readConfig reads a forgegen.yaml, whose file names are relative to its folder. It may be absent.
func readConfig(file string) (*config, error) {
	c := new(config)
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) && file == configFile {
		return c, nil
	}
	if err != nil {
		return nil, err
	}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	decoder.KnownFields(true)
	if err := decoder.Decode(c); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	for _, name := range []*string{&c.Spec, &c.Output} {
		if *name != "" && !filepath.IsAbs(*name) && !strings.Contains(*name, "://") {
			*name = filepath.Join(filepath.Dir(file), *name)
		}
	}
	for endpoint, fix := range c.Corrections {
		if err := fix.check(endpoint); err != nil {
			return nil, fmt.Errorf("%s: corrections of %s: %w", file, endpoint, err)
		}
	}
	for schema, fix := range c.Schemas {
		if fix.Name != "" && !isExported(fix.Name) {
			return nil, fmt.Errorf("%s: schemas: %s: name %q is not an exported Go name", file, schema, fix.Name)
		}
	}
	return c, nil
}

// replace sets what the flags and arguments of the command set.
func (c *config) replace(given config, rest []string) {
	c.older, c.newer = source{c.Spec, c.GitLab}, source{given.Spec, given.GitLab}
	if c.newer != (source{}) {
		c.Spec, c.GitLab = given.Spec, given.GitLab
	}
	c.Package, c.Output = cmp.Or(given.Package, c.Package), cmp.Or(given.Output, c.Output)
	if c.words = rest; len(rest) > 0 {
		c.Endpoints = rest
	}
}

// checkOutput checks where the package is written.
func (c *config) checkOutput() error {
	switch {
	case c.Package == "" || c.Output == "":
		return errors.New("where to? -package gitlab -o gitlab writes package gitlab into the folder gitlab; or set package and output in forgegen.yaml")
	case !token.IsIdentifier(c.Package) || c.Package == "_" || packages[c.Package] != "":
		return fmt.Errorf("-package %q: choose a Go identifier that generated code does not import, such as gitlab", c.Package)
	}
	return nil
}

func isExported(name string) bool { return token.IsIdentifier(name) && token.IsExported(name) }

func (c correction) check(endpoint string) error {
	if _, err := keyOf(endpoint); err != nil {
		return err
	}
	if c.Name != "" && !isExported(c.Name) {
		return fmt.Errorf("name %q is not an exported Go name", c.Name)
	}
	for _, name := range c.Without {
		if !slices.ContainsFunc(rules, func(r rule) bool { return r.Name == name && r.operation != nil }) {
			return fmt.Errorf(`without: there is no rule %s for endpoints; "forgegen rules" lists them`, name)
		}
	}
	for _, of := range []struct{ what, value, values string }{
		{"returns", c.Returns, "list, one, file, nothing"},
		{"class", c.Class, "safe, idempotent, non-idempotent"},
		{"pagination", c.Pagination, "offset, keyset"},
	} {
		if of.value != "" && !slices.Contains(strings.Split(of.values, ", "), of.value) {
			return fmt.Errorf("%s is %q: write one of %s", of.what, of.value, of.values)
		}
	}
	return nil
}

// correctionsByKey returns the corrections by the key of their endpoint.
func (c *config) correctionsByKey(all []*endpoint) (map[string]correction, error) {
	byKey := map[string]correction{}
	for pattern, fix := range c.Corrections {
		key, err := keyOf(pattern)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(all, func(e *endpoint) bool { return e.key() == key }) {
			return nil, fmt.Errorf("corrections: the document has no %s; the nearest are:\n\t%s", pattern, strings.Join(nearest(all, pattern), "\n\t"))
		}
		byKey[key] = fix
	}
	return byKey, nil
}
