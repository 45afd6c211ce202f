package forge

import (
	"cmp"
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/forge-sdk/forge-go/internal/throttle"
)

// Decisions about endpoints, where the documents differ or are silent:
//
//   - The client refuses no call of the API because of the role or the kind of token, or for lack
//     of a credential: the server decides, and the error explains a refusal. Which calls take a job
//     token is a column of internal/catalogue/endpoints.json. Generating a changelog takes one, as
//     Document 1 §4.3 says; Document 1 §5 excludes it.
//   - Roles, tiers and releases in comments are those of the section of the endpoint, parameter or
//     field. Another section may differ.
//   - The id of a user is an integer, also where Document 2 §4.4 has a string: users have no other
//     id.
//   - Offset pagination of audit events and of users is requested only if the caller does:
//     documents announce its end.

// base is the address that a route's template is relative to.
type base uint8

const (
	apiBase base = iota
	registryBase
	authBase
	// tokenBase is the address at which OAuth tokens are refreshed; no route has it.
	tokenBase
	// otherBase is any address outside the client's own origins.
	otherBase
)

// option returns the option that sets the address, and the name of its argument or field.
func (b base) option() (option, param string) {
	switch b {
	case registryBase:
		return "WithRegistry", "registryURL"
	case authBase:
		return "WithRegistry", "authURL"
	case tokenBase:
		return "WithOAuth", "TokenURL"
	}
	return "baseURL", ""
}

// origin names the server for the throttle.
func (b base) origin() string {
	switch b {
	case registryBase:
		return "registry"
	case authBase:
		return "registry's token endpoint"
	case otherBase:
		return "another server"
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
	// form has no quota: §4.3 documents this one for the JSON form. The client counts for each project
	// and credential; the documents do not specify it.
	blobQuota
	// deletionQuota is one call an hour for each registry repository.
	deletionQuota
)

// largeBlob is the size in bytes above which blobQuota counts a call: 10 MB, read as MiB.
const largeBlob = 10 << 20

// limit returns the quota in the form of the throttle. path is the requested object: only blobs
// that are known to be large are delayed.
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

// refuses reports whether a response without status 429 means that the quota is used up. Servers
// refuse a second bulk deletion within an hour with a 400.
func (q quota) refuses(status int, message string) bool {
	return q == deletionQuota && status == http.StatusBadRequest && strings.Contains(message, "at most once an hour")
}

// route describes one endpoint of the contract, with data that only the client needs.
type route struct {
	Route
	base          base
	orders, sorts string // keyset orderings, the default first; empty: the route takes none
	quota         quota  // documented rate limit, if any: a 429 delays this route only
	notModified   bool   // a 304 means that there was nothing to change
	html          bool   // the content may be an HTML page
	secret        bool   // the content is a secret file
	scope         string // token scope that the contract names; api includes it
	advice        advice
}

// advice is what to do about one status of a route, whose message may not say it.
type advice struct {
	status int
	hint   string
}

// findRoute returns the row of a documented endpoint. The table is sorted by template, then by
// method.
func findRoute(method, template string) (*route, bool) {
	for low, high := 0, len(routes); low < high; {
		middle := (low + high) / 2
		r := &routes[middle] // avoids a copy of the large row
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

// undocumentedRoute returns a route for an endpoint outside the contract. Its class follows from
// the HTTP method.
func undocumentedRoute(method, template string) *route {
	r := &route{Route: Route{Method: method, Template: template, Service: "call", Pagination: PaginationOffset, Class: RetryClassNonIdempotent}}
	switch method {
	case http.MethodGet, http.MethodHead:
		r.Class = RetryClassSafe
	case http.MethodPut, http.MethodDelete:
		r.Class = RetryClassIdempotent
	}
	return r
}

// Route describes one endpoint of the contract. Routes lists all of them, and RouteFromContext
// returns that of a request.
type Route struct {
	// Method is the HTTP method.
	Method string
	// Template is the path with its placeholders: "/projects/:id/issues".
	Template string
	// Service is the service's name in the contract: "merge_requests".
	Service string
	// Docs is the address of the page in GitLab's documentation that describes the endpoint:
	// "https://docs.gitlab.com/api/issues/".
	Docs string
	// Class determines whether the call may be retried: RetryClassSafe, RetryClassIdempotent or
	// RetryClassNonIdempotent.
	Class RetryClass
	// Pagination is the best kind that a list supports, PaginationKeyset or PaginationOffset; empty if
	// the endpoint is not a list.
	Pagination Pagination
	// JobToken reports whether a CI job token is accepted.
	JobToken bool
	// Anonymous reports whether public projects may be read without a credential.
	Anonymous bool
	// Role is the role that the caller needs in addition to a valid credential: "an administrator",
	// "at least the Maintainer role for the project". It is empty if the contract names none; the
	// server may still require one.
	Role string
	// Permissions are those that a fine-grained token needs, separated by spaces: "read_issue". It is
	// empty if they are not known; a server refuses such a token where it has declared none. Not part
	// of the contract.
	Permissions string
	// Tier names the tiers that have the endpoint: "Premium or Ultimate"; empty for all tiers.
	Tier string
	// Offering names the offerings that have the endpoint: "self-managed or dedicated"; empty for all
	// offerings.
	Offering string
	// Release is the first release that has the endpoint, if the contract names one.
	Release string
	// Deprecated states since when the endpoint is deprecated, and what to use instead; empty if it is
	// not deprecated.
	Deprecated string
}

// RetryClass determines whether a call may be retried (docs/errors-and-retries.md, "Which requests
// are retried").
type RetryClass string

const (
	// RetryClassSafe calls change nothing.
	RetryClassSafe RetryClass = "safe"
	// RetryClassIdempotent calls have the same result whether they are sent once or several times.
	RetryClassIdempotent RetryClass = "idempotent"
	// RetryClassNonIdempotent calls would take effect twice if they were sent twice. They are retried
	// only if the server did not process them.
	RetryClassNonIdempotent RetryClass = "non-idempotent"
)

// Pagination is the way in which pages of a list are requested.
type Pagination string

const (
	// PaginationOffset requests pages by number.
	PaginationOffset Pagination = "offset"
	// PaginationKeyset requests the items that follow the last one.
	PaginationKeyset Pagination = "keyset"
)

// Routes returns the contract's table, sorted by template and method. The caller owns the slice.
func Routes() []Route {
	all := make([]Route, len(routes))
	for i := range routes {
		all[i] = routes[i].Route
	}
	return all
}

// routeKey is the context key of a request's route.
type routeKey struct{}

// routeContext is the caller's context with the route of the call.
type routeContext struct {
	context.Context //nolint:containedctx // it is one
	route           *route
}

// Value returns the route for routeKey, and the caller's value for any other key.
func (c *routeContext) Value(key any) any {
	if key == (routeKey{}) {
		return c.route
	}
	return c.Context.Value(key)
}

// RouteFromContext returns the endpoint that a request belongs to, given the request's context. Use
// it in code that sees requests, such as a tracing RoundTripper that names its spans: a route has
// few values, an address has many. It returns false for the refresh of an OAuth token.
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
