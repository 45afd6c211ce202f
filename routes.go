package forge

import "context"

// Route is what the contract says of one endpoint. Routes lists all of them, and RouteFromContext tells the one of a request
// under way.
type Route struct {
	// Method is the HTTP method.
	Method string
	// Template is the path with its placeholders, as the contract spells it.
	Template string
	// Service is the service's name in the contract: "merge_requests".
	Service string
	// Section is where the contract describes the endpoint: "Document 2 §4.2".
	Section string
	// Class says how often the call may be sent: ClassSafe, ClassRepeatable or ClassOnce.
	Class RetryClass
	// Pagination is the best one that a list offers; empty for what is no list.
	Pagination Pagination
	// JobToken says whether a CI job token is accepted.
	JobToken bool
	// Anonymous says whether public projects may be read without a credential.
	Anonymous bool
	// Tier is where the endpoint exists: "Premium or Ultimate"; empty for all tiers.
	Tier string
	// Offering is where the endpoint exists: "self-managed or dedicated"; empty for all offerings.
	Offering string
	// Release is the first release that has the endpoint, where the contract names one.
	Release string
	// Deprecated says since when, and what to use instead; empty for what is not deprecated.
	Deprecated string
}

// RetryClass says how often a call may be sent (README, "Retries").
type RetryClass string

const (
	// ClassSafe calls change nothing.
	ClassSafe RetryClass = "safe"
	// ClassRepeatable calls end in the same state however often they are sent.
	ClassRepeatable RetryClass = "repeatable"
	// ClassOnce calls may take effect a second time, so they are not repeated after they may have arrived.
	ClassOnce RetryClass = "once"
)

// Pagination is how a list is read in pages (Document 1 §8.1).
type Pagination string

const (
	// PaginationOffset counts pages.
	PaginationOffset Pagination = "offset"
	// PaginationKeyset goes on after the last item.
	PaginationKeyset Pagination = "keyset"
)

// Routes returns the contract's table, sorted by template and method. The slice is the caller's own.
func Routes() []Route {
	all := make([]Route, len(routes))
	for i := range routes {
		all[i] = routes[i].export()
	}
	return all
}

// export gives the row as callers see it.
func (r *route) export() Route {
	e := Route{
		Method: r.method, Template: r.template, Service: r.service, Section: r.section, Class: RetryClass(r.class.String()),
		JobToken: r.jobToken, Anonymous: r.anonymous, Tier: r.tier, Offering: r.offering, Release: r.release, Deprecated: r.deprecated,
	}
	switch r.paging {
	case offset:
		e.Pagination = PaginationOffset
	case keyset:
		e.Pagination = PaginationKeyset
	}
	return e
}

// routeKey is the context key of a request's route.
type routeKey struct{}

// routeContext is the context of a call: the caller's, which knows the route.
type routeContext struct {
	context.Context //nolint:containedctx // it is one
	route           *route
}

// Value knows the route.
func (c *routeContext) Value(key any) any {
	if key == (routeKey{}) {
		return c.route
	}
	return c.Context.Value(key)
}

// RouteFromContext tells the endpoint that a request belongs to, given the request's context. It is for what sees requests on
// their way, such as a tracing RoundTripper that names its spans: a route has few values where an address has many. The refresh of an
// OAuth token has none.
func RouteFromContext(ctx context.Context) (Route, bool) {
	if ctx == nil {
		return Route{}, false
	}
	r, _ := ctx.Value(routeKey{}).(*route)
	if r == nil {
		return Route{}, false
	}
	return r.export(), true
}
