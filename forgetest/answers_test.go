package forgetest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"net/http/httptest"
	"net/url"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The tests of this file compare what callers see of every endpoint with testdata/*.txt, so that a
// review shows each change. The contract and the models say what is right; the files also have what
// they leave open, such as texts, defaults and headers. FORGE_UPDATE=1 writes the files.

// assertFile compares lines with a file. A line that starts with # names what follows it.
func assertFile(t *testing.T, name, have string) {
	t.Helper()
	name = "testdata/" + name + ".txt"
	if os.Getenv("FORGE_UPDATE") != "" {
		require.NoError(t, os.WriteFile(name, []byte(have), 0o600))
	}
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	want, title := strings.Split(string(text), "\n"), ""
	for i, line := range strings.Split(have, "\n") {
		if strings.HasPrefix(line, "# ") {
			title = line
		}
		require.Less(t, i, len(want), "%s lacks %s", name, line)
		require.Equal(t, want[i], line, "line %d of %s, %s; FORGE_UPDATE=1 writes it", i+1, name, title)
	}
	assert.Equal(t, string(text), have, "%s has more", name)
}

// Root and the callers of each role get what testdata/callers.txt says, of public, internal and
// private projects.
func TestAnswersToCallers(t *testing.T) {
	var have strings.Builder
	w := newAnswerWorld(t)
	for _, x := range examples() {
		fmt.Fprintf(&have, "# %s: %s %s %s\n", x.id, x.Method, x.path, x.form)
		w.callers(&have, x)
	}
	assertFile(t, "callers", have.String())
}

// Each value of each parameter has the effect that testdata/parameters.txt says.
func TestAnswersToParameters(t *testing.T) {
	var have strings.Builder
	w := newAnswerWorld(t)
	w.begin(Public)
	for _, x := range examples() {
		if x.Base != "api" || x.file != "" {
			continue
		}
		fmt.Fprintf(&have, "# %s\n", x.id)
		_, _, base := w.answer(x, "root")
		same := grouped{}
		w.parameters(same, x, base, slices.Concat(x.QueryParams, x.BodyParams))
		if x.Pagination.Offset {
			w.parameters(same, x, base, []parameter{{Wire: "page", Enum: []string{"2"}}, {Wire: "per_page", Enum: []string{"1"}}, {Wire: "pagination", Enum: []string{"keyset"}}})
		}
		same.print(&have, "with")
	}
	assertFile(t, "parameters", have.String())
}

// answerWorld is contractServer with a caller of each kind, a stopped clock and known tokens.
type answerWorld struct {
	*Server
	t      *testing.T
	start  *store                // before each write
	starts map[Visibility]*store // by visibility of the group and the project
	tokens map[string]string     // by caller
}

func newAnswerWorld(t *testing.T, opts ...Option) *answerWorld {
	s := contractServer(t, append(opts, WithToken("token"), func(s *Server) { s.clock = noon })...)
	app, group := s.AddProject("group/app"), s.AddGroup("group")
	w := &answerWorld{s, t, nil, map[Visibility]*store{}, map[string]string{"root": "token", "jane": s.store.userByName("jane").Token, "job": s.JobToken, "nobody": "", "wrong": "wrong"}}
	for _, name := range slices.Sorted(maps.Keys(seedRoles)) {
		u := s.AddUser(name)
		app.AddMember(u, seedRoles[name])
		group.AddMember(u, seedRoles[name])
		w.tokens[name] = u.Token
	}
	for _, scope := range []string{"read_api", "manage_runners"} {
		w.tokens[scope] = s.Root().AddToken(scope)
	}
	w.tokens["stranger"] = s.AddUser("stranger").Token
	w.tokens["auditor"] = s.AddUser("auditor").Edit(func(d *Document) { d.Set("is_auditor", true) }).Token
	for _, v := range []Visibility{Public, Internal, Private} {
		app.visibility, group.visibility = v, v
		w.starts[v] = s.snapshot()
	}
	return w
}

// begin sets the data, and those to restore before each write.
func (w *answerWorld) begin(v Visibility) {
	w.start = w.starts[v]
	w.restore(w.start)
}

// changing are the secrets that no two runs have in common.
var changing = regexp.MustCompile(`forgetest-[a-z]+-[0-9a-f]{20}|"token":"[^"]+"`)

// answer returns the response to an example with more parameters.
func (w *answerWorld) answer(x example, who string, more ...string) (status int, header, body string) {
	if x.Method != "GET" {
		w.restore(w.start)
	}
	path := w.URL + map[string]string{"api": apiPath}[x.Base] + x.path
	form, kind := x.body()
	for _, one := range more {
		if x.Method == "GET" || x.file != "" {
			path += map[bool]string{true: "&", false: "?"}[strings.Contains(path, "?")] + one
		} else {
			form = strings.TrimPrefix(form+"&"+one, "&")
		}
	}
	r := httptest.NewRequest(x.Method, path, strings.NewReader(form))
	r.Header.Set("Content-Type", cmp.Or(kind, "application/x-www-form-urlencoded"))
	if x.Base == "api" {
		r.Header.Set(map[bool]string{true: "Job-Token", false: "Private-Token"}[who == "job"], w.tokens[who])
	} else {
		r.Header.Set("Authorization", x.credential(w.t, w.Server))
	}
	r.Header.Set("Accept", manifests)
	to := httptest.NewRecorder()
	w.serve(to, r)
	var headers []string
	for _, name := range slices.Sorted(maps.Keys(to.Header())) {
		if !slices.Contains([]string{"Content-Length", "Date", "Etag", "X-Request-Id", versionHeader}, name) {
			headers = append(headers, name+": "+strings.Join(to.Header()[name], ", "))
		}
	}
	if body = w.printed(to.Body.String()); x.Base != "api" {
		body = changing.ReplaceAllString(body, "*")
	}
	return to.Code, strings.ReplaceAll(strings.Join(headers, "; "), w.URL, ""), body
}

// printed returns a body in one line, without the server's address; the hash of a long one that is
// not JSON.
func (w *answerWorld) printed(body string) string {
	body = strings.NewReplacer(w.URL, "", strings.TrimPrefix(w.URL, "http://"), "").Replace(strings.TrimSpace(body))
	if len(body) > 400 && body[0] != '{' && body[0] != '[' || strings.ContainsAny(body, "\x00\x1f") {
		return hashed(body)
	}
	return strings.ReplaceAll(body, "\n", "\\n")
}

func hashed(text string) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(text))
	return fmt.Sprintf("%d bytes, hash %x", len(text), h.Sum64())
}

// callers prints what root gets, and what the others get: a refusal, or what differs.
func (w *answerWorld) callers(to *strings.Builder, x example) (body string) {
	w.begin(Public)
	status, header, body := w.answer(x, "root")
	fmt.Fprintf(to, "%d %s\n%s\n", status, header, body)
	public := map[string]string{}
	for _, v := range []Visibility{Public, Internal, Private} {
		w.begin(v)
		same := grouped{}
		for _, who := range slices.Sorted(maps.Keys(w.tokens)) {
			status, _, other := w.answer(x, who)
			seen := fmt.Sprint(status, " ", difference(body, other))
			if v == Public || seen != public[who] {
				same.add(seen, who, "")
			}
			if v == Public {
				public[who] = seen
			}
		}
		same.print(to, v.String())
	}
	w.begin(Public)
	return body
}

// parameters prints what each value of each parameter changes.
func (w *answerWorld) parameters(same grouped, x example, base string, params []parameter) {
	for _, p := range params {
		w.parameters(same, x, base, p.Keys)
		for _, value := range p.trials() {
			status, _, body := w.answer(x, "root", url.QueryEscape(p.Wire)+"="+url.QueryEscape(value))
			seen := strings.ReplaceAll(difference(base, body), p.baseName(), "NAME")
			same.add(fmt.Sprint(status, " ", seen), p.Wire, value)
		}
	}
}

// trials are values that a parameter may have, and some that it may not.
func (p parameter) trials() []string {
	values := slices.Concat(p.Enum, p.Special, []string{"", "no such"})
	switch strings.TrimPrefix(p.Type, "array<") {
	case "integer", "integer>":
		values = append(values, "1", "0", "-1")
	case "boolean":
		values = append(values, "true", "false")
	case "datetime", "date":
		values = append(values, "2026-03-04", "2026-03-05")
	case "string", "string>":
		if len(p.Enum) == 0 {
			values = append(values, "bug", "main", "jane", "1")
		}
	}
	if len(p.Keys) > 0 {
		return nil
	}
	slices.Sort(values)
	return slices.Compact(values)
}

// grouped has the callers, or the parameters and their values, that see the same.
type grouped map[string][]string

func (g grouped) add(seen, name, value string) {
	list := g[seen]
	if last := len(list) - 1; last >= 0 && strings.HasPrefix(list[last], name+"=") {
		list[last] += "|" + value
		return
	}
	if value != "" {
		name += "=" + value
	}
	g[seen] = append(list, name)
}

func (g grouped) print(to *strings.Builder, title string) {
	for _, seen := range slices.Sorted(maps.Keys(g)) {
		fmt.Fprintf(to, "  %s %s: %s\n", title, strings.Join(g[seen], ", "), seen)
	}
}

// difference lists what b has and a lacks, and the places of a that b lacks. Of an error or a list it
// is b: the ids of its items.
func difference(a, b string) string {
	var before, after any
	_, _ = json.Unmarshal([]byte(a), &before), json.Unmarshal([]byte(b), &after)
	object, _ := after.(map[string]any)
	switch {
	case a == b:
		return "same"
	case before == nil || after == nil || object["message"] != nil || object["error"] != nil:
		return b
	}
	text := strings.Join(differences("", before, after), " ")
	if len(text) > 2000 {
		text = text[:100] + "... " + hashed(text)
	}
	return text
}

func differences(at string, a, b any) (all []string) {
	if reflect.DeepEqual(a, b) {
		return nil
	}
	switch b := b.(type) {
	case map[string]any:
		if a, is := a.(map[string]any); is {
			for _, name := range slices.Sorted(maps.Keys(b)) {
				all = append(all, differences(at+"."+name, a[name], b[name])...)
			}
			for _, name := range slices.Sorted(maps.Keys(a)) {
				if _, kept := b[name]; !kept {
					all = append(all, "-"+at+"."+name)
				}
			}
			return all
		}
	case []any:
		if a, is := a.([]any); is && len(a) == len(b) {
			for i := range a {
				all = append(all, differences(fmt.Sprintf("%s[%d]", at, i), a[i], b[i])...)
			}
			return all
		}
		return []string{at + "=" + names(b)}
	}
	data, _ := json.Marshal(b)
	return []string{at + "=" + string(data)}
}

// names returns the ids or names of the items of a list.
func names(list []any) string {
	short := make([]any, len(list))
	for i, item := range list {
		short[i] = item
		if object, is := item.(map[string]any); is {
			for _, name := range []string{"title", "name", "id"} {
				if object[name] != nil {
					short[i] = object[name]
				}
			}
		}
	}
	data, _ := json.Marshal(short)
	return string(data)
}

// Other releases, tiers, offerings and words change the responses to root as testdata/platforms.txt
// says.
func TestAnswersOfPlatforms(t *testing.T) {
	var to strings.Builder
	base := newAnswerWorld(t)
	base.begin(Public)
	variants := []struct {
		name string
		opt  Option
	}{
		{"13.0", WithRelease("13.0")}, {"15.4", WithRelease("15.4")}, {"16.11", WithRelease("16.11")}, {"17.6", WithRelease("17.6")}, {"18.2", WithRelease("18.2")},
		{"free", WithTier(Free)}, {"premium", WithTier(Premium)}, {"hosted", WithOffering(Hosted)}, {"dedicated", WithOffering(Dedicated)},
		{"GitLab's words", func(s *Server) { s.neutral = false }},
	}
	changed := map[string]grouped{}
	for _, variant := range variants {
		w := newAnswerWorld(t, variant.opt)
		w.begin(Public)
		for _, x := range examples() {
			if x.Base != "api" || x.id == "settings.update" { // its response is that of settings.get
				continue
			}
			if changed[x.id] == nil {
				changed[x.id] = grouped{}
			}
			was, _, before := base.answer(x, "root")
			status, _, after := w.answer(x, "root")
			if was != status || before != after {
				changed[x.id].add(fmt.Sprint(status, " ", difference(before, after)), variant.name, "")
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(changed)) {
		fmt.Fprintf(&to, "# %s\n", id)
		changed[id].print(&to, "with")
	}
	assertFile(t, "platforms", to.String())
}

// testdata/demo.txt has the hash of each list of the demo data.
func TestAnswersOfDemo(t *testing.T) {
	var to strings.Builder
	w := &answerWorld{Server: New(t, WithDemo()), t: t}
	for _, path := range []string{
		"/issues?scope=all&", "/merge_requests?scope=all&", "/runners/all?", "/runners/1?", "/runners/1/jobs?", "/runners/1/managers?", "/audit_events?", "/groups/acme/audit_events?",
		"/users?", "/projects/3/repository/tree?recursive=true&", "/projects/3/repository/contributors?", "/groups/acme/placeholder_reassignments?",
		"/projects/1/registry/repositories?tags=true&", "/projects/3/registry/repositories?tags=true&", "/projects/3/repository/changelog?version=2.0.0&",
		"/projects/3/merge_requests/14/changes?",
	} {
		for page, next := 1, "1"; next != ""; page++ {
			var body string
			next, body = w.get(fmt.Sprintf("%sper_page=100&page=%d", path, page))
			fmt.Fprintf(&to, "%spage=%d: %s\n", path, page, hashed(body))
		}
	}
	assertFile(t, "demo", to.String())
}

// The files of testdata/seed, with every member of the schema, put into a server what
// testdata/seed.txt says.
func TestAnswersOfSeed(t *testing.T) {
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

// get returns the body of a call by root, and the number of the next page.
func (w *answerWorld) get(path string) (next, body string) {
	r := httptest.NewRequest("GET", w.URL+apiPath+path, nil)
	r.Header.Set("Private-Token", w.Token)
	to := httptest.NewRecorder()
	w.serve(to, r)
	return to.Header().Get("X-Next-Page"), w.printed(to.Body.String())
}
