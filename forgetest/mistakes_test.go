package forgetest

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// A mistake in a test's own setup panics with its reason, as the test would go on without what it
// set up.
func TestMistakesOfSetupPanic(t *testing.T) {
	srv := New(t)
	group := srv.AddGroup("acme")
	for _, test := range []struct {
		says string
		call func()
	}{
		{`forgetest: WithExternalURL("forge.test"): it must be a scheme and a host, as in https://forge.test`, func() { WithExternalURL("forge.test") }},
		{`forgetest: WithExternalURL("https://forge.test/app"): it must be a scheme and a host, as in https://forge.test`, func() { WithExternalURL("https://forge.test/app") }},
		{"forgetest: AddMember: the user is nil", func() { group.AddMember(nil, Guest) }},
		{"forgetest: AddMember: the user is nil", func() { srv.AddProject("acme/app").AddMember(nil, Guest) }},
		{"forgetest: Fail: the Fault is zero: use a function that returns one, such as Status(502)", func() { srv.Fail("GET /issues", Fault{}) }},
		{"forgetest: Fail: 99 is not an HTTP status", func() { srv.Fail("GET /issues", Status(99)) }},
		{`forgetest: WithTier: "gold" is not free, premium or ultimate`, func() { WithTier("gold") }},
		{`forgetest: WithOffering: "saas" is not hosted, self-managed or dedicated`, func() { WithOffering("saas") }},
		{"forgetest: Times: it must be at least 1, and is 0", func() { Status(502).Times(0) }},
		{"forgetest: After: it must not be negative, and is -1", func() { Status(502).After(-1) }},
		{"forgetest: AddMember: 31 is not a role: use a constant such as Developer", func() { group.AddMember(srv.Root(), 31) }},
		{`forgetest: AddToken: "read-api" is not a scope; near: read_api, api, read_user`, func() { srv.Root().AddToken("read-api") }},
		{`forgetest: Issue has no field "titel"; near: title, state, type; Fields lists all`, func() { NewDocument("Issue").Set("titel", "x") }},
		{"forgetest: Issue.labels is of type array, not string bug: pass []string", func() { NewDocument("Issue").Set("labels", "bug") }},
		{"forgetest: Issue.author is of type UserSummary, not string maya: pass a *User or a *Document", func() { NewDocument("Issue").Set("author", "maya") }},
		{`forgetest: Issue.milestone is of type Milestone, not string v1: pass NewDocument("Milestone")`, func() { NewDocument("Issue").Set("milestone", "v1") }},
		{`forgetest: Issue.created_at is a timestamp, not string now: pass a time.Time, or text such as "2026-03-01"`, func() { NewDocument("Issue").Set("created_at", "now") }},
		{`forgetest: acme/app has no ref "nope": add a commit or a branch first`, func() { srv.AddProject("acme/app").AddBranch("x", "nope") }},
		{"forgetest: ProtectRegistryTags(\"*\"): it is not an RE2 pattern, such as v.*: error parsing regexp: missing argument to repetition operator: `*`", func() { srv.AddProject("acme/app").ProtectRegistryTags("*") }},
	} {
		assert.PanicsWithValue(t, test.says, test.call)
	}
}
