package forgetest

import (
	"cmp"
	"encoding/base64"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	embedded "github.com/forge-sdk/forge-go/internal/catalogue"
)

// example is a call of one endpoint on the server of contractServer.
type example struct {
	*endpoint
	id   string // of the endpoint
	path string // below the endpoint's base address
	form string
	file string // content of a multipart file
}

// objects are the values of the placeholders of paths on contractServer.
var objects = map[string]string{
	"projects :id": "group%2Fapp", ":project_id": "group%2Fapp", "groups :id": "group", "namespaces :id": "group", ":namespace": "group", "users :id": "2", "secure_files :id": "1",
	"projects :audit_event_id": "3", "groups :audit_event_id": "2", ":image_path": "group/app/image", ":tag": "v1", ":tag_name": "v1", ":sha": helloBlob,
	":key": "production", ":slug": "emails-on-push",
}

// examples call every endpoint once: first those that write, deletions last, of which those of the
// longest path come first. The path is that of the catalogue; an object without a value in objects
// has the number 1. Parameters have the values of the catalogue. For calls that need others, the rows
// of the table replace the path, the query or the form.
func examples() (all []example) {
	const repository = "/projects/group%2Fapp/registry/repositories/1"
	others := map[string]example{
		"merge_requests.list_blockees":         {path: "/projects/group%2Fapp/merge_requests/2/blockees"},
		"emails.delete_current":                {path: "/user/emails/3"},
		"emails.delete_user":                   {path: "/users/2/emails/4"},
		"placeholder_reassignments.submit":     {file: placeholderHeader},
		"integrations.set":                     {form: "recipients=a@example.com"},
		"repositories.compare":                 {path: "?from=main&to=change"},
		"repositories.merge_base":              {path: "?refs[]=main&refs[]=change"},
		"secure_files.create":                  {path: "?name=new.p12", file: "secret"},
		"registry.list_project_repositories":   {path: "?tags=true&tags_count=true"},
		"registry.get_repository":              {path: "?tags=true&tags_count=true&size=true"},
		"registry.delete_tag":                  {path: repository + "/tags/v3"},
		"registry.delete_tags_bulk":            {path: "?name_regex_delete=.*"},
		"registry_native.get_token":            {path: "?service=container_registry&scope=repository:group/app/image:*"},
		"registry_native.delete_tag_reference": {path: "/v2/group/app/image/tags/reference/v2"},
	}
	endpoints := embedded.Endpoints()
	for _, row := range embedded.Rows[struct{ ID string }]() { // in this order
		e, documented := endpoints[row.ID]
		if !documented {
			continue
		}
		x, special := others[e.ID]
		if !special {
			x = required(e)
		}
		if !strings.HasPrefix(x.path, "/") {
			x.path = embedded.Fill(e.Path, objects, "1") + x.path
		}
		x.id, x.endpoint = e.ID, catalogue().endpoints[e.Method+" "+e.Path]
		all = append(all, x)
	}
	slices.SortStableFunc(all, func(a, b example) int {
		return cmp.Or(a.turn()-b.turn(), strings.Count(b.Path, "/")-strings.Count(a.Path, "/"))
	})
	return all
}

// required sets the parameters for which the catalogue has values.
func required(e embedded.Endpoint) example {
	values := url.Values{}
	for _, p := range e.Params() {
		if sample := p.Sample(); sample != "" {
			values.Set(p.Wire, sample)
		}
	}
	switch {
	case e.Method != http.MethodGet:
		return example{form: values.Encode()}
	case len(values) > 0:
		return example{path: "?" + values.Encode()}
	}
	return example{}
}

// turn orders examples: writes, reads, deletions.
func (x example) turn() int {
	return slices.Index([]string{http.MethodGet, http.MethodDelete}, x.Method)
}

const (
	placeholderHeader = "Source host,Import type,Source user identifier,Source user name,Source username,Platform username,Platform public email\n"
	helloBlob         = "ce013625030ba8dba906f756967f9e9ca394464a"
)

// contractRelease is the release that the contract describes.
var contractRelease = release{18, 2}

// contractServer has a record of every kind, with every field. The file with the tests of a kind has
// its sample.
func contractServer(t *testing.T, opts ...Option) *Server {
	s := New(t, append(opts, WithNeutralNames())...)
	app, jane := s.AddProject("group/app"), s.AddUser("jane")
	sampleUsers(s.Root(), jane)
	sampleRepository(app)
	merge := sampleMergeRequest(app, jane)
	sampleIssue(app, jane, merge)
	sampleRunner(app)
	sampleGroup(s.AddGroup("group"), jane)
	sampleProject(app)
	sampleAuditEvents(s, app)
	sampleImage(app)
	return s
}

// Every documented endpoint responds with every field of its type. The test reports all missing
// fields, not only the first.
func TestEveryEndpointWithEveryField(t *testing.T) {
	s := contractServer(t, WithRelease("18.2"))
	seen := sight{}
	for _, call := range examples() {
		for _, problem := range call.problems(t, s, seen) {
			t.Errorf("%s %s (%s): %s", call.Method, call.Path, call.id, problem)
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

// conditional returns the rows of all fields, by type and name, with facts that the server does not
// use.
var conditional = sync.OnceValue(func() map[string]map[string]embedded.Field {
	all := map[string]map[string]embedded.Field{}
	for name, typ := range embedded.Types[struct{ Fields []embedded.Field }]() {
		if strings.HasPrefix(name, "Validation") {
			continue
		}
		all[name] = map[string]embedded.Field{}
		for _, f := range typ.Fields {
			all[name][f.Name] = f
		}
	}
	return all
})

// problems makes the call and compares the response with the contract.
func (x example) problems(t *testing.T, s *Server, seen sight) (problems []string) {
	r, e := x.send(t, s), x.endpoint
	if r.Status >= 300 {
		return []string{fmt.Sprintf("status %d %s", r.Status, r.Body)}
	}
	if documented := e.Response.Status; len(documented) > 0 && !slices.Contains(documented, r.Status) {
		return []string{fmt.Sprintf("status %d, not %v", r.Status, documented)}
	}
	if kind := r.Header.Get("Content-Type"); (e.Response.Kind == "object" || e.Response.Kind == "array") && kind != "application/json" {
		return []string{"the type of the JSON is " + kind}
	}
	shape, view := catalogue().shapes[e.Response.Type], strings.Join(e.views(), "")
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
		later := f.Only != nil && !contractRelease.has(f.Only.Introduced)
		if later || len(f.Views) > 0 && !slices.Contains(f.Views, view) {
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

func (x example) send(t *testing.T, s *Server) reply {
	base := map[string]string{"api": s.URL + apiPath, "registry": s.RegistryURL, "auth": s.RegistryAuthURL}[x.Base]
	body, kind := x.body()
	c := newCaller(t, s)
	if x.Base != "api" {
		c = c.as("")
	}
	return c.answer(x.Method, base+x.path, body, "Content-Type", kind, "Authorization", x.credential(t, s), "Accept", manifests)
}

const manifests = "application/vnd.docker.distribution.manifest.v2+json, application/vnd.vendor.distribution.manifest.v2+json"

// body returns the body of the request and its type.
func (x example) body() (body, kind string) {
	switch {
	case x.file != "":
		var b strings.Builder
		w := multipart.NewWriter(&b)
		part, _ := w.CreateFormFile("file", "file.csv")
		_, _ = part.Write([]byte(x.file))
		_ = w.Close()
		return b.String(), w.FormDataContentType()
	case x.form != "":
		kind = "application/x-www-form-urlencoded"
	}
	return x.form, kind
}

// credential returns the credential of the registry; "" for the API.
func (x example) credential(t *testing.T, s *Server) string {
	switch x.Base {
	case "auth":
		return "Basic " + base64.StdEncoding.EncodeToString([]byte("root:"+s.Token))
	case "registry":
		scope := url.Values{"service": {"container_registry"}, "scope": {"repository:group/app/image:*", "registry:catalog:*"}}
		token := example{endpoint: &endpoint{Method: "GET", Base: "auth"}, path: "/jwt/auth?" + scope.Encode()}.send(t, s)
		return "Bearer " + fmt.Sprint(token.object(t)["token"])
	}
	return ""
}
