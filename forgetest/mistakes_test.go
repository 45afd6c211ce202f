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
	} {
		assert.PanicsWithValue(t, test.says, test.call)
	}
}
