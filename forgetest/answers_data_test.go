package forgetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go/internal/racetest"
)

// testdata/demo.txt has the hash of each list of the demo data.
func TestAnswersOfDemo(t *testing.T) {
	racetest.SkipSequential(t)
	var to strings.Builder
	w := &answerWorld{Server: New(t, WithDemo()), t: t}
	for _, path := range []string{
		"/issues?scope=all&", "/merge_requests?scope=all&", "/runners/all?", "/runners/1?", "/runners/1/jobs?", "/runners/1/managers?", "/audit_events?", "/groups/acme/audit_events?",
		"/users?", "/projects/3/repository/tree?recursive=true&", "/projects/3/repository/contributors?", "/groups/acme/placeholder_reassignments?",
		"/projects/1/registry/repositories?tags=true&", "/projects/3/registry/repositories?tags=true&", "/projects/3/repository/changelog?version=2.0.0&",
		"/projects/3/merge_requests/14/changes?", "/projects/3/merge_requests/14/versions?", "/namespaces?", "/groups/acme/issues?",
		"/projects/3/repository/compare?from=main&to=experiment/http3&", "/projects/3/repository/compare?from=experiment/http3&to=main&straight=true&unidiff=true&",
		"/projects/3/repository/merge_base?refs[]=main&refs[]=experiment/http3&", "/projects/1/runners?",
	} {
		for page, next := 1, "1"; next != ""; page++ {
			var body string
			next, body = w.get(fmt.Sprintf("%sper_page=100&page=%d", path, page))
			fmt.Fprintf(&to, "%spage=%d: %s\n", path, page, hashed(body))
		}
	}
	assertFile(t, "demo", to.String())
}

// The lists of the demo data have with each value of each parameter what testdata/lists.txt says:
// the number of the next page, and the items.
func TestAnswersOfDemoLists(t *testing.T) {
	racetest.SkipSequential(t)
	var to strings.Builder
	w := &answerWorld{Server: New(t, WithDemo()), t: t}
	for _, list := range [][2]string{
		{"/issues", "/issues?scope=all"}, {"/groups/:id/issues", "/groups/acme/issues?"}, {"/merge_requests", "/merge_requests?scope=all"}, {"/projects/:id/merge_requests", "/projects/1/merge_requests?"},
		{"/runners/all", "/runners/all?"}, {"/projects/:id/runners", "/projects/1/runners?"}, {"/runners/:id/jobs", "/runners/1/jobs?"}, {"/users", "/users?"},
		{"/audit_events", "/audit_events?"}, {"/groups/:id/audit_events", "/groups/acme/audit_events?"}, {"/projects/:id/audit_events", "/projects/1/audit_events?"},
		{"/projects/:id/repository/tree", "/projects/3/repository/tree?"}, {"/projects/:id/repository/contributors", "/projects/3/repository/contributors?"}, {"/namespaces", "/namespaces?"},
	} {
		fmt.Fprintln(&to, "#", list[0])
		same := grouped{}
		params := catalogue().endpoints["GET "+list[0]].QueryParams
		for _, p := range slices.Concat(params, []parameter{{Wire: "page", Enum: []string{"2"}}}) {
			for _, p := range append(p.Keys, p) {
				for _, value := range slices.Concat(p.Enum, p.Special, demoValues(p)) {
					sorts := []string{""}
					if p.Wire == "order_by" {
						sorts = append(sorts, "&sort=asc")
					}
					for _, sort := range sorts {
						next, body := w.get(list[1] + "&per_page=12&" + url.QueryEscape(p.Wire) + "=" + url.QueryEscape(value) + sort)
						var items []any
						if json.Unmarshal([]byte(body), &items) == nil {
							body = next + names(items)
						}
						same.add(body, p.Wire, value+sort)
					}
				}
			}
		}
		same.print(&to, "with")
	}
	assertFile(t, "lists", to.String())
}

// demoValues are values of a parameter that some records of the demo data have.
func demoValues(p parameter) []string {
	switch kind := strings.TrimPrefix(p.Type, "array<"); {
	case len(p.Enum) > 0:
	case kind == "integer", kind == "integer>":
		return []string{"2", "3", "17"}
	case kind == "boolean":
		return []string{"true", "false"}
	case kind == "datetime":
		return []string{"2025-06-01", "2025-11-20T10:00:00Z"}
	case kind == "string", kind == "string>":
		return []string{"security", "maya.lindqvist", "1.1", "crash", "at_risk", "17.11", "stale", "v1.0.0", "cmd"}
	}
	return nil
}

// The files of testdata/seed, with every member of the schema, put into a server what
// testdata/seed.txt says.
func TestAnswersOfSeed(t *testing.T) {
	racetest.SkipSequential(t)
	var to strings.Builder
	w := &answerWorld{Server: New(t, WithSeed("testdata/seed"), func(s *Server) { s.clock = noon }), t: t}
	for _, path := range []string{
		"/users", "/users/2/emails", "/namespaces", "/issues?scope=all", "/merge_requests?scope=all", "/runners/all", "/runners/1", "/runners/2", "/runners/3", "/audit_events", "/groups/acme%2Ftools/audit_events",
		"/projects/1/audit_events", "/groups/acme%2Ftools/integrations", "/groups/acme%2Ftools/integrations/jira", "/projects/1/repository/tree?recursive=true",
		"/projects/2/repository/tree?recursive=true", "/projects/1/repository/compare?from=fix&to=more", "/projects/1/repository/merge_base?refs[]=v1.0.0&refs[]=main",
		"/projects/1/registry/repositories?tags=true", "/projects/1/registry/repositories/1/tags/v1.0.0", "/projects/1/secure_files", "/projects/1/secure_files/1/download",
		"/projects/1/resource_groups", "/issues?with_labels_details=true&scope=all&iids[]=1",
	} {
		_, body := w.get(path)
		fmt.Fprintf(&to, "# %s\n%s\n", path, body)
	}
	for _, u := range w.store.users {
		roles := map[string]string{}
		for _, g := range w.store.groups {
			roles[fmt.Sprint(g.Path, " ", g.visibility)] = fmt.Sprint(g.members[u])
		}
		for _, p := range w.store.projects {
			roles[fmt.Sprint(p.Path, " ", p.visibility, " ", p.archived)] = fmt.Sprint(p.members[u])
		}
		fmt.Fprintln(&to, u.Username, u.Admin, roles)
	}
	fmt.Fprintln(&to, w.store.tokens["maya-token"].scopes, w.store.tokens["maya-reads"].scopes)
	_, settings := w.get("/application/settings")
	_, defaults := (&answerWorld{Server: New(t, func(s *Server) { s.clock = noon }), t: t}).get("/application/settings")
	fmt.Fprintln(&to, difference(defaults, settings))
	assertFile(t, "seed", to.String())
}

// A sequence of calls of the control, and of the API between them, has the responses of
// testdata/control.txt.
func TestAnswersOfControl(t *testing.T) {
	racetest.SkipSequential(t)
	var have strings.Builder
	w := &answerWorld{Server: New(t, WithControl("control", nil), WithStarterRoutes(), WithToken("token"), func(s *Server) { s.clock = noon }), t: t}
	w.AddProject("acme/app").AddIssues(2, nil)
	text, err := os.ReadFile("testdata/control_calls.txt")
	require.NoError(t, err)
	id := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		method, rest, _ := strings.Cut(line, " ")
		path, body, _ := strings.Cut(rest, " ")
		r := httptest.NewRequest(method, w.URL+strings.ReplaceAll(path, "ID", id), strings.NewReader(strings.ReplaceAll(body, "ID", id)))
		if strings.HasPrefix(path, "/api/") {
			r.Header.Set("Private-Token", w.Token)
			r.Header.Set(testHeader, id)
		} else {
			r.Header.Set("Authorization", "Bearer control")
		}
		to := httptest.NewRecorder()
		w.serve(to, r)
		answer := to.Body.String()
		if made := randomID.FindString(answer); made != "" {
			id = made
		}
		var plain bytes.Buffer
		if json.Compact(&plain, []byte(answer)) == nil {
			answer = plain.String()
		}
		fmt.Fprintf(&have, "# %s\n%d %s %s\n", line, to.Code, to.Header().Get("Content-Type"), w.printed(randomID.ReplaceAllString(strings.ReplaceAll(answer, moduleVersion(), "VERSION"), "ID")))
	}
	fmt.Fprintln(&have, w.counts())
	assertFile(t, "control", have.String())
	for _, row := range w.counts() { // of the page
		r := httptest.NewRequest("GET", w.URL+apiPath+row.Path, nil)
		r.Header.Set("Private-Token", w.Token)
		to := httptest.NewRecorder()
		w.serve(to, r)
		assert.Equal(t, fmt.Sprint(row.Count), to.Header().Get("X-Total"), row.Name)
	}
}

// Users get the registry tokens of testdata/registry.txt.
func TestAnswersOfRegistry(t *testing.T) {
	var have strings.Builder
	w := newAnswerWorld(t)
	n := native{newCaller(t, w.Server), w.Server}
	for _, scope := range []string{
		"repository:group/app/image:pull", "repository:group/app:pull,push,delete,*,none", "repository:GROUP/app/image:delete", "repository:group/application:pull", "repository:none:pull",
		"registry:catalog:*", "registry:catalog:pull", "registry:other:*", "other:group/app:pull", "repository:group/app", "repository::pull", "repository", ":", "",
		"repository:other/sub/app:pull repository:group/app:push",
	} {
		fmt.Fprintf(&have, "# %s\n", scope)
		for _, v := range []Visibility{Public, Private} {
			w.begin(v)
			same := grouped{}
			for _, who := range slices.Sorted(maps.Keys(w.tokens)) {
				name := orElse(map[string]string{"read_api": "root", "manage_runners": "root", "job": "gitlab-ci-token"}[who], who)
				r := n.auth(name, w.tokens[who], scope)
				if r.Status == 200 {
					claims := claimsOf(t, r.object(t)["token"].(string))
					r.Body = fmt.Sprint(claims.Audience, claims.Expires-claims.Issued, claims.Access)
				}
				same.add(fmt.Sprint(r.Status, " ", w.printed(r.Body)), who, "")
			}
			same.print(&have, v.String())
		}
	}
	assertFile(t, "registry", have.String())
}

// randomID is one that rand.Text made.
var randomID = regexp.MustCompile("[a-z2-7]{26}")

// get returns the body of a call by root, and the number of the next page.
func (w *answerWorld) get(path string) (next, body string) {
	r := httptest.NewRequest("GET", w.URL+apiPath+path, nil)
	r.Header.Set("Private-Token", w.Token)
	to := httptest.NewRecorder()
	w.serve(to, r)
	return to.Header().Get("X-Next-Page"), w.printed(to.Body.String())
}
