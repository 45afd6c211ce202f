package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"
)

const (
	excerpt  = "testdata/openapi_v3.yaml"
	forgevet = "../forgevet"
)

// TestProof generates all endpoints of a document, and calls each generated method against a server
// that checks the request, and responds as the document says and as servers do in fact.
func TestProof(t *testing.T) {
	t.Run("excerpt", func(t *testing.T) { prove(t, source{Spec: excerpt}) })
	t.Run("published", func(t *testing.T) { prove(t, publishedSpec(t)) })
}

// publishedSpec returns a published document.
func publishedSpec(t *testing.T) source {
	t.Helper()
	if os.Getenv("FORGE_LONG") == "" {
		t.Skip("a published document is proved with FORGE_LONG=1")
	}
	if name := os.Getenv("FORGEGEN_SPEC"); name != "" {
		return source{Spec: name}
	}
	s := source{GitLab: "19.5"}
	if _, err := s.load(t.Context()); err != nil {
		t.Skip("the document of GitLab 19.5 cannot be downloaded; name the file of one in FORGEGEN_SPEC:", err)
	}
	return s
}

func prove(t *testing.T, spec source) {
	started := time.Now()
	folder := module(t)
	m := generateAll(t, spec, filepath.Join(folder, "gitlab"))
	require.Less(t, time.Since(started), time.Minute)

	data, err := json.Marshal(casesOf(m))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "cases.json"), data, 0o600))
	require.NoError(t, os.CopyFS(folder, os.DirFS("testdata/proof")))
	command(t, folder, "go", "vet", "./...")
	tool := filepath.Join(folder, "forgevet.exe")
	command(t, forgevet, "go", "build", "-o", tool, ".")
	command(t, folder, "go", "vet", "-vettool="+tool, "./gitlab")
	command(t, folder, "go", "run", ".", "cases.json")
}

// module returns the folder of a module that uses forge.
func module(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	root, err := filepath.Abs("..")
	require.NoError(t, err)
	mod, err := os.ReadFile("../go.mod")
	require.NoError(t, err)
	_, requirements, _ := strings.Cut(string(mod), "\n")
	text := "module proof\n" + requirements + "\nrequire github.com/forge-sdk/forge-go v0.0.0\nreplace github.com/forge-sdk/forge-go => " + root + "\n"
	sum, err := os.ReadFile("../go.sum")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "go.mod"), []byte(text), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "go.sum"), sum, 0o600))
	return folder
}

// command runs a command, whose output is that of the test if it fails.
func command(t *testing.T, folder, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "GOWORK=off")
	if folder != forgevet {
		cmd.Env = append(cmd.Env, "GOFLAGS=-mod=mod")
	}
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s %s: %s", name, args, out)
	return string(out)
}

// generateAll writes all endpoints of a document.
func generateAll(t *testing.T, spec source, folder string) *model {
	t.Helper()
	d, err := spec.load(t.Context())
	require.NoError(t, err)
	m, err := modelOf(&config{Package: "gitlab", Endpoints: []string{"/"}}, d)
	require.NoError(t, err)
	files, err := m.emit()
	require.NoError(t, err)
	require.NoError(t, writePackage(folder, files))
	return m
}

// proofCase is what the document says of an endpoint, without the rules; testdata/proof has its
// comments.
type proofCase struct {
	Service, Method string
	HTTP, Path      string
	Query, Body     []string
	Files           []string
	Response        *proofSchema
	Drops           bool
}

type proofSchema struct {
	Type   string                  `json:",omitempty"`
	Format string                  `json:",omitempty"`
	Items  *proofSchema            `json:",omitempty"`
	Fields map[string]*proofSchema `json:",omitempty"`
}

func casesOf(m *model) (cases []proofCase) {
	for _, s := range m.Services {
		for _, method := range s.Methods {
			cases = append(cases, caseOf(s, method))
		}
	}
	return cases
}

var optionalGroup = regexp.MustCompile(`\([^()]*/\)|\(\*\w+\)`)

func caseOf(s *service, m *method) proofCase {
	e := m.endpoint
	path := strings.NewReplacer(`\(`, "(", `\)`, ")").Replace(optionalGroup.ReplaceAllString(e.Path, ""))
	c := proofCase{Service: s.Name, Method: m.Name, HTTP: e.Method, Path: path}
	inBody := c.readBody(e)
	for _, ref := range e.params {
		p := ref.Value
		if p.In != "query" || strings.Contains(path, "{"+p.Name+"}") || strings.Contains(path, "*"+p.Name) || slices.Contains(inBody, p.Name) {
			continue
		}
		c.Query = append(c.Query, strings.TrimSuffix(p.Name, "[]"))
	}
	if e.Method == "GET" || e.Method == "HEAD" { // they have no body
		c.Query, c.Body = append(c.Query, c.Body...), nil
	}
	if len(c.Files) > 0 {
		c.Query, c.Body = nil, append(c.Body, c.Query...)
	}
	c.Drops = slices.Contains(c.Query, "approved")
	c.omit(m.Result == listResult, path)
	if schema := successOf(e.op); schema != nil {
		if schema.Value.Type.Is("array") && m.Result == listResult {
			schema = schema.Value.Items
		}
		c.Response = schemaOf(schema, 3)
	}
	return c
}

// readBody sets the names of the body. It returns them, with those of files.
func (c *proofCase) readBody(e *endpoint) (all []string) {
	if e.op.RequestBody == nil {
		return nil
	}
	for _, media := range e.op.RequestBody.Value.Content {
		for name, property := range propertiesOf(media.Schema.Value) {
			all = append(all, name)
			if property.Value.Format == "binary" || property.Value.Type.Is("file") {
				c.Files = append(c.Files, name)
			} else {
				c.Body = append(c.Body, strings.TrimSuffix(name, "[]"))
			}
		}
	}
	return all
}

// omit removes what the library sends itself, what only GitLab's proxy sends, and an object whose
// keys are parameters of their own.
func (c *proofCase) omit(list bool, path string) {
	omitted := []string{"private_token", "job_token", "access_token", "sudo"}
	if list {
		omitted = append(omitted, "page", "per_page", "cursor", "pagination")
	}
	for _, names := range []*[]string{&c.Query, &c.Body} {
		all := slices.Clone(*names)
		*names = slices.DeleteFunc(*names, func(name string) bool {
			proxy := strings.Contains(name, ".") || name == "file_path" && len(c.Files) > 0
			inPath := strings.Contains(path, "{"+name+"}") || strings.Contains(path, "*"+name)
			hash := slices.ContainsFunc(all, func(other string) bool { return strings.HasPrefix(other, name+"[") })
			return slices.Contains(omitted, name) || proxy || inPath || hash || name == "token" && names == &c.Query
		})
		slices.Sort(*names)
		*names = slices.Compact(*names)
	}
}

func successOf(op *openapi3.Operation) *openapi3.SchemaRef {
	for _, status := range []string{"200", "201", "202", "204"} {
		if response := op.Responses.Value(status); response != nil {
			for _, media := range response.Value.Content {
				return media.Schema
			}
		}
	}
	return nil
}

func schemaOf(ref *openapi3.SchemaRef, depth int) *proofSchema {
	if ref == nil || ref.Value == nil || depth == 0 || depth == 1 && len(propertiesOf(ref.Value)) > 0 {
		return nil
	}
	s := &proofSchema{Format: ref.Value.Format, Items: schemaOf(ref.Value.Items, depth)}
	if types := ref.Value.Type.Slice(); len(types) > 0 {
		s.Type = types[0]
	}
	for name, property := range propertiesOf(ref.Value) {
		if s.Fields == nil {
			s.Fields = map[string]*proofSchema{}
		}
		s.Fields[name] = schemaOf(property, depth-1)
	}
	return s
}
