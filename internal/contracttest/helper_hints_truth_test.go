package contracttest_test

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go/forgetest"
	"github.com/forge-sdk/forge-go/internal/contracttest/catalogue"
)

// access is the part of an endpoint of the catalogue that decides who may call it.
type access struct {
	Status, Method, Path, Base string
	Only                       struct {
		Tiers      []forgetest.Tier
		Offerings  []forgetest.Offering
		Introduced string
	}
	Auth struct {
		Schemes   []string
		Anonymous string
		Who       string
		Scope     string `json:"token_scope"`
	}
}

func accessOf(t *testing.T) map[string]access {
	t.Helper()
	var list []access
	require.NoError(t, json.Unmarshal(catalogue.Fixture(t, "spec/endpoints.json"), &list))
	all := map[string]access{}
	for _, e := range list {
		if e.Status == "documented" {
			all[e.Method+" "+e.Path] = e
		}
	}
	return all
}

// cell is one call of the truth table: what is true of it, by the catalogue and the objects of the
// server. It does not depend on the hint.
type cell struct {
	access
	platform
	caller
	missing bool // an object of the path does not exist
}

func (c *cell) refusesJobs() bool {
	return c.job && c.Base == "api" && !slices.Contains(c.Auth.Schemes, "job_token")
}

// badCredential reports whether the credential is unknown, or not accepted by this release.
func (c *cell) badCredential() bool {
	return c.wrong || c.job && c.release != "" && c.Path == "/projects/:id/repository/changelog"
}

func (c *cell) lacksScope() bool {
	return c.readOnly && c.Base == "api" && (c.Method != http.MethodGet || c.Auth.Scope != "")
}

func (c *cell) lacksTier() bool {
	return len(c.Only.Tiers) > 0 && !slices.Contains(c.Only.Tiers, c.tier)
}

func (c *cell) lacksOffering() bool {
	return len(c.Only.Offerings) > 0 && !slices.Contains(c.Only.Offerings, c.offering)
}

func (c *cell) tooOld() bool { return c.release != "" && c.Only.Introduced != "" }

// limited reports whether the server does not have the endpoint.
func (c *cell) limited() bool { return c.lacksTier() || c.lacksOffering() || c.tooOld() }

// unseen reports whether the caller does not see an object of the path: it does not exist, or it is
// private.
func (c *cell) unseen() bool {
	member := c.role > forgetest.NoAccess || c.admin || c.auditor
	return c.missing || c.private && !member || c.Path == "/namespaces/:id" && !c.admin && c.role == forgetest.NoAccess ||
		strings.HasPrefix(c.Path, "/user/emails/") && (!c.admin || c.Method == http.MethodDelete)
}

// lacksRole reports whether the caller lacks the role that the contract names. Where it names none,
// the server may require one that only administrators do not lack.
func (c *cell) lacksRole() bool {
	who := c.Auth.Who
	required := map[bool]forgetest.Role{true: forgetest.Maintainer, false: forgetest.Owner}[strings.Contains(who, "Maintainer")]
	if strings.Contains(who, "Developer") {
		required = forgetest.Developer
	}
	switch {
	case c.admin:
		return false
	case strings.HasPrefix(who, "administrator"):
		audits := c.auditor && strings.Contains(strings.ToLower(who), "auditor")
		maintains := strings.Contains(who, "Maintainer") && c.role >= required
		return !audits && !maintains
	case strings.Contains(strings.ToLower(who), "owner"), strings.Contains(who, "Maintainer"):
		return c.role < required
	}
	return true
}

// sentence is a form that a sentence of a hint may have.
type sentence struct {
	form *regexp.Regexp
	// fact reports whether what the sentence states is true; nil if it says that something may be so.
	fact func(c *cell, words string) bool
	// cause reports whether what it names is a cause of this cell.
	cause func(c *cell) bool
}

// sentences are all forms. A hint has no other ones.
var sentences = []sentence{
	{regexp.MustCompile(`^this endpoint does not accept a CI job token: use an access token$`), func(c *cell, _ string) bool { return c.refusesJobs() }, (*cell).refusesJobs},
	{regexp.MustCompile(`^the call needs a credential, and the client has none$`), func(c *cell, _ string) bool { return c.anonymous() }, (*cell).anonymous},
	{regexp.MustCompile(`^check the (?:credential: it|user and the password: they) may be wrong, expired or revoked$`), nil, (*cell).badCredential},
	{regexp.MustCompile(`^check the job token: it may have expired with its job, or this server may not accept one for this call$`), nil, (*cell).badCredential},
	{regexp.MustCompile(`^the token needs the scope (.*)$`), func(c *cell, words string) bool { return c.lacksScope() && words == c.scopes() }, (*cell).lacksScope},
	{regexp.MustCompile(`^this endpoint needs (.*)$`), (*cell).requires, (*cell).lacksRole},
	{regexp.MustCompile(`^(?:it|this endpoint) may need (.*)$`), (*cell).isOnly, (*cell).limited},
	{regexp.MustCompile(`^the object does not exist, or the credential cannot see it$`), func(c *cell, _ string) bool { return !c.anonymous() && c.unseen() }, (*cell).unseen},
	{regexp.MustCompile(`^the object does not exist or is not public, and the client has no credential$`), func(c *cell, _ string) bool { return c.anonymous() && c.unseen() }, (*cell).unseen},
	{regexp.MustCompile(`^the object may not exist, or the user may lack access to it$`), nil, func(c *cell) bool { return c.otherJob || c.unseen() || c.lacksRole() }},
	{regexp.MustCompile(`^the object may not exist or may not be public: the client has no credential$`), func(c *cell, _ string) bool { return c.anonymous() }, (*cell).unseen},
	{regexp.MustCompile(`^check the base URL: the API was requested at http://127\.0\.0\.1:\d+/api/v4$`), nil, func(*cell) bool { return false }},
	{regexp.MustCompile(`^the user may lack the role for this call$`), nil, (*cell).lacksRole},
	{regexp.MustCompile(`^a CI job token may have no access to this project, or its user may lack the role for this call$`), func(c *cell, _ string) bool { return c.job }, func(c *cell) bool { return c.otherJob || c.lacksRole() }},
	{regexp.MustCompile(`^the registry's user may lack access, or the image may not exist$`), nil, func(c *cell) bool { return c.otherJob || c.unseen() || c.lacksRole() }},
}

func (c *cell) anonymous() bool { return c.credential == nil }

// scopes returns the scopes of which a token needs one.
func (c *cell) scopes() string {
	switch {
	case c.Auth.Scope != "":
		return "api or " + c.Auth.Scope
	case c.Method == http.MethodGet:
		return "read_api or api"
	}
	return "api"
}

// requires reports whether the contract requires one of the roles in words, and no other.
func (c *cell) requires(words string) bool {
	who := strings.ToLower(c.Auth.Who)
	for _, role := range []string{"administrator", "auditor", "owner", "maintainer", "developer", "admin_runners"} {
		named := strings.Contains(strings.ToLower(words), role)
		if named && !strings.Contains(who, role) {
			return false
		}
	}
	return words != ""
}

// isOnly reports whether the contract restricts the endpoint to what words name.
func (c *cell) isOnly(words string) bool {
	for word, restricted := range map[string]bool{
		"Premium or Ultimate":                        len(c.Only.Tiers) > 0,
		"self-managed or dedicated":                  len(c.Only.Offerings) > 0,
		"release " + c.Only.Introduced + " or later": c.Only.Introduced != "",
	} {
		if strings.Contains(words, word) != restricted {
			return false
		}
	}
	return true
}
