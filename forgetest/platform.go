package forgetest

import (
	"fmt"
	"net/http"
	"slices"
)

// Tier is the subscription of the platform (document 1 §1).
type Tier string

// The tiers, from the smallest to the largest.
const (
	Free     Tier = "free"
	Premium  Tier = "premium"
	Ultimate Tier = "ultimate"
)

// Offering is the way in which the platform is run (document 1 §1).
type Offering string

// Hosted is the multi-tenant service, SelfManaged an own instance, Dedicated a managed single
// tenant.
const (
	Hosted      Offering = "hosted"
	SelfManaged Offering = "self-managed"
	Dedicated   Offering = "dedicated"
)

// WithTier sets the tier; the default is [Ultimate]. Calls that need a higher one are refused with
// 403, parameters that need one are ignored, fields are left out.
func WithTier(t Tier) Option { return func(s *Server) { s.tier = t } }

// WithOffering sets the offering; the default is [SelfManaged]. Calls of another offering are
// refused with 403, parameters ignored.
func WithOffering(o Offering) Option { return func(s *Server) { s.offering = o } }

// WithRelease makes the server one of an older release ("16.4"); the default is the newest.
// Endpoints that came later are 404, parameters that came later are ignored, fields that came later
// are omitted, and lists have keyset pagination only from the release on that brought it. Before
// 17.7 the tree of a missing path is empty, and no job token reads a changelog; before 17.0 a
// version has no leading v, and lists have any number of users; before 16.4 a moved project is not
// found.
// What newer releases removed is not modelled.
func WithRelease(number string) Option {
	var r release
	if err := r.UnmarshalText([]byte(number)); err != nil {
		panic("forgetest: WithRelease: " + err.Error())
	}
	return func(s *Server) { s.release = r }
}

// release is a version of the platform; the zero release is the newest.
type release struct{ major, minor int }

// UnmarshalText reads "16.4".
func (r *release) UnmarshalText(text []byte) error {
	if _, err := fmt.Sscanf(string(text), "%d.%d", &r.major, &r.minor); err != nil || r.major < 1 {
		return fmt.Errorf("%q is no release: it has the form 16.4", text)
	}
	return nil
}

// has reports whether the release is that one or a later one.
func (r release) has(other release) bool {
	return r == release{} || r.major > other.major || r.major == other.major && r.minor >= other.minor
}

// GitLabWords makes the server speak the words of the deployed product in place of the neutral ones
// of the contract: settings, integration slugs and their parameters, CSV columns, media types.
func GitLabWords() Option { return func(s *Server) { s.gitlab = true } }

// limitation is the "only" of an endpoint, a parameter or a field of the contract; an empty list is
// everywhere.
type limitation struct {
	Tiers      []Tier     `json:"tiers"`
	Offerings  []Offering `json:"offerings"`
	Introduced release    `json:"introduced"`
	Role       string     `json:"role"` // of parameters
}

// licensed reports whether tier, offering and release have something.
func (l *limitation) licensed(s *Server) bool {
	return l == nil || (len(l.Tiers) == 0 || slices.Contains(l.Tiers, s.tier)) &&
		(len(l.Offerings) == 0 || slices.Contains(l.Offerings, s.offering)) && s.release.has(l.Introduced)
}

// and is what holds where both limitations do.
func (l *limitation) and(other *limitation) *limitation {
	switch {
	case l == nil:
		return other
	case other == nil:
		return l
	}
	both := *l
	both.Tiers = common(l.Tiers, other.Tiers)
	both.Offerings = common(l.Offerings, other.Offerings)
	if l.Introduced == (release{}) || other.Introduced.has(l.Introduced) && other.Introduced != (release{}) {
		both.Introduced = other.Introduced
	}
	return &both
}

// common is what two lists share; an empty one is everything.
func common[T comparable](a, b []T) []T {
	if len(a) == 0 {
		return b
	}
	return slices.DeleteFunc(slices.Clone(a), func(v T) bool { return len(b) > 0 && !slices.Contains(b, v) })
}

// met is licensed, with the role that a parameter may ask for.
func (l *limitation) met(s *Server, u *User) bool {
	return l.licensed(s) && (l == nil || l.Role != "administrator" || u != nil && u.Admin)
}

// license refuses what the tier or the offering does not have. An older release does not know the
// address.
func (c *call) license() *answer {
	only := c.route.endpoint.Only
	switch {
	case only.licensed(c.Server):
		return nil
	case !c.release.has(only.Introduced):
		return fail(refused(http.StatusNotFound, "404 Not Found"))
	}
	return fail(failed(http.StatusForbidden, "403 Forbidden"))
}
