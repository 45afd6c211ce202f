package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// deployedEntry is an entry of testdata/deployed of the repository: what a release has for an
// endpoint of the library, beyond its contract.
type deployedEntry struct {
	Endpoint string   `json:"endpoint"`
	Kind     string   `json:"kind"` // param, field, and their values
	Name     string   `json:"name"`
	Type     string   `json:"type,omitempty"`
	Values   []string `json:"values,omitempty"`
	Since    string   `json:"since,omitempty"`
	Untyped  string   `json:"untyped,omitempty"`
}

func (e deployedEntry) key() string { return e.Endpoint + " " + e.Kind + " " + e.Name }

// deployedFile is such a file. Its entries keep their text.
type deployedFile struct {
	Release string            `json:"release"`
	Untyped json.RawMessage   `json:"untyped"`
	Entries []json.RawMessage `json:"entries"`
}

// updateDeployed is for maintainers of the library. It compares the published documents of the
// release of the file and of a newer one, for the endpoints of the library. It prints what the
// newer one adds, changes and drops, and adds the additions to the file.
func updateDeployed(ctx context.Context, c *config, out io.Writer) error {
	if len(c.words) != 1 || c.newer == (source{}) {
		return errors.New("usage: forgegen deployed -gitlab 19.6 ../testdata/deployed/19.5.json")
	}
	name := c.words[0]
	file, known, err := readDeployed(name)
	if err != nil {
		return err
	}
	if c.older == (source{}) {
		c.older.GitLab = file.Release
	}
	var facts [2]map[string]deployedEntry
	var release string
	for i, s := range []source{c.older, c.newer} {
		d, err := s.load(ctx)
		if err != nil {
			return err
		}
		if facts[i], err = deployedFacts(d, filepath.Dir(name)); err != nil {
			return err
		}
		release = d.spec.Info.Version
	}
	var added []deployedEntry
	for _, key := range slices.Sorted(maps.Keys(facts[1])) {
		e := facts[1][key]
		switch before, had := facts[0][key]; {
		case had && before.Type == e.Type && slices.Equal(before.Values, e.Values):
			continue
		case had && before.Type != e.Type:
			fmt.Fprintf(out, "~ %s is %s, was %s\n", key, e.Type, before.Type)
			continue
		case had:
			e.Values = slices.DeleteFunc(slices.Clone(e.Values), func(value string) bool { return slices.Contains(before.Values, value) })
		}
		if len(e.Values) == 0 && strings.HasSuffix(e.Kind, "values") {
			continue
		}
		fmt.Fprintf(out, "+ %s %s%s\n", key, e.Type, strings.Join(e.Values, " "))
		if e.Since, e.Untyped = release, "new"; !known[key] {
			added = append(added, e)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(facts[0])) {
		if _, has := facts[1][key]; !has {
			fmt.Fprintf(out, "- %s: a filter that servers drop belongs into the entries as dropped, a field as gone\n", key)
		}
	}
	return file.write(name, release, added)
}

// readDeployed returns the file, and the keys of its entries.
func readDeployed(name string) (*deployedFile, map[string]bool, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, nil, err
	}
	var file deployedFile
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	known := map[string]bool{}
	for _, raw := range file.Entries {
		var e deployedEntry
		if err := json.Unmarshal(raw, &e); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", name, err)
		}
		known[e.key()] = true
	}
	return &file, known, nil
}

// write replaces the file. Each entry is a line.
func (f *deployedFile) write(name, release string, added []deployedEntry) error {
	untyped := f.Untyped
	if len(added) > 0 && !bytes.Contains(untyped, []byte(`"new"`)) {
		untyped = append(bytes.TrimRight(untyped, "\n }"), []byte(",\n  \"new\": \"a release has added it, and nobody has decided about it yet\"\n }")...)
	}
	for _, e := range added {
		var line bytes.Buffer
		encoder := json.NewEncoder(&line)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(e); err != nil {
			return err
		}
		text := strings.NewReplacer(`":`, `": `, `,"`, `, "`).Replace(strings.TrimSpace(line.String()))
		f.Entries = append(f.Entries, json.RawMessage(text))
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "{\n \"release\": %q,\n \"untyped\": %s,\n \"entries\": [\n", release, untyped)
	for i, raw := range f.Entries {
		if i > 0 {
			b.WriteString(",\n")
		}
		fmt.Fprintf(&b, "  %s", raw)
	}
	b.WriteString("\n ]\n}\n")
	return writeFile(name, b.Bytes())
}

// deployedFacts returns what a document says of the endpoints of the library.
func deployedFacts(d *document, folder string) (map[string]deployedEntry, error) {
	data, err := os.ReadFile(filepath.Join(folder, "../../internal/catalogue/endpoints.json"))
	if err != nil {
		return nil, err
	}
	var rows []struct{ Method, Path, Base string }
	if err := json.Unmarshal(data, &rows); err != nil {
		return nil, err
	}
	routes := map[string]string{}
	for _, row := range rows {
		if row.Base == "api" {
			routes[row.Method+" "+shapeOf(splitPath(row.Path))] = row.Method + " " + row.Path
		}
	}
	facts := map[string]deployedEntry{}
	for _, op := range operations(d.endpoints(), nil) {
		if route := routes[op.key()]; route != "" {
			add := func(e deployedEntry) { e.Endpoint = route; facts[e.key()] = e }
			for _, p := range op.Params {
				addFact(add, "param", strings.TrimSuffix(p.Wire, "[]"), p.Schema.Value)
			}
			addFields(add, "", op.response, 3)
		}
	}
	return facts, nil
}

// addFields adds the fields of a response, by their paths.
func addFields(add func(deployedEntry), path string, ref *openapi3.SchemaRef, depth int) {
	if ref == nil || ref.Value == nil || depth == 0 {
		return
	}
	if ref.Value.Type.Is("array") {
		addFields(add, path, ref.Value.Items, depth)
		return
	}
	for name, property := range propertiesOf(ref.Value) {
		addFact(add, "field", path+name, property.Value)
		addFields(add, path+name+".", property, depth-1)
	}
}

func addFact(add func(deployedEntry), kind, name string, s *openapi3.Schema) {
	add(deployedEntry{Kind: kind, Name: name, Type: strings.Join(s.Type.Slice(), "|")})
	if values := enumOf(s); len(values) > 0 {
		add(deployedEntry{Kind: kind + " values", Name: name, Values: values})
	}
}
