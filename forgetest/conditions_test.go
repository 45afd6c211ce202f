package forgetest

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"net/http"
	"slices"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

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
		endpoint := specified(t).endpoints[routeOf(e.id)]
		if endpoint.Method != http.MethodGet || endpoint.Base != "api" {
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

// Errors are unchanged, and so are the responses of a server without the option.
func TestUnknownFieldsOfErrors(t *testing.T) {
	c := newCaller(t, New(t, WithUnknownFields("x_new"), WithMismatchedTypes("message", "error")))
	assert.JSONEq(t, `{"message":"404 Project Not Found"}`, c.get("/projects/1/merge_requests").Body)
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
