package forge

import (
	"cmp"
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/forge-sdk/forge-go/internal/throttle"
)

// base is the address that a route's template is relative to.
type base uint8

const (
	apiBase base = iota
	registryBase
	authBase
	// tokenBase is where OAuth tokens are refreshed; no route has it.
	tokenBase
)

// origin names the server for the throttle.
func (b base) origin() string {
	switch b {
	case registryBase:
		return "registry"
	case authBase:
		return "registry's token endpoint"
	case tokenBase:
		return "OAuth token endpoint"
	default:
		return "API"
	}
}

// quota is the documented rate limit of a single route (Document 1 §8).
type quota uint8

const (
	noQuota quota = iota
	// archiveQuota is 5 calls a minute, on the hosted offering only.
	archiveQuota
	// blobQuota is 5 calls a minute for the large blobs of a project that are read as JSON. The raw
	// form has no quota: in §4.3 this one belongs to the other row.
	blobQuota
	// deletionQuota is one call an hour for each registry repository.
	deletionQuota
)

// largeBlob is the size in bytes above which blobQuota counts a call: 10 MB.
const largeBlob = 10 << 20

// limit returns the quota as the throttle counts it. path is the object of the request: of blobs
// only those are delayed that are known to be large.
func (q quota) limit(path string) throttle.Quota {
	switch q {
	case deletionQuota:
		return throttle.Quota{Calls: 1, Window: time.Hour, Proven: true}
	case archiveQuota:
		return throttle.Quota{Calls: 5, Window: time.Minute}
	case blobQuota:
		return throttle.Quota{Calls: 5, Window: time.Minute, Proven: true, Path: path, Instead: "DownloadBlob"}
	default:
		return throttle.Quota{}
	}
}

// refuses reports whether a response says that the quota is used up although its status is not 429:
// servers refuse a second bulk deletion within an hour so.
func (q quota) refuses(status int, message string) bool {
	return q == deletionQuota && status == http.StatusBadRequest && strings.Contains(message, "at most once an hour")
}

// route is what the contract says of one endpoint, with what only the client needs.
type route struct {
	Route
	base          base
	orders, sorts string // keyset orderings, the default first; empty: the route takes none
	quota         quota  // the documented rate limit, if any: a 429 delays this route only
	notModified   bool   // a 304 says that there was nothing to change
	html          bool   // the content may be an HTML page
}

// findRoute returns the row of a documented endpoint; the table is sorted by template, then by method.
func findRoute(method, template string) (*route, bool) {
	for low, high := 0, len(routes); low < high; {
		middle := (low + high) / 2
		r := &routes[middle] // no copy of a row, which is large
		switch order := cmp.Or(strings.Compare(r.Template, template), strings.Compare(r.Method, method)); {
		case order < 0:
			low = middle + 1
		case order > 0:
			high = middle
		default:
			return r, true
		}
	}
	return nil, false
}

// undocumentedRoute describes an endpoint outside the contract by what its method promises.
func undocumentedRoute(method, template string) *route {
	r := &route{Route: Route{Method: method, Template: template, Service: "call", Pagination: PaginationOffset, Class: ClassOnce}}
	switch method {
	case http.MethodGet, http.MethodHead:
		r.Class = ClassSafe
	case http.MethodPut, http.MethodDelete:
		r.Class = ClassRepeatable
	}
	return r
}

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
		all[i] = routes[i].Route
	}
	return all
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
	return r.Route, true
}
