package forgetest

import (
	"fmt"
	"net/http"
	"slices"
)

// Tier is the subscription of the platform.
type Tier string

// The tiers, from the smallest to the largest.
const (
	Free     Tier = "free"
	Premium  Tier = "premium"
	Ultimate Tier = "ultimate"
)

// Offering is the way in which the platform is run.
type Offering string

// Hosted is the multi-tenant service, SelfManaged a self-managed instance, Dedicated a managed
// single tenant.
const (
	Hosted      Offering = "hosted"
	SelfManaged Offering = "self-managed"
	Dedicated   Offering = "dedicated"
)

// WithTier sets the tier; the default is [Ultimate]. Calls that need a higher one are rejected with
// 403, parameters that need one are ignored, and fields that need one are omitted.
func WithTier(t Tier) Option {
	if !slices.Contains([]Tier{Free, Premium, Ultimate}, t) {
		panic(fmt.Sprintf("forgetest: WithTier: %q is not free, premium or ultimate", t))
	}
	return func(s *Server) { s.tier = t }
}

// WithOffering sets the offering; the default is [SelfManaged]. Calls of another offering are
// rejected with 403, parameters of another offering are ignored.
func WithOffering(o Offering) Option {
	if !slices.Contains([]Offering{Hosted, SelfManaged, Dedicated}, o) {
		panic(fmt.Sprintf("forgetest: WithOffering: %q is not hosted, self-managed or dedicated", o))
	}
	return func(s *Server) { s.offering = o }
}

// WithRelease sets the release of the server ("16.11", "18.2"); the default is "19.5". Endpoints
// that were added later are 404, parameters that were added later are ignored, fields that were
// added later are omitted, and lists have keyset pagination only from the release that introduced
// it. The contract describes 18.2.
//
//   - Since 19.5 the server ignores the filters that GitLab dropped, a note of commands alone is
//     202, an update of approval settings or a runner without a parameter is 400, a file of
//     placeholders must be named *.csv, and the managers of a runner have no pages.
//   - Before 18.2 users have saml_provider_id.
//   - Before 17.7 the tree of a missing path is empty, and no job token reads a changelog.
//   - Before 17.0 runners have an ip_address, a version has no leading v, and lists have any number
//     of users.
//   - Before 16.4 a moved project is not found.
//   - Before 15.5 health_status has no keywords.
//
// Anything else that newer releases removed is not modelled.
func WithRelease(number string) Option {
	var r release
	if err := r.UnmarshalText([]byte(number)); err != nil {
		r = release{} // not known
	}
	r.mustBeKnown(number)
	return func(s *Server) { s.release = r }
}

// release is a version of the platform.
type release struct{ major, minor int }

// UnmarshalText parses "16.4".
func (r *release) UnmarshalText(text []byte) error {
	if _, err := fmt.Sscanf(string(text), "%d.%d", &r.major, &r.minor); err != nil {
		return fmt.Errorf("%q is not a release such as 16.4", text)
	}
	return nil
}

// has reports whether the release is other or a later release.
func (r release) has(other release) bool {
	return r.major > other.major || r.major == other.major && r.minor >= other.minor
}

// WithNeutralNames makes the server use the neutral words of the documents instead of GitLab's, and
// their forms: for settings, integrations and their parameters, audit event types, columns of
// placeholder files and scopes of tokens. A name that the documents omit is a placeholder.
func WithNeutralNames() Option { return func(s *Server) { s.neutral = true } }

// availability restricts an endpoint, a parameter or a field to tiers, offerings and releases; an
// empty list means all.
type availability struct {
	Tiers      []Tier     `json:"tiers"`
	Offerings  []Offering `json:"offerings"`
	Introduced release    `json:"introduced"`
	Role       string     `json:"role"` // of parameters
}

// available reports whether the server's tier, offering and release satisfy the restriction.
func (l *availability) available(s *Server) bool {
	return l == nil || (len(l.Tiers) == 0 || slices.Contains(l.Tiers, s.tier)) &&
		(len(l.Offerings) == 0 || slices.Contains(l.Offerings, s.offering)) && s.release.has(l.Introduced)
}

// allowed reports what available reports, and also checks the role that a parameter may require.
func (l *availability) allowed(s *Server, u *User) bool {
	return l.available(s) && (l == nil || l.Role != "administrator" || u.Admin)
}

// checkAvailability rejects calls that the tier or the offering does not have. For an older release
// the route does not exist.
func (c *call) checkAvailability() *response {
	only := c.route.endpoint.Only
	switch {
	case only.available(c.server):
		return nil
	case !c.server.release.has(only.Introduced):
		return fail(rejected(http.StatusNotFound, "404 Not Found"))
	}
	return fail(failure(http.StatusForbidden, "403 Forbidden"))
}
