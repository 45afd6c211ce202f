package forgetest

import (
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

// Hosted is the multi-tenant service, SelfManaged an own instance, Dedicated a managed single tenant.
const (
	Hosted      Offering = "hosted"
	SelfManaged Offering = "self-managed"
	Dedicated   Offering = "dedicated"
)

// WithTier sets the tier; the default is [Ultimate]. Calls that need a higher one are refused with 403, parameters that need
// one are ignored, fields are left out.
func WithTier(t Tier) Option { return func(s *Server) { s.tier = t } }

// WithOffering sets the offering; the default is [SelfManaged]. Calls of another offering are refused with 403, parameters
// ignored.
func WithOffering(o Offering) Option { return func(s *Server) { s.offering = o } }

// GitLabWords makes the server speak the words of the deployed product in place of the neutral ones of the contract:
// settings, integration slugs and their parameters, CSV columns, media types.
func GitLabWords() Option { return func(s *Server) { s.gitlab = true } }

// limitation is the "only" of an endpoint, a parameter or a field of the contract; an empty list is everywhere.
type limitation struct {
	Tiers     []Tier     `json:"tiers"`
	Offerings []Offering `json:"offerings"`
	Role      string     `json:"role"` // of parameters
}

// licensed reports whether tier and offering have something.
func (l *limitation) licensed(s *Server) bool {
	return l == nil || (len(l.Tiers) == 0 || slices.Contains(l.Tiers, s.tier)) &&
		(len(l.Offerings) == 0 || slices.Contains(l.Offerings, s.offering))
}

// met is licensed, with the role that a parameter may ask for.
func (l *limitation) met(s *Server, u *User) bool {
	return l.licensed(s) && (l == nil || l.Role != "administrator" || u != nil && u.Admin)
}

// license refuses what the tier or the offering does not have.
func (c *call) license() *answer {
	if c.route.endpoint.Only.licensed(c.Server) {
		return nil
	}
	return fail(failed(http.StatusForbidden, "403 Forbidden"))
}
