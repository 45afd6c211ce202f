package forgetest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"net/http"
	"strconv"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// record is a kind of record with a function that changes its document. Each call of add makes a
// record, and returns the path of a response that has it as the only or the last object.
type record struct {
	kind string
	add  func(fill func(*Document)) (path string)
}

func records(s *Server) []record {
	p, g := s.AddProject("group/app"), s.AddGroup("group")
	last := 0
	repository := p.AddRegistryRepository("web")
	tags := func(fill func(*Document)) string {
		name := ""
		repository.AddTags(1, func(_ int, d *Document) { fill(d); name = d.text("name") })
		return fmt.Sprintf("/projects/1/registry/repositories/1/tags/%s", url.PathEscape(orElse(name, "v0001")))
	}
	return []record{
		{"Issue", func(fill func(*Document)) string {
			return fmt.Sprintf("/issues?scope=all&iids[]=%d", p.AddIssue(fill).IID)
		}},
		{"MergeRequest", func(fill func(*Document)) string {
			return fmt.Sprintf("/projects/1/merge_requests/%d/changes", p.AddMergeRequest(fill).IID)
		}},
		{"RegistryTagDetail", tags},
		{"RegistryRepository", func(fill func(*Document)) string { repository.Edit(fill); return "/registry/repositories/1" }},
		{"Runner", func(fill func(*Document)) string { return fmt.Sprintf("/runners/%d", s.AddRunner(fill).ID) }},
		{"RunnerManager", func(fill func(*Document)) string {
			r := p.AddRunner(nil)
			r.AddManager("s_1", fill)
			return fmt.Sprintf("/runners/%d/managers", r.ID)
		}},
		{"RunnerJob", func(fill func(*Document)) string {
			other := p.AddRunner(nil)
			other.AddJob(p, "s_1", fill)
			return fmt.Sprintf("/runners/%d/jobs", other.ID)
		}},
		{"UpcomingJob", func(fill func(*Document)) string {
			last++
			key := fmt.Sprint("g", last)
			p.AddResourceGroup(key).AddUpcomingJob(fill)
			return "/projects/1/resource_groups/" + key + "/upcoming_jobs"
		}},
		{"SecureFile", func(fill func(*Document)) string {
			last++
			return fmt.Sprintf("/projects/1/secure_files?page=%d&per_page=1", len(p.secureFiles)+min(1, len(p.AddSecureFile(fmt.Sprint(last), nil, fill).Fields())))
		}},
		{"AuditEvent", func(fill func(*Document)) string {
			return fmt.Sprintf("/audit_events/%d", s.AddAuditEvent(fill).int("id"))
		}},
		{"AuditEvent", func(fill func(*Document)) string {
			return fmt.Sprintf("/projects/1/audit_events/%d", p.AddAuditEvent(fill).int("id"))
		}},
		{"User", func(fill func(*Document)) string {
			last++
			return fmt.Sprintf("/users/%d", s.AddUser(fmt.Sprint("user", last)).Edit(fill).ID)
		}},
		{"Namespace", func(fill func(*Document)) string { g.EditNamespace(fill); return "/namespaces/group" }},
		{"Namespace", func(fill func(*Document)) string { s.Root().EditNamespace(fill); return "/namespaces/root" }},
	}
}

// setValues are values of each shape that Set accepts or rejects. Their JSON differs.
func setValues(s *Server, f *field) []any {
	values := []any{
		true, 4711, 4711.5, "odd text", "", []string{"odd", "texts"}, map[string]string{"odd": "map"}, map[string]any{"odd": 1}, []any{"odd"}, []int{4711},
		uint8(7), time.Date(2031, 2, 3, 4, 5, 6, 0, time.UTC), "2031-02-04T04:05:06.000Z", struct{}{}, s.AddUser("odd"), []*User{s.AddUser("odd")},
		NewDocument("Epic").Set("id", 4711), []*Document{NewDocument("Epic").Set("id", 4711)}, NewDocument("UserSummary").Set("id", 4711),
		[]*Document{NewDocument("UserSummary").Set("id", 4711)}, []*Document(nil),
	}
	if f.Ref != "" {
		values = append(values, NewDocument(f.Ref))
	}
	if f.Items != nil && f.Items.Ref != "" {
		values = append(values, []*Document{NewDocument(f.Items.Ref)})
	}
	return values
}

// trySet calls set, and returns the text of its panic.
func trySet(set func()) (said string) {
	defer func() {
		if r := recover(); r != nil {
			said = fmt.Sprint(r)
		}
	}()
	set()
	return ""
}

// Every value for every field of every record is shown as it was set, or Set or the function that
// fills the record panics with the name of the field: no value is lost. Every field that may be null
// can be set, unless the server computes it.
func TestWhatIsSetIsShown(t *testing.T) {
	s := New(t)
	s.SetClock(noon)
	c := newCaller(t, s)
	shown, refused := 0, 0
	for _, r := range records(s) {
		for _, f := range catalogue().shapes[r.kind].fields {
			if r.kind == "Runner" && f.Name == "ip_address" {
				continue // releases before 17.0 show it
			}
			settable, computed := false, false
			for _, value := range setValues(s, f) {
				path := ""
				if said := trySet(func() { path = r.add(func(d *Document) { d.Set(f.Name, value) }) }); said != "" {
					refused++
					assert.Regexp(t, `^forgetest: \w+\.`+f.Name+` (is|cannot be set)`, said, "%s = %v", r.kind, value)
					computed = computed || strings.Contains(said, "cannot be set")
					require.Len(t, said, len(trySet(func() { r.add(func(d *Document) { d.Set(f.Name, value) }) })), "no lock is held after the panic")
					continue
				}
				object := c.get(path)
				if !assert.Equal(t, 200, object.Status, "%s.%s = %#v: %s", r.kind, f.Name, value, object.Body) {
					continue
				}
				var got any
				if strings.HasPrefix(strings.TrimSpace(object.Body), "[") {
					list := object.array(t)
					got = list[len(list)-1][f.Name]
				} else {
					got = object.object(t)[f.Name]
				}
				settable = settable || got != nil
				assert.True(t, hasShape(f, got), "%s.%s = %#v is shown in another form: %v", r.kind, f.Name, value, got)
				shown++
				assert.True(t, wasSet(t, s, f, value, got), "%s.%s = %#v is shown as %v by %s", r.kind, f.Name, value, got, path)
			}
			assert.True(t, settable || computed, "%s.%s can never have a value", r.kind, f.Name)
		}
	}
	assert.Greater(t, shown, 400)
	assert.Greater(t, refused, 2000)
}

// hasShape reports whether the objects in a value of a response have the type of the field.
func hasShape(f *field, got any) bool {
	kind, objects := f.Ref, []any{got}
	if list, isList := got.([]any); isList && f.Items != nil {
		kind, objects = f.Items.Ref, list
	}
	for _, one := range objects {
		object, isObject := one.(map[string]any)
		if kind != "" && one != nil && !isObject {
			return false
		}
		for name := range object {
			if kind != "" && !slices.Contains(NewDocument(kind).Fields(), name) {
				return false
			}
		}
	}
	return true
}

// wasSet reports whether a response shows the value. An empty text or list is no value: the server
// may use its default instead.
func wasSet(t *testing.T, s *Server, f *field, value, got any) bool {
	stored, _ := f.convert(value)
	if list, isList := stored.([]*Document); value == "" || isList && len(list) == 0 {
		return true
	}
	want := s.encoder(nil).append(nil, stored, f.Format)
	var wanted any
	require.NoError(t, json.Unmarshal(want, &wanted))
	object, isObject := wanted.(map[string]any)
	shown, _ := got.(map[string]any)
	if !isObject {
		return assert.ObjectsAreEqual(wanted, got)
	}
	for name, value := range maps.All(object) { // a view, or a computed field, may differ in its fields
		if other, is := shown[name]; is && !strings.HasPrefix(name, "human_") && !assert.ObjectsAreEqual(value, other) && !slices.Contains([]any{nil, "", 0.0}, value) {
			return false
		}
	}
	return shown != nil
}

func TestDurations(t *testing.T) {
	for text, want := range map[string]int64{"3h30m": 12600, "1w 2d": 201600, "-1h": -3600, "1 h": 3600, "45s": 45, "+2m": 120, " -1h ": -3600, "2147483647s": 2147483647} {
		got, valid := parseDuration(text)
		assert.True(t, valid, text)
		assert.Equal(t, want, got, text)
	}
	for _, text := range []string{"", "-", "5", "h", "1x", "1h-2m", "one hour", "2147483648s"} {
		_, valid := parseDuration(text)
		assert.False(t, valid, text)
	}
	assert.Equal(t, "-1d 1h", humanDuration(-9*3600))
	assert.Nil(t, humanDuration(0))
	assert.Equal(t, "59s", humanDuration(59))
}

func TestAges(t *testing.T) {
	const day = 24 * time.Hour
	for text, want := range map[string]time.Duration{
		"1h": time.Hour, " 1d ": day, "1month": 30 * day, "2 weeks": 14 * day, "1y": 8766 * time.Hour, "3mo": 90 * day, "1d12h": 36 * time.Hour,
		"1 day 2 hours": 26 * time.Hour, "1 day 30 minutes": day + 30*time.Minute, "1d30m": day + 30*time.Minute, "90 secs": 90 * time.Second,
		"1.5 days": 36 * time.Hour, "1 day and 1 min": day + time.Minute, "1 Week, 2 hrs": 7*day + 2*time.Hour, "1m": time.Minute, "2 mos": 60 * day,
	} {
		age, valid := parseAge(text)
		assert.True(t, valid, text)
		assert.Equal(t, want, age, text)
	}
	age, valid := parseAge("999999999999999999 years")
	assert.True(t, valid && age > 200*8766*time.Hour, "the longest duration")
	for _, text := range []string{"", "1", "d", "-1d", "0d", "0h 0days", "1x", "soon", "1d!", "1 day or 2", "1 and day", "1 ds", ", 1 day", "99999999999999999999d"} {
		_, valid := parseAge(text)
		assert.False(t, valid, text)
	}
}

// probe is a place in a response at which a field is present or absent.
type probe struct {
	request string // "GET /path", with a form behind a space
	at      string // the object, "0.author" in the first item of an array
	has     bool
	hosted  bool   // on the hosted offering
	as      string // username; empty for the administrator
}

// fieldConditions returns the conditions of the catalogue by the type and the names of the fields,
// each with a response that meets the condition and one that does not.
func fieldConditions() map[string]struct {
	when   string
	fields string
	probes []probe
} {
	const repositories, one = "GET /projects/1/registry/repositories", "GET /registry/repositories/1"
	const hostedOnly = one + "?size=true"
	return map[string]struct {
		when   string
		fields string
		probes []probe
	}{
		"RegistryRepository 1": {"requested with tags_count=true", "tags_count", []probe{{request: repositories + "?tags_count=true", at: "0", has: true}, {request: repositories + "?tags=true", at: "0"},
			{request: repositories + "?tags_count=false", at: "0"}, {request: one + "?tags_count=true", has: true}, {request: one + "?tags=true"}, {request: one + "?tags_count=false"}}},
		"RegistryRepository 2": {"requested with tags=true", "tags", []probe{{request: repositories + "?tags=true", at: "0", has: true}, {request: repositories + "?tags_count=true", at: "0"},
			{request: repositories + "?tags=false", at: "0"}, {request: one + "?tags=true", has: true}, {request: one + "?tags_count=true"}, {request: one + "?tags=false"}}},
		"RegistryRepository 3": {"size=true", "size", []probe{{request: hostedOnly, has: true, hosted: true}, {request: hostedOnly}, {request: one, hosted: true}, {request: one + "?size=false", hosted: true}}},
		"CertificateName":      {"subject", "UID", []probe{{request: "GET /projects/1/secure_files/1", at: "metadata.subject", has: true}, {request: "GET /projects/1/secure_files/1", at: "metadata.issuer"}}},
		"Namespace 1":          {"groups only", "members_count_with_descendants", []probe{{request: "GET /namespaces/group", has: true}, {request: "GET /namespaces/root"}}},
		"Namespace 2": {"detail view and for group owners or hosted offering", "max_seats_used seats_in_use max_seats_used_changed_at", []probe{
			{request: "GET /namespaces/group", has: true}, {request: "GET /namespaces", at: "0"}, {request: "GET /namespaces", at: "1"}, {request: "GET /namespaces/group", as: "owner", has: true},
			{request: "GET /namespaces/group", as: "jane"}, {request: "GET /namespaces/group", as: "jane", hosted: true, has: true}, {request: "GET /namespaces?search=group", at: "0", hosted: true},
		}},
		"AuditEvent": {"entity_type is Service::Audit::InstanceScope", "ip_address author_name entity_path target_details target_type target_id event_type", []probe{
			{request: "GET /audit_events/1", has: true}, {request: "GET /audit_events/2"}, {request: "GET /audit_events/3"},
		}},
		"UserSummary": {"merge request dependency payloads", "locked", []probe{
			{request: "GET /projects/1/merge_requests/1/blocks", at: "0.blocking_merge_request.author", has: true}, {request: "GET /projects/1/merge_requests/1/blocks", at: "0.blocked_merge_request.assignees.0", has: true},
			{request: "GET /projects/1/merge_requests/2/blockees", at: "0.blocked_merge_request.author", has: true}, {request: "POST /projects/1/merge_requests/1/blocks blocking_merge_request_id=3", at: "blocking_merge_request.merge_user", has: true},
			{request: "GET /projects/1/merge_requests", at: "0.author"}, {request: "GET /issues", at: "0.author"}, {request: "GET /projects/1/issues/1/related_merge_requests", at: "0.author"}, {request: "GET /projects/1/merge_requests/1/changes", at: "author"},
		}},
		"MergeRequestDependency": {"in the listing", "blocked_merge_request", []probe{{request: "GET /projects/1/merge_requests/1/blocks", at: "0", has: true}, {request: "POST /projects/1/merge_requests/1/blocks blocking_merge_request_id=3"}}},
		"UserIdentity":           {"group SAML identities", "saml_provider_id", []probe{{request: "GET /user", at: "identities.0", has: true}, {request: "GET /user", at: "identities.1"}}},
	}
}

// A field with a condition in the catalogue is present only if the condition is met.
func TestFieldConditions(t *testing.T) {
	for name, c := range fieldConditions() {
		for _, p := range c.probes {
			options := []Option(nil)
			if p.hosted {
				options = append(options, WithOffering(Hosted))
			}
			s := contractServer(t, options...)
			s.Root().AddIdentity("ldapmain", "root")
			s.AddGroup("group").AddMember(s.AddUser("owner"), Owner)
			s.AddGroup("group").AddMember(s.AddUser("jane"), Developer)
			caller := newCaller(t, s)
			if p.as != "" {
				caller = caller.as(s.AddUser(p.as).Token)
			}
			method, rest, _ := strings.Cut(p.request, " ")
			path, form, _ := strings.Cut(rest, " ")
			object := below(t, caller.send(method, path, form), p.at)
			for field := range strings.FieldsSeq(c.fields) {
				_, has := object[field]
				assert.Equal(t, p.has, has, "%s.%s: %+v", name, field, p)
			}
		}
	}
}

// below returns the object at a dotted path of a response.
func below(t *testing.T, r reply, path string) map[string]any {
	t.Helper()
	require.Less(t, r.Status, 300, r.Body)
	var value any
	require.NoError(t, json.Unmarshal([]byte(r.Body), &value))
	for part := range strings.FieldsFuncSeq(path, func(r rune) bool { return r == '.' }) {
		if i, err := strconv.Atoi(part); err == nil {
			require.Greater(t, len(value.([]any)), i, r.Body)
			value = value.([]any)[i]
			continue
		}
		value = value.(map[string]any)[part]
	}
	require.IsType(t, map[string]any{}, value, r.Body)
	return value.(map[string]any)
}

// Values that depend on the server differ: tiers, generated files, addresses.
func TestFieldsFollowTheServer(t *testing.T) {
	for _, tier := range []Tier{Free, Premium, Ultimate} {
		c := newCaller(t, contractServer(t, WithTier(tier)))
		assert.Equal(t, string(tier), c.get("/user").object(t)["plan"])
		assert.Equal(t, string(tier), c.get("/namespaces/group").object(t)["plan"])
	}
	s := contractServer(t)
	c := newCaller(t, s)
	p := s.AddProject("group/app")
	p.AddCommit(Change{Branch: "tools", Files: map[string]string{"by_hand.go": "a\n", "made.go": "b\n"}, GeneratedFiles: []string{"made.go"}})
	p.AddMergeRequest(func(d *Document) { d.Set("source_branch", "tools") })
	version := c.get("/projects/1/merge_requests/4/versions").array(t)[0]["id"].(float64)
	diffs := c.get("/projects/1/merge_requests/4/versions/" + strconv.Itoa(int(version))).object(t)["diffs"].([]any)
	generated := map[any]any{}
	for _, diff := range diffs {
		generated[diff.(map[string]any)["new_path"]] = diff.(map[string]any)["generated_file"]
	}
	assert.Equal(t, map[any]any{"made.go": true, "by_hand.go": false}, generated)
}

// countNew counts the unknown field in a decoded value. Each object with a type must have it, and
// no other object may.
func countNew(t *testing.T, value any, typed bool) (n int) {
	switch v := value.(type) {
	case []any:
		for _, item := range v {
			n += countNew(t, item, typed)
		}
	case map[string]any:
		_, has := v["x_new"]
		if assert.Equal(t, typed, has, v); has {
			assert.Equal(t, "new", v["x_new"])
			n++
		}
		for name, item := range v {
			n += countNew(t, item, typed && !untyped()[name])
		}
	}
	return n
}

// untyped are the fields whose objects have no type.
func untyped() map[string]bool {
	names := map[string]bool{}
	for _, s := range catalogue().shapes {
		for _, f := range s.fields {
			names[f.Name] = names[f.Name] || f.Ref == "" && (f.Type == "object" || f.Type == "hash")
		}
	}
	return names
}

// Every object of every read has the unknown field.
func TestUnknownFields(t *testing.T) {
	c := newCaller(t, contractServer(t, WithUnknownFields("x_new")))
	require.Equal(t, http.StatusOK, c.send("PUT", "/groups/group/integrations/emails-on-push", "recipients=a@example.com").Status)
	checked := 0
	for _, e := range examples() {
		if e.Method != http.MethodGet || e.Base != "api" {
			continue
		}
		got := c.get(e.path)
		require.Equal(t, http.StatusOK, got.Status, e.id)
		if !strings.HasPrefix(got.Header.Get("Content-Type"), "application/json") {
			continue
		}
		var value any
		require.NoError(t, json.Unmarshal([]byte(got.Body), &value))
		assert.Positive(t, countNew(t, value, true), e.id)
		checked++
	}
	assert.Greater(t, checked, 45)
}

// Texts are written as encoding/json does, whatever bytes they have. An object without fields has
// the unknown one.
func TestEncodedTexts(t *testing.T) {
	for i := range 256 {
		for _, text := range []string{string(rune(i)), string([]byte{'a', byte(i)}), string(rune(0x2000 + i))} {
			want, _ := json.Marshal(text)
			assert.Equal(t, string(want), string(encoder{}.encode(text)))
		}
	}
	empty := NewDocument("Note")
	for _, name := range empty.Fields() {
		empty.Omit(name)
	}
	assert.JSONEq(t, `{"x_new":"new"}`, string(encoder{changes: &changes{unknown: []string{"x_new"}}}.encode(empty)))
}

// A field of WithMismatchedTypes has another type in all objects, including nested ones.
func TestOtherTypes(t *testing.T) {
	s := contractServer(t, WithMismatchedTypes("id", "author", "labels", "references"))
	var issues []map[string]any
	require.NoError(t, json.Unmarshal([]byte(newCaller(t, s).get("/issues").Body), &issues))
	require.NotEmpty(t, issues)
	for _, issue := range issues {
		assert.Equal(t, []any{map[string]any{}, true, true, true}, []any{issue["id"], issue["author"], issue["labels"], issue["references"]})
		for _, user := range issue["assignees"].([]any) {
			assert.Equal(t, map[string]any{}, user.(map[string]any)["id"])
		}
		assert.IsType(t, "", issue["title"])
	}
}

// setFromTheStart are the fields that may be null but have a value in every new record.
var setFromTheStart = map[string][]string{
	"Issue":        {},
	"MergeRequest": {"created_at", "updated_at", "prepared_at"},
}

// A nullable field that is not set is null, not empty and not zero (Document 2 §2.2, §2.6). A flag
// is false.
func TestUnsetFieldsAreNull(t *testing.T) {
	s := New(t)
	p := s.AddProject("group/app")
	p.AddIssue(nil)
	p.AddMergeRequest(nil)
	for name, path := range map[string]string{"Issue": "/issues", "MergeRequest": "/merge_requests"} {
		object := newCaller(t, s).get(path).array(t)[0]
		checked := 0
		for _, f := range catalogue().shapes[name].fields {
			value, found := object[f.Name]
			if found && f.Type == "boolean" {
				assert.Equal(t, f.Name == "blocking_discussions_resolved", value, "%s.%s", name, f.Name)
				continue
			}
			if !found || !f.Nullable && f.Only == nil {
				continue
			}
			checked++
			assert.Equal(t, slices.Contains(setFromTheStart[name], f.Name), value != nil, "%s.%s is %v", name, f.Name, value)
		}
		assert.Greater(t, checked, 8, name)
	}
}
