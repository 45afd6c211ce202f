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

	embedded "github.com/forge-sdk/forge-go/internal/catalogue"
	"github.com/forge-sdk/forge-go/internal/racetest"
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
	for _, x := range append(examples(), starters()...) {
		fmt.Fprintf(&have, "# %s: %s %s %s\n", x.id, x.Method, x.path, x.form)
		w.callers(&have, x)
	}
	assertFile(t, "callers", have.String())
}

// starters are calls of the routes of WithStarterRoutes.
func starters() (all []example) {
	for _, r := range starterRoutes() {
		x := example{endpoint: r.endpoint, id: r.name, path: embedded.Fill(r.endpoint.Path, objects, "1")}
		if x.Method == "POST" {
			x.form = "title=New&description=Text&due_date=2026-03-05&issue_type=incident&confidential=true&labels[]=a,+b&assignee_ids[]=2&reviewer_ids[]=3&source_branch=change&target_branch=main"
		}
		all = append(all, x)
	}
	return all
}

// Each value of each parameter has the effect that the file says, on the newest platform and on the
// oldest and smallest.
func TestAnswersToParameters(t *testing.T) { assertParameters(t, "parameters") }
func TestAnswersToOldParameters(t *testing.T) {
	assertParameters(t, "parameters_old", WithTier(Free), WithRelease("13.0"))
}

func assertParameters(t *testing.T, file string, options ...Option) {
	var have strings.Builder
	w := newAnswerWorld(t, options...)
	w.begin(Public)
	for _, x := range append(examples(), starters()...) {
		status, _, base := w.answer(x, "root")
		if x.Base != "api" || x.file != "" || status >= 400 {
			continue
		}
		fmt.Fprintf(&have, "# %s\n", x.id)
		same := grouped{}
		w.parameters(same, x, base, slices.Concat(x.QueryParams, x.BodyParams))
		if x.Pagination.Offset {
			w.parameters(same, x, base, []parameter{{Wire: "page", Enum: []string{"2"}}, {Wire: "per_page", Enum: []string{"1"}}, {Wire: "pagination", Enum: []string{"keyset"}}})
		}
		same.print(&have, "with")
		if x.Pagination.Keyset {
			for _, order := range []string{"", "&order_by=id", "&order_by=id&sort=asc", "&order_by=name&sort=asc", "&order_by=id&sort=up", "&cursor=x", "&page_token=x", "&per_page=1&order_by=id"} {
				status, header, body := w.answer(x, "root", "pagination=keyset"+order)
				fmt.Fprintf(&have, "  keyset%s: %d %s %s\n", order, status, header, difference(base, body))
			}
		}
	}
	assertFile(t, file, have.String())
}

// Null and empty values in JSON, one parameter at a time, have the effect that testdata/json.txt says.
func TestAnswersToJSON(t *testing.T) {
	var have strings.Builder
	w := newAnswerWorld(t)
	w.begin(Public)
	for _, x := range examples() {
		if x.Base != "api" || x.file != "" || len(x.BodyParams) == 0 || x.Method == "GET" {
			continue
		}
		fmt.Fprintf(&have, "# %s\n", x.id)
		_, _, base := w.answer(x, "root")
		same := grouped{}
		for _, p := range x.BodyParams {
			values := []any{nil, []any{}, map[string]any{}, "", 1.5, []any{nil}}
			if len(x.BodyParams) > 100 {
				values = values[:1]
			}
			for _, value := range values {
				body := map[string]any{}
				form, _ := url.ParseQuery(x.form)
				for name, texts := range form {
					body[name] = texts[0]
				}
				body[p.Name] = value
				data, _ := json.Marshal(body)
				status, _, answer := w.answer(x, "root", string(data))
				text, _ := json.Marshal(value)
				same.add(fmt.Sprint(status, " ", strings.ReplaceAll(difference(base, answer), p.Name, "NAME")), p.Name, string(text))
			}
		}
		same.print(&have, "with")
	}
	assertFile(t, "json", have.String())
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
	racetest.SkipSequential(t)
	s := contractServer(t, append(opts, WithStarterRoutes(), WithToken("token"), func(s *Server) { s.clock = noon })...)
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
	s.store.userByName("jane").Edit(func(d *Document) { d.Set("public_email", "jane").Set("two_factor_enabled", true).Set("external", true) })
	s.AddGroup("group/sub").AddMember(s.AddUser("below"), Guest)
	s.AddProject("other/sub/app").AddMember(s.AddUser("elsewhere"), Guest)
	s.AddRunner(func(d *Document) { d.Set("paused", true).Set("tag_list", []string{"bug"}) })
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
	if x.Method != "GET" && w.start != nil {
		w.restore(w.start)
	}
	path := w.URL + map[string]string{"api": apiPath}[x.Base] + x.path
	form, kind := x.body()
	for _, one := range more {
		if strings.HasPrefix(one, "{") {
			form, kind = one, "application/json"
			continue
		}
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
	if strings.HasPrefix(body, "\x1f\x8b") {
		return "gzip"
	}
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
	w.missing(to, x)
	if x.Method != "GET" {
		w.answer(x, "root")
		w.start = nil
		status, _, again := w.answer(x, "root")
		fmt.Fprintf(to, "  again: %d %s\n", status, difference(body, again))
		w.begin(Public)
	}
	return body
}

// missing prints what root gets if the path names a record that does not exist.
func (w *answerWorld) missing(to *strings.Builder, x example) {
	path, query, _ := strings.Cut(x.path, "?")
	parts, names := strings.Split(path, "/"), strings.Split(x.endpoint.Path, "/")
	same := grouped{}
	for i, name := range names {
		if strings.HasPrefix(name, ":") && len(parts) == len(names) {
			for _, value := range []string{"999", "none", "0"} {
				other := slices.Clone(parts)
				other[i] = value
				x.path = strings.Join(other, "/") + "?" + query
				status, _, body := w.answer(x, "root")
				same.add(fmt.Sprint(status, " ", body), name, value)
			}
		}
	}
	same.print(to, "without")
}

// parameters prints what each value of each parameter changes.
func (w *answerWorld) parameters(same grouped, x example, base string, params []parameter) {
	for _, p := range params {
		w.parameters(same, x, base, p.Keys)
		values := p.trials()
		if len(params) > 100 { // the tests of settings have the others
			values = append(slices.Clone(p.Enum), "no such")
		}
		for _, value := range values {
			status, _, body := w.answer(x, "root", url.QueryEscape(p.Wire)+"="+url.QueryEscape(value))
			seen := strings.ReplaceAll(difference(base, body), p.baseName(), "NAME")
			same.add(fmt.Sprint(status, " ", seen), p.Wire, value)
		}
		if len(p.Keys) == 0 {
			status, _, body := w.answer(x, "root", url.QueryEscape(p.baseName()+"[x]")+"=1")
			same.add(fmt.Sprint(status, " ", strings.ReplaceAll(difference(base, body), p.baseName(), "NAME")), p.baseName()+"[x]", "1")
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
		values = append(values, "2026-03-04", "2026-03-05", "2026-03-04T13:00:00+0200", "2026-03-04T13:00:00+02:00", "2026-03-04T13:00:00", "2026-03-04 13:00")
	case "string", "string>":
		if len(p.Enum) == 0 {
			values = append(values, "bug", "main", "jane", "1")
		}
		if p.Separator != "" {
			values = append(values, "bug"+p.Separator)
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
	if len(text) > 1000 {
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
	var fields []string
	for _, shape := range catalogue().shapes {
		for _, f := range shape.fields {
			fields = append(fields, f.Name)
		}
	}
	variants := []struct {
		name string
		opt  Option
	}{
		{"13.0", WithRelease("13.0")}, {"15.4", WithRelease("15.4")}, {"16.11", WithRelease("16.11")}, {"17.6", WithRelease("17.6")}, {"18.2", WithRelease("18.2")}, {"19.0", WithRelease("19.0")},
		{"free", WithTier(Free)}, {"premium", WithTier(Premium)}, {"hosted", WithOffering(Hosted)}, {"dedicated", WithOffering(Dedicated)},
		{"GitLab's words", func(s *Server) { s.neutral = false }}, {"an unknown field", WithUnknownFields("x_new")}, {"other types", WithMismatchedTypes(fields...)},
	}
	changed := map[string]grouped{}
	for _, variant := range variants {
		w := newAnswerWorld(t, variant.opt)
		w.begin(Public)
		for _, x := range append(examples(), starters()...) {
			if x.Base != "api" || x.id == "settings.update" { // its response is that of settings.get
				continue
			}
			if changed[x.id] == nil {
				changed[x.id] = grouped{}
			}
			for _, who := range []string{"root", "job", "reporter"} {
				was, headersBefore, before := base.answer(x, who)
				status, headers, after := w.answer(x, who)
				if headers == headersBefore {
					headers = ""
				}
				if seen := fmt.Sprint(status, " ", headers, difference(before, after)); seen != fmt.Sprint(was, " same") {
					changed[x.id].add(seen, variant.name, who)
				}
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(changed)) {
		fmt.Fprintf(&to, "# %s\n", id)
		changed[id].print(&to, "with")
	}
	assertFile(t, "platforms", to.String())
}
