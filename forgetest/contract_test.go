package forgetest

import (
	"bytes"
	"encoding/base64"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"mime/multipart"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// example is a call of one endpoint on the server of contractServer.
type example struct {
	id   string // of the endpoint
	path string // below the endpoint's base address
	form string
	file string // content of a multipart file
}

// examples call every documented endpoint once, deletions last.
func examples() []example {
	const project, group, one = "/projects/group%2Fapp", "/groups/group", "/projects/group%2Fapp/merge_requests/1"
	const issue, repository = project + "/issues/1", project + "/registry/repositories/1"
	return []example{
		{id: "issues.promote_by_note", path: issue + "/notes", form: "body=/promote"},
		{id: "issues.list", path: "/issues"},
		{id: "issues.list_group", path: group + "/issues"},
		{id: "issues.subscribe", path: issue + "/subscribe"},
		{id: "issues.unsubscribe", path: issue + "/unsubscribe"},
		{id: "issues.create_todo", path: issue + "/todo"},
		{id: "issues.set_time_estimate", path: issue + "/time_estimate", form: "duration=1h"},
		{id: "issues.reset_time_estimate", path: issue + "/reset_time_estimate"},
		{id: "issues.add_spent_time", path: issue + "/add_spent_time", form: "duration=1h"},
		{id: "issues.reset_spent_time", path: issue + "/reset_spent_time"},
		{id: "issues.time_stats", path: issue + "/time_stats"},
		{id: "issues.related_merge_requests", path: issue + "/related_merge_requests"},
		{id: "merge_requests.list", path: "/merge_requests"},
		{id: "merge_requests.list_project", path: project + "/merge_requests"},
		{id: "merge_requests.list_blocks", path: one + "/blocks"},
		{id: "merge_requests.create_block", path: one + "/blocks", form: "blocking_merge_request_id=3"},
		{id: "merge_requests.list_blockees", path: project + "/merge_requests/2/blockees"},
		{id: "merge_requests.changes", path: one + "/changes"},
		{id: "merge_requests.subscribe", path: one + "/subscribe"},
		{id: "merge_requests.unsubscribe", path: one + "/unsubscribe"},
		{id: "merge_requests.create_todo", path: one + "/todo"},
		{id: "merge_requests.list_versions", path: one + "/versions"},
		{id: "merge_requests.get_version", path: one + "/versions/1"},
		{id: "merge_requests.delete_block", path: one + "/blocks/1"},
		{id: "users.list", path: "/users"},
		{id: "users.get", path: "/users/2"},
		{id: "users.current", path: "/user"},
		{id: "emails.list_current", path: "/user/emails"},
		{id: "emails.list_user", path: "/users/2/emails"},
		{id: "emails.get_current", path: "/user/emails/1"},
		{id: "emails.add_current", path: "/user/emails", form: "email=new@example.com"},
		{id: "emails.add_user", path: "/users/2/emails", form: "email=more@example.com"},
		{id: "emails.delete_current", path: "/user/emails/3"},
		{id: "emails.delete_user", path: "/users/2/emails/4"},
		{id: "runners.list", path: "/runners"},
		{id: "runners.list_all", path: "/runners/all"},
		{id: "runners.get", path: "/runners/1"},
		{id: "runners.update", path: "/runners/1", form: "description=Fast"},
		{id: "runners.pause", path: "/runners/1", form: "paused=true"},
		{id: "runners.list_jobs", path: "/runners/1/jobs"},
		{id: "runners.list_managers", path: "/runners/1/managers"},
		{id: "runners.list_project", path: project + "/runners"},
		{id: "placeholder_reassignments.get", path: group + "/placeholder_reassignments"},
		{id: "placeholder_reassignments.submit", path: group + "/placeholder_reassignments", file: placeholderHeader},
		{id: "settings.get", path: "/application/settings"},
		{id: "settings.update", path: "/application/settings", form: "signup_enabled=false"},
		{id: "integrations.set", path: group + "/integrations/emails-on-push", form: "recipients=a@example.com"},
		{id: "integrations.list", path: group + "/integrations"},
		{id: "integrations.get", path: group + "/integrations/emails-on-push"},
		{id: "integrations.disable", path: group + "/integrations/emails-on-push"},
		{id: "namespaces.list", path: "/namespaces"},
		{id: "namespaces.get", path: "/namespaces/group"},
		{id: "namespaces.exists", path: "/namespaces/group/exists"},
		{id: "repositories.tree", path: project + "/repository/tree"},
		{id: "repositories.get_blob", path: project + "/repository/blobs/" + helloBlob},
		{id: "repositories.get_blob_raw", path: project + "/repository/blobs/" + helloBlob + "/raw"},
		{id: "repositories.archive", path: project + "/repository/archive"},
		{id: "repositories.compare", path: project + "/repository/compare?from=main&to=change"},
		{id: "repositories.contributors", path: project + "/repository/contributors"},
		{id: "repositories.merge_base", path: project + "/repository/merge_base?refs[]=main&refs[]=change"},
		{id: "repositories.generate_changelog", path: project + "/repository/changelog?version=1.0.0&from=v0.9.0"},
		{id: "repositories.add_changelog", path: project + "/repository/changelog", form: "version=1.0.0&from=v0.9.0"},
		{id: "resource_groups.list", path: project + "/resource_groups"},
		{id: "resource_groups.get", path: project + "/resource_groups/production"},
		{id: "resource_groups.list_upcoming_jobs", path: project + "/resource_groups/production/upcoming_jobs"},
		{id: "resource_groups.update", path: project + "/resource_groups/production", form: "process_mode=oldest_first"},
		{id: "secure_files.create", path: project + "/secure_files?name=new.jks", file: "secret"},
		{id: "secure_files.list", path: project + "/secure_files"},
		{id: "secure_files.get", path: project + "/secure_files/1"},
		{id: "secure_files.download", path: project + "/secure_files/1/download"},
		{id: "secure_files.delete", path: project + "/secure_files/1"},
		{id: "approval_settings.get_group", path: group + "/merge_request_approval_setting"},
		{id: "approval_settings.update_group", path: group + "/merge_request_approval_setting", form: "allow_author_approval=true"},
		{id: "approval_settings.get_project", path: project + "/merge_request_approval_setting"},
		{id: "approval_settings.update_project", path: project + "/merge_request_approval_setting", form: "allow_author_approval=true"},
		{id: "audit_events.list_instance", path: "/audit_events"},
		{id: "audit_events.get_instance", path: "/audit_events/1"},
		{id: "audit_events.list_group", path: group + "/audit_events"},
		{id: "audit_events.get_group", path: group + "/audit_events/2"},
		{id: "audit_events.list_project", path: project + "/audit_events"},
		{id: "audit_events.get_project", path: project + "/audit_events/3"},
		{id: "registry.update_visibility", path: project + "/", form: "container_registry_access_level=enabled"},
		{id: "registry.list_project_repositories", path: project + "/registry/repositories?tags=true&tags_count=true"},
		{id: "registry.list_group_repositories", path: group + "/registry/repositories"},
		{id: "registry.get_repository", path: "/registry/repositories/1?tags=true&tags_count=true&size=true"},
		{id: "registry.list_tags", path: repository + "/tags"},
		{id: "registry.get_tag", path: repository + "/tags/v1"},
		{id: "registry_native.get_token", path: "/jwt/auth?service=container_registry&scope=repository:group/app/image:*"},
		{id: "registry_native.catalog", path: "/v2/_catalog"},
		{id: "registry_native.delete_manifest", path: "/v2/group/app/image/manifests/v1"},
		{id: "registry_native.delete_tag_reference", path: "/v2/group/app/image/tags/reference/v2"},
		{id: "registry.delete_tag", path: repository + "/tags/v3"},
		{id: "registry.delete_tags_bulk", path: repository + "/tags?name_regex_delete=.*"},
		{id: "registry.delete_repository", path: repository},
	}
}

// routeOf returns the route of an endpoint.
func routeOf(id string) string {
	for name, e := range catalogue().endpoints {
		if e.ID == id {
			return name
		}
	}
	return ""
}

const (
	placeholderHeader = "Source host,Import type,Source user identifier,Source user name,Source username,Platform username,Platform public email\n"
	helloBlob         = "ce013625030ba8dba906f756967f9e9ca394464a"
)

// compareCatalogue compares the embedded catalogue with testdata/spec, which the client's tests
// read.
var compareCatalogue = sync.OnceValue(func() error {
	for _, name := range []string{"types.json", "endpoints.json"} {
		theirs, err := os.ReadFile(filepath.Join("..", "testdata", "spec", name))
		if err != nil {
			return err
		}
		ours, err := catalogueFiles.ReadFile("catalogue/" + name)
		if err != nil {
			return err
		}
		if !bytes.Equal(theirs, ours) {
			return fmt.Errorf("catalogue/%s differs from testdata/spec/%s", name, name)
		}
	}
	return nil
})

// specified returns the catalogue for a test whose expectations are from it. The server uses the
// same catalogue, so without the comparison an error in the catalogue would pass the test.
func specified(t *testing.T) *contract {
	t.Helper()
	require.NoError(t, compareCatalogue())
	return catalogue()
}

// contractServer has a record of every kind.
func contractServer(t *testing.T, opts ...Option) *Server {
	s := New(t, opts...)
	app, jane := s.AddProject("group/app"), s.AddUser("jane")
	for _, u := range []*User{s.Root(), jane} {
		u.AddIdentity("group_saml", u.Username)
		u.AddIdentity("scim", u.Username)
		u.AddEmail(u.Username + "2@example.com")
	}
	app.AddFiles(map[string]string{"README.md": "hello\n"})
	app.AddTag("v0.9.0", "main")
	app.AddCommit(Change{Branch: "change", Message: "Add a file\n\nIt helps.\n\nChangelog: added", Files: map[string]string{"more.txt": "more\n"}})
	app.AddCommit(Change{Branch: "main", Message: "Add another\n\nChangelog: added", Files: map[string]string{"other.txt": "x\n"}})
	fill := func(d *Document) {
		d.Set("source_branch", "change").Set("description", "- [x] done").Set("assignees", []*User{jane}).Set("merge_user", jane).
			Set("labels", []string{"bug"}).Set("reviewers", []*User{jane}).
			Set("pipeline", NewDocument("MergeRequestPipeline").Set("id", 1))
	}
	first := app.AddMergeRequest(fill)
	first.AddBlocker(app.AddMergeRequest(fill))
	app.AddMergeRequest(fill)
	milestone := app.AddMilestone("1.0", time.Now(), time.Now())
	app.AddIssue(func(d *Document) {
		d.Set("assignees", []*User{jane}).Set("milestone", milestone).Set("iteration", NewDocument("Iteration")).
			Set("labels", []string{"bug"})
	}).Relate(first)
	runner := app.AddRunner(nil)
	runner.AddManager("s_1", nil)
	runner.AddJob(app, "s_1", nil)
	s.AddGroup("group").AddPlaceholder(Placeholder{SourceHost: "old.example.com", SourceID: "1"})
	s.AddGroup("group").AddMember(jane, Maintainer)
	app.AddSecureFile("key.jks", []byte("secret"), func(d *Document) {
		d.Set("metadata", NewDocument("SecureFileMetadata").Set("subject", NewDocument("CertificateName").Set("UID", "x")))
	})
	app.AddResourceGroup("production").AddUpcomingJob(nil)
	s.AddAuditEvent(func(d *Document) {
		for _, name := range []string{"custom_message", "add", "change", "from", "to"} {
			d.Set("details."+name, "x")
		}
	})
	s.AddGroup("group").AddAuditEvent(nil)
	app.AddAuditEvent(nil)
	image := app.AddRegistryRepository("image")
	for _, tag := range []string{"v1", "v2", "v3", "v4"} {
		image.AddTag(tag, nil)
	}
	return s
}

// Every documented endpoint responds with every field of its type. The test reports all missing
// fields, not only the first.
func TestEveryEndpointWithEveryField(t *testing.T) {
	s := contractServer(t)
	calls := map[string]example{}
	for _, e := range examples() {
		calls[e.id] = e
	}
	var documented []*endpoint
	parse("catalogue/endpoints.json", &documented)
	documented = slices.DeleteFunc(documented, func(e *endpoint) bool { return e.Status != "documented" })
	require.Len(t, documented, 94)
	byID := map[string]*endpoint{}
	for _, e := range documented {
		byID[e.ID] = e
		if _, known := calls[e.ID]; !known {
			t.Errorf("%s: no example", e.ID)
		}
	}
	require.Len(t, calls, 94)
	seen := sight{}
	for _, call := range examples() {
		e := byID[call.id]
		for _, problem := range call.problems(t, s, e, seen) {
			t.Errorf("%s %s (%s): %s", e.Method, e.Path, e.ID, problem)
		}
	}
	for name, fields := range conditional() {
		for field, when := range fields {
			if when.Only != nil && when.Only.When != "" && !seen[name+"."+field] && name+"."+field != "RegistryRepository.size" {
				t.Errorf("%s.%s (%s) is in no response", name, field, when.Only.When)
			}
		}
	}
}

// sight holds the fields ("Issue.title") that were in a response.
type sight map[string]bool

// detail is a fact of the catalogue about a field that the server does not use.
type detail struct {
	Name  string
	Items struct{ Ref string }
	Only  *struct{ When string }
}

// conditional returns the details of all fields, by type and name.
var conditional = sync.OnceValue(func() map[string]map[string]detail {
	var types map[string]struct{ Fields []detail }
	parse("catalogue/types.json", &types)
	all := map[string]map[string]detail{}
	for name, typ := range types {
		if strings.HasPrefix(name, "Validation") {
			continue
		}
		all[name] = map[string]detail{}
		for _, f := range typ.Fields {
			all[name][f.Name] = f
		}
	}
	return all
})

// problems makes the call and compares the response with the contract.
func (x example) problems(t *testing.T, s *Server, e *endpoint, seen sight) (problems []string) {
	r := x.send(t, s, e)
	if r.Status >= 300 {
		return []string{fmt.Sprintf("status %d %s", r.Status, r.Body)}
	}
	if documented := e.Response.Status; len(documented) > 0 && !slices.Contains(documented, r.Status) {
		return []string{fmt.Sprintf("status %d, not %v", r.Status, documented)}
	}
	if kind := r.Header.Get("Content-Type"); (e.Response.Kind == "object" || e.Response.Kind == "array") && kind != "application/json" {
		return []string{"the type of the JSON is " + kind}
	}
	shape, view := specified(t).shapes[e.Response.Type], strings.Join(e.views(), "")
	if shape != nil && shape.name == "User" {
		view = "full" // the caller is an administrator
	}
	switch e.Response.Kind {
	case "object":
		return seen.lacks(shape, view, []byte(r.Body), "")
	case "array":
		var items []json.RawMessage
		if err := json.Unmarshal([]byte(r.Body), &items); err != nil || len(items) == 0 {
			return []string{"no items in " + r.Body}
		}
		return seen.lacks(shape, view, items[0], "")
	case "csv":
		rows, err := csv.NewReader(strings.NewReader(r.Body)).ReadAll()
		require.NoError(t, err)
		for i, f := range shape.fields {
			if len(rows) < 2 || rows[0][i] != f.Name {
				problems = append(problems, f.Name+" is missing")
			}
		}
	}
	return problems
}

// lacks lists the fields of the contract that an object lacks or has with another type, including
// nested fields.
func (seen sight) lacks(shape *shape, view string, data []byte, at string) (problems []string) {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(data, &object); err != nil {
		return []string{"no object: " + string(data)}
	}
	for name := range object {
		if i, known := shape.index[name]; !known || len(shape.fields[i].Views) > 0 && !slices.Contains(shape.fields[i].Views, view) {
			problems = append(problems, at+name+" is not in the contract")
		}
	}
	details := conditional()[shape.name]
	for _, f := range shape.fields {
		if len(f.Views) > 0 && !slices.Contains(f.Views, view) {
			continue
		}
		value, found := object[f.Name]
		more := details[f.Name]
		seen[shape.name+"."+f.Name] = seen[shape.name+"."+f.Name] || found
		switch {
		case !found && (more.Only == nil || more.Only.When == ""):
			problems = append(problems, at+f.Name+" is missing")
		case found && !f.fits(value):
			problems = append(problems, fmt.Sprintf("%s%s is not %s: %s", at, f.Name, f.Type, value))
		}
		var items []json.RawMessage
		switch {
		case f.Ref != "" && len(value) > 0 && value[0] == '{':
			problems = append(problems, seen.lacks(catalogue().shapes[f.Ref], nestedView(shape.name, view), value, at+f.Name+".")...)
		case more.Items.Ref != "" && json.Unmarshal(value, &items) == nil && len(items) > 0:
			problems = append(problems, seen.lacks(catalogue().shapes[more.Items.Ref], nestedView(shape.name, view), items[0], at+f.Name+"[0].")...)
		}
	}
	return problems
}

// shownAsNull are fields that are null if they have no value, although not every type with them in
// the catalogue marks them as nullable.
var shownAsNull = []string{"avatar_url", "a_mode", "closed_as_duplicate_of"}

// fits reports whether a JSON value has the type of the field, with its format and the type of its
// items. Null fits fields that may be null, times, and fields of a platform or a condition.
func (f *field) fits(value json.RawMessage) bool {
	var v any
	_ = json.Unmarshal(value, &v)
	switch typed := v.(type) {
	case bool:
		return f.Type == "boolean" || f.Type == "unknown"
	case float64:
		return f.Type == "number" || f.hasType("integer") && typed == float64(int64(typed))
	case string:
		return f.fitsText(typed)
	case []any:
		return strings.HasPrefix(f.Type, "array") && !slices.ContainsFunc(typed, f.misfitsItem)
	case map[string]any:
		return f.Type == "object" || f.hasType("hash")
	}
	optional := f.Nullable && f.Type != "boolean" || f.Format != "" || f.Only != nil || f.Type == "unknown"
	return optional || slices.Contains(shownAsNull, f.Name)
}

func (f *field) fitsText(text string) bool {
	layout := map[string]string{"timestamp": "2006-01-02T15:04:05.000Z", "date": time.DateOnly}[f.Format]
	if layout != "" {
		_, err := time.Parse(layout, text)
		return err == nil
	}
	return f.hasType("string") || f.hasType("text")
}

// misfitsItem reports whether an item of an array has another type than the catalogue has for it.
func (f *field) misfitsItem(item any) bool {
	if f.Items == nil {
		return false
	}
	_, isText := item.(string)
	_, isObject := item.(map[string]any)
	return f.Items.Type == "string" && !isText || f.Items.Type == "object" && !isObject
}

func (x example) send(t *testing.T, s *Server, e *endpoint) reply {
	base := map[string]string{"api": s.URL + apiPath, "registry": s.RegistryURL, "auth": s.RegistryAuthURL}[e.Base]
	body, kind := x.form, ""
	switch {
	case x.file != "":
		var b bytes.Buffer
		w := multipart.NewWriter(&b)
		part, err := w.CreateFormFile("file", "file.csv")
		require.NoError(t, err)
		_, _ = part.Write([]byte(x.file))
		require.NoError(t, w.Close())
		body, kind = b.String(), w.FormDataContentType()
	case x.form != "":
		kind = "application/x-www-form-urlencoded"
	}
	c, credential := newCaller(t, s), ""
	switch e.Base {
	case "auth":
		credential = "Basic " + base64.StdEncoding.EncodeToString([]byte("root:"+s.Token))
	case "registry":
		scope := url.Values{"service": {"container_registry"}, "scope": {"repository:group/app/image:*", "registry:catalog:*"}}
		token := example{id: "registry_native.get_token", path: "/jwt/auth?" + scope.Encode()}.send(t, s, &endpoint{Method: "GET", Base: "auth"})
		credential = "Bearer " + fmt.Sprint(token.object(t)["token"])
	}
	if e.Base != "api" {
		c = c.as("")
	}
	return c.answer(e.Method, base+x.path, body, "Content-Type", kind, "Authorization", credential,
		"Accept", "application/vnd.docker.distribution.manifest.v2+json, application/vnd.vendor.distribution.manifest.v2+json")
}
