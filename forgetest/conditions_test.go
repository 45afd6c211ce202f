package forgetest

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

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

// Each condition of the catalogue has a row, except for those that every response meets.
func TestFieldConditionsAreComplete(t *testing.T) {
	var types map[string]struct {
		Fields []struct {
			Name string
			Only *struct{ When string }
		}
	}
	parse("catalogue/types.json", &types)
	checked := 0
	for name, typ := range types {
		for _, f := range typ.Fields {
			if f.Only == nil || f.Only.When == "" || f.Only.When == "may appear" || f.Only.When == "may be absent" || strings.HasSuffix(name, "Update") {
				continue
			}
			found := false
			for row, c := range fieldConditions() {
				of, _, _ := strings.Cut(row, " ")
				found = found || of == name && c.when == f.Only.When && strings.Contains(" "+c.fields+" ", " "+f.Name+" ")
			}
			assert.True(t, found, "%s.%s: %s", name, f.Name, f.Only.When)
			checked++
		}
	}
	assert.Greater(t, checked, 15)
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
	job := below(t, c.get("/projects/1/resource_groups/production/upcoming_jobs"), "0.user")
	assert.Equal(t, s.URL+"/root", job["web_url"])
	for _, path := range []string{"/runners/1/jobs"} {
		assert.Equal(t, s.URL+"/root", below(t, c.get(path), "0.user")["web_url"], path)
	}
	p := s.AddProject("group/app")
	p.AddCommit(Change{Branch: "tools", Files: map[string]string{"by_hand.go": "a\n", "made.go": "b\n"}, GeneratedFiles: []string{"made.go"}})
	p.AddMergeRequest(func(d *Document) { d.Set("source_branch", "tools") })
	version := c.get("/projects/1/merge_requests/4/versions").array(t)[0]["id"].(float64)
	diffs := c.get("/projects/1/merge_requests/4/versions/" + strconv.Itoa(int(version))).object(t)["diffs"].([]any)
	generated := map[any]any{}
	for _, diff := range diffs {
		generated[diff.(map[string]any)["new_path"]] = diff.(map[string]any)["generated_file"]
	}
	assert.Equal(t, true, generated["made.go"])
	assert.Equal(t, false, generated["by_hand.go"])
}
