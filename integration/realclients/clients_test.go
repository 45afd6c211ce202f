package realclients

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/forge-sdk/forge-go/forgetest"
	"github.com/forge-sdk/forge-go/internal/catalogue"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The versions for which the rows were written.
const (
	pythonGitlab = "3.12.0"
	gitbeaker    = "43.8.0"
)

// session compares the results of one client, row by row.
type session struct {
	*world
	client string
	rows   []row
	seen   []string
	marks  [2]int // number of requests to each server before the row
}

func newSession(t *testing.T, client string) *session {
	s := &session{world: newWorld(t), client: client, rows: rows()}
	s.requests()
	return s
}

// requests returns the routes that the client has called since the last call of requests. Requests
// of the test itself are recognised by their User-Agent.
func (s *session) requests() (routes []string) {
	for i, srv := range []*forgetest.Server{s.srv, s.hosted} {
		all := srv.Requests()
		for _, r := range all[s.marks[i]:] {
			if r.Header.Get("User-Agent") != plain {
				routes = append(routes, r.Route)
			}
		}
		s.marks[i] = len(all)
	}
	return routes
}

// see compares the result of the client for a row with the current store.
func (s *session) see(name string, saw any) {
	s.t.Helper()
	index := slices.IndexFunc(s.rows, func(r row) bool { return r.name == name })
	if !assert.GreaterOrEqual(s.t, index, 0, "no row %q", name) {
		return
	}
	row := s.rows[index]
	s.seen = append(s.seen, name)
	id, _, _ := strings.Cut(name, ":")
	assert.Contains(s.t, s.requests(), route(s.t, id), "%s: the endpoint was not called", name)
	want := normal(s.t, row.want(s.world))
	assert.NotEqual(s.t, []any{}, want, "%s: an empty list proves nothing", name)
	if row.silent == s.client {
		want = nil
	}
	saw = normal(s.t, saw)
	if refused, ok := saw.(map[string]any); ok && refused["status"] != nil && refused["text"] != nil {
		saw = s.refused(name, want, refused)
	}
	if s.client == "go" {
		saw = details(saw)
	}
	how := comparison{typed: s.client == "go", part: row.part}
	for _, difference := range how.differences(name, want, saw) {
		assert.Fail(s.t, difference)
	}
	if row.check != nil {
		row.check(s.world)
	}
}

// details converts labels to the form of the response: client-go has labels with details under
// another key, and writes those of a dependency as one text.
func details(saw any) any {
	switch v := saw.(type) {
	case []any:
		for i := range v {
			v[i] = details(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = details(v[key])
		}
		if labels, ok := v["label_details"]; ok && !empty(labels) {
			v["labels"] = labels
			delete(v, "label_details")
		}
		if joined, ok := v["labels"].(string); ok {
			v["labels"] = []any{}
			for label := range strings.SplitSeq(joined, ",") {
				v["labels"] = append(v["labels"].([]any), label)
			}
		}
	}
	return saw
}

// refused replaces the text of an error with the expected part, if the text contains it.
func (s *session) refused(name string, want any, saw map[string]any) any {
	wanted, ok := want.(map[string]any)
	if !ok || wanted["status"] == nil {
		assert.Fail(s.t, fmt.Sprintf("%s: refused: %v", name, saw))
		return want
	}
	if wanted["status"] == float64(http.StatusNotModified) {
		delete(saw, "text") // a 304 has no body
		return saw
	}
	text, part := fmt.Sprint(saw["text"]), fmt.Sprint(wanted["text"])
	// client-go does not keep the body of a 404.
	if strings.Contains(text, part) || s.client == "go" && saw["status"] == float64(http.StatusNotFound) {
		saw["text"] = wanted["text"]
	}
	return saw
}

// figures has the clients, with the number of endpoints that each has and of the rows that it runs.
// Smaller numbers mean fewer tests and need a reason. Endpoints without a row are not compared.
var figures = map[string]struct{ endpoints, rows int }{"python": {69, 130}, "javascript": {75, 137}, "go": {87, 149}}

// end compares the rows that the client has run with its figures.
func (s *session) end() {
	s.t.Helper()
	endpoints, names := map[string]bool{}, map[string]bool{}
	for _, name := range s.seen {
		id, _, _ := strings.Cut(name, ":")
		endpoints[id], names[name] = true, true
	}
	for _, row := range s.rows {
		assert.False(s.t, names[row.name] && row.without[s.client] != "", "%s: %s", row.name, row.without[s.client])
		if !names[row.name] {
			s.t.Log("not run: " + row.name)
		}
	}
	assert.Len(s.t, endpoints, figures[s.client].endpoints)
	assert.Len(s.t, names, figures[s.client].rows)
}

// route returns the route under which the server counts the requests of an endpoint.
func route(t *testing.T, id string) string {
	t.Helper()
	endpoints := catalogue.Endpoints()
	require.Contains(t, endpoints, id)
	e := endpoints[id]
	if e.SameAs != "" {
		e = endpoints[e.SameAs]
	}
	return e.Method + " " + e.Path
}

// run starts a client that prints one line of JSON for each row and waits for an empty line before
// it continues.
func (s *session) run(command *exec.Cmd) {
	s.t.Helper()
	told, err := json.Marshal(s.world)
	require.NoError(s.t, err)
	var stderr bytes.Buffer
	command.Stderr = &stderr
	command.Env = append(os.Environ(), "WORLD="+string(told), "no_proxy=127.0.0.1", "NO_PROXY=127.0.0.1", "NODE_NO_WARNINGS=1")
	in, err := command.StdinPipe()
	require.NoError(s.t, err)
	out, err := command.StdoutPipe()
	require.NoError(s.t, err)
	require.NoError(s.t, command.Start())
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(s.t, err)
		var report struct {
			Row string `json:"row"`
			Saw any    `json:"saw"`
		}
		require.NoError(s.t, json.Unmarshal(line, &report), string(line))
		s.see(report.Row, report.Saw)
		_, _ = in.Write([]byte("\n"))
	}
	assert.NoError(s.t, command.Wait(), "%s", stderr.String())
	s.end()
}

// need skips the test if a client is not installed, and fails it if the client has another version.
func need(t *testing.T, version, how string, command ...string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), command[0], command[1:]...).Output()
	if err != nil {
		t.Skipf("%s: %v", how, err)
	}
	require.Equal(t, version, strings.TrimSpace(string(out)), how)
}

func TestPythonGitlab(t *testing.T) {
	t.Parallel()
	need(t, pythonGitlab, "python-gitlab is not installed: apt-get install python3-gitlab",
		"/usr/bin/python3", "-c", "import gitlab; print(gitlab.__version__)")
	newSession(t, "python").run(exec.CommandContext(t.Context(), "/usr/bin/python3", "-W", "error::UserWarning", "client.py"))
}

func TestGitbeaker(t *testing.T) {
	t.Parallel()
	need(t, gitbeaker, "@gitbeaker/rest is not installed: apt-get install nodejs npm, and npm ci in this folder",
		"node", "-p", "JSON.parse(fs.readFileSync('node_modules/@gitbeaker/rest/package.json')).version")
	newSession(t, "javascript").run(exec.CommandContext(t.Context(), "node", "client.mjs"))
}
