package forge

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/forge-sdk/forge-go/internal/conn"
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

// origin is the name of the server for the throttle. It is not shown.
func (b base) origin() string { return strconv.Itoa(int(b)) }

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
	orders, sorts string   // keyset orderings, the default first; empty: the route takes none
	quota         quota    // documented rate limit, if any: a 429 delays this route only
	notModified   bool     // a 304 means that there was nothing to change
	html          bool     // the content may be an HTML page
	secret        bool     // the content is a secret file
	project       bool     // its first placeholder is a project
	refs          bool     // it takes refs, and paths of a repository
	scope         string   // token scope that the contract names; api includes it
	feed          feedKind // how Since reads the list
	advice        advice
}

// feedKind is the way in which Since reads what has changed in a list.
type feedKind uint8

const (
	feedNone feedKind = iota
	// feedChanges: it has updated_after, created_after, and the order of both times.
	feedChanges
	// feedRecords: it has created_after and created_before, and its rows never change.
	feedRecords
	// feedRecordsOfMonth: a query of records is for at most 30 days.
	feedRecordsOfMonth
)

// params returns the parameters of the list that Since sets.
func (k feedKind) params() []string {
	own := []string{"order_by", "sort", "page", "pagination"}
	if k == feedChanges {
		return append(own, "updated_after", "updated_before")
	}
	return append(own, "created_after", "created_before")
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
	r.project, r.refs = strings.HasPrefix(template, "/projects/:"), strings.Contains(template, "/repository/")
	if template == "/projects/:id/issues" || template == "/groups/:id/merge_requests" { // the contract has the others
		r.feed = feedChanges
	}
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

// outcome is the meaning of a status for a call.
type outcome uint8

const (
	// succeeded: the endpoint did what was requested.
	succeeded outcome = iota + 1
	// unchanged: a 304 that the endpoint documents, or that the caller's condition requested.
	unchanged
	// rejected: a 4xx or 5xx.
	rejected
	// unexpected: the endpoint does not return this status, so the result is not known.
	unexpected
)

// outcomeOf implements the table in docs/errors-and-retries.md, "What each status means". sent
// holds the headers that the caller added to the request.
func outcomeOf(r *route, status int, sent http.Header) outcome {
	switch {
	case status >= 400 && status < 600:
		return rejected
	case status == http.StatusNotModified:
		if r.notModified || hasCondition(sent) {
			return unchanged
		}
	case status == http.StatusPartialContent:
		if r.Class == RetryClassSafe && sent.Get("Range") != "" {
			return succeeded
		}
	case status == http.StatusOK:
		return succeeded
	case status == http.StatusCreated, status == http.StatusAccepted, status == http.StatusNoContent:
		if r.Class != RetryClassSafe {
			return succeeded
		}
	}
	return unexpected
}

func hasCondition(sent http.Header) bool {
	return sent.Get("If-None-Match") != "" || sent.Get("If-Modified-Since") != ""
}

// statusText is http.StatusText with the additional statuses of proxies.
func statusText(status int) string {
	if text := http.StatusText(status); text != "" {
		return text
	}
	return conn.ProxyStatusText(status)
}

// unexpectedText explains a status that the endpoint does not return.
func unexpectedText(status int) string {
	switch {
	case status < 100 || status > 599:
		return fmt.Sprintf("%03d is not an HTTP status", status)
	case status == http.StatusSwitchingProtocols:
		return "the server switched to another protocol, which was not requested"
	case status == http.StatusPartialContent:
		return "the server returned a part of the content, which was not requested"
	case status == http.StatusNotModified:
		return "the server returned no content, although the request had no condition"
	}
	return "the endpoint does not return this status: a proxy or a cache may have changed the response"
}

// routes is the contract's table, one row per documented endpoint, sorted by template and method.
// TestRoutes checks it against the catalogue.
var routes = []route{
	{Route: Route{Method: "GET", Template: "/application/settings", Service: "settings", Docs: "https://docs.gitlab.com/api/settings/", Class: RetryClassSafe, Role: "an administrator", Offering: "self-managed or dedicated"}},
	{Route: Route{Method: "PUT", Template: "/application/settings", Service: "settings", Docs: "https://docs.gitlab.com/api/settings/", Class: RetryClassIdempotent, Role: "an administrator", Offering: "self-managed or dedicated"}},
	{Route: Route{Method: "GET", Template: "/audit_events", Service: "audit_events", Docs: "https://docs.gitlab.com/api/audit_events/", Class: RetryClassSafe, Pagination: PaginationKeyset, Role: "an administrator", Tier: "Premium or Ultimate", Offering: "self-managed or dedicated", Permissions: "read_audit_event"}, orders: "id", sorts: "desc", feed: feedRecordsOfMonth},
	{Route: Route{Method: "GET", Template: "/audit_events/:id", Service: "audit_events", Docs: "https://docs.gitlab.com/api/audit_events/", Class: RetryClassSafe, Role: "an administrator", Tier: "Premium or Ultimate", Offering: "self-managed or dedicated", Permissions: "read_audit_event"}},
	{Route: Route{Method: "GET", Template: "/groups/:id/audit_events", Service: "audit_events", Docs: "https://docs.gitlab.com/api/audit_events/", Class: RetryClassSafe, Pagination: PaginationKeyset, Role: "at least the Developer role for the group", Tier: "Premium or Ultimate", Permissions: "read_audit_event"}, orders: "id", sorts: "desc", feed: feedRecords},
	{Route: Route{Method: "GET", Template: "/groups/:id/audit_events/:audit_event_id", Service: "audit_events", Docs: "https://docs.gitlab.com/api/audit_events/", Class: RetryClassSafe, Role: "the Owner role for the group", Tier: "Premium or Ultimate", Permissions: "read_audit_event"}},
	{Route: Route{Method: "GET", Template: "/groups/:id/integrations", Service: "integrations", Docs: "https://docs.gitlab.com/api/group_integrations/", Class: RetryClassSafe, Pagination: PaginationOffset, Role: "at least the Maintainer role for the group", Release: "17.9"}},
	{Route: Route{Method: "DELETE", Template: "/groups/:id/integrations/:slug", Service: "integrations", Docs: "https://docs.gitlab.com/api/group_integrations/", Class: RetryClassIdempotent, Role: "at least the Maintainer role for the group", Release: "17.9"}},
	{Route: Route{Method: "GET", Template: "/groups/:id/integrations/:slug", Service: "integrations", Docs: "https://docs.gitlab.com/api/group_integrations/", Class: RetryClassSafe, Role: "at least the Maintainer role for the group", Release: "17.9"}},
	{Route: Route{Method: "PUT", Template: "/groups/:id/integrations/:slug", Service: "integrations", Docs: "https://docs.gitlab.com/api/group_integrations/", Class: RetryClassIdempotent, Role: "at least the Maintainer role for the group", Release: "17.9"}},
	{Route: Route{Method: "GET", Template: "/groups/:id/issues", Service: "issues", Docs: "https://docs.gitlab.com/api/issues/", Class: RetryClassSafe, Pagination: PaginationOffset, Anonymous: true, Permissions: "read_issue"}, feed: feedChanges},
	{Route: Route{Method: "GET", Template: "/groups/:id/merge_request_approval_setting", Service: "approval_settings", Docs: "https://docs.gitlab.com/api/merge_request_approval_settings/", Class: RetryClassSafe, Role: "the Owner role for the group", Tier: "Premium or Ultimate", Permissions: "read_merge_request_approval_setting"}},
	{Route: Route{Method: "PUT", Template: "/groups/:id/merge_request_approval_setting", Service: "approval_settings", Docs: "https://docs.gitlab.com/api/merge_request_approval_settings/", Class: RetryClassIdempotent, Role: "the Owner role for the group", Tier: "Premium or Ultimate", Permissions: "update_merge_request_approval_setting"}},
	{Route: Route{Method: "GET", Template: "/groups/:id/placeholder_reassignments", Service: "placeholder_reassignments", Docs: "https://docs.gitlab.com/api/group_placeholder_reassignments/", Class: RetryClassSafe, Role: "the Owner role for the group", Permissions: "read_placeholder_reassignment"}},
	{Route: Route{Method: "POST", Template: "/groups/:id/placeholder_reassignments", Service: "placeholder_reassignments", Docs: "https://docs.gitlab.com/api/group_placeholder_reassignments/", Class: RetryClassNonIdempotent, Role: "the Owner role for the group", Permissions: "create_placeholder_reassignment"}, advice: advice{400, "ReadCSV names the column or the line of a file that is not as it was made"}},
	{Route: Route{Method: "GET", Template: "/groups/:id/registry/repositories", Service: "registry", Docs: "https://docs.gitlab.com/api/container_registry/", Class: RetryClassSafe, Pagination: PaginationOffset, Permissions: "read_container_repository"}},
	{Route: Route{Method: "GET", Template: "/issues", Service: "issues", Docs: "https://docs.gitlab.com/api/issues/", Class: RetryClassSafe, Pagination: PaginationOffset, Permissions: "read_issue"}, feed: feedChanges},
	{Route: Route{Method: "GET", Template: "/jwt/auth", Service: "registry_native", Docs: "https://docs.gitlab.com/api/container_registry/", Class: RetryClassSafe}, base: authBase},
	{Route: Route{Method: "GET", Template: "/merge_requests", Service: "merge_requests", Docs: "https://docs.gitlab.com/api/merge_requests/", Class: RetryClassSafe, Pagination: PaginationOffset}, feed: feedChanges},
	{Route: Route{Method: "GET", Template: "/namespaces", Service: "namespaces", Docs: "https://docs.gitlab.com/api/namespaces/", Class: RetryClassSafe, Pagination: PaginationOffset}},
	{Route: Route{Method: "GET", Template: "/namespaces/:id", Service: "namespaces", Docs: "https://docs.gitlab.com/api/namespaces/", Class: RetryClassSafe}},
	{Route: Route{Method: "GET", Template: "/namespaces/:namespace/exists", Service: "namespaces", Docs: "https://docs.gitlab.com/api/namespaces/", Class: RetryClassSafe}},
	{Route: Route{Method: "PUT", Template: "/projects/:id/", Service: "registry", Docs: "https://docs.gitlab.com/api/container_registry/", Class: RetryClassIdempotent}, project: true},
	{Route: Route{Method: "GET", Template: "/projects/:id/audit_events", Service: "audit_events", Docs: "https://docs.gitlab.com/api/audit_events/", Class: RetryClassSafe, Pagination: PaginationKeyset, Role: "at least the Developer role for the project", Tier: "Premium or Ultimate", Permissions: "read_audit_event"}, orders: "id", sorts: "desc", project: true, feed: feedRecords},
	{Route: Route{Method: "GET", Template: "/projects/:id/audit_events/:audit_event_id", Service: "audit_events", Docs: "https://docs.gitlab.com/api/audit_events/", Class: RetryClassSafe, Role: "at least the Maintainer role for the project", Tier: "Premium or Ultimate", Permissions: "read_audit_event"}, project: true},
	{Route: Route{Method: "POST", Template: "/projects/:id/issues/:issue_iid/add_spent_time", Service: "issues", Docs: "https://docs.gitlab.com/api/issues/", Class: RetryClassNonIdempotent, Permissions: "add_issue_spent_time"}, project: true},
	{Route: Route{Method: "POST", Template: "/projects/:id/issues/:issue_iid/notes", Service: "issues", Docs: "https://docs.gitlab.com/api/issues/", Class: RetryClassNonIdempotent, Tier: "Premium or Ultimate"}, project: true},
	{Route: Route{Method: "GET", Template: "/projects/:id/issues/:issue_iid/related_merge_requests", Service: "issues", Docs: "https://docs.gitlab.com/api/issues/", Class: RetryClassSafe, Pagination: PaginationOffset, Anonymous: true, Permissions: "read_issue_merge_request"}, project: true},
	{Route: Route{Method: "POST", Template: "/projects/:id/issues/:issue_iid/reset_spent_time", Service: "issues", Docs: "https://docs.gitlab.com/api/issues/", Class: RetryClassIdempotent, Permissions: "reset_issue_spent_time"}, project: true},
	{Route: Route{Method: "POST", Template: "/projects/:id/issues/:issue_iid/reset_time_estimate", Service: "issues", Docs: "https://docs.gitlab.com/api/issues/", Class: RetryClassIdempotent, Permissions: "reset_issue_time_estimate"}, project: true},
	{Route: Route{Method: "POST", Template: "/projects/:id/issues/:issue_iid/subscribe", Service: "issues", Docs: "https://docs.gitlab.com/api/issues/", Class: RetryClassIdempotent}, notModified: true, project: true},
	{Route: Route{Method: "POST", Template: "/projects/:id/issues/:issue_iid/time_estimate", Service: "issues", Docs: "https://docs.gitlab.com/api/issues/", Class: RetryClassIdempotent, Permissions: "create_issue_time_estimate"}, project: true},
	{Route: Route{Method: "GET", Template: "/projects/:id/issues/:issue_iid/time_stats", Service: "issues", Docs: "https://docs.gitlab.com/api/issues/", Class: RetryClassSafe, Anonymous: true, Permissions: "read_issue_time_statistic"}, project: true},
	{Route: Route{Method: "POST", Template: "/projects/:id/issues/:issue_iid/todo", Service: "issues", Docs: "https://docs.gitlab.com/api/issues/", Class: RetryClassIdempotent}, notModified: true, project: true},
	{Route: Route{Method: "POST", Template: "/projects/:id/issues/:issue_iid/unsubscribe", Service: "issues", Docs: "https://docs.gitlab.com/api/issues/", Class: RetryClassIdempotent}, notModified: true, project: true},
	{Route: Route{Method: "GET", Template: "/projects/:id/merge_request_approval_setting", Service: "approval_settings", Docs: "https://docs.gitlab.com/api/merge_request_approval_settings/", Class: RetryClassSafe, Role: "at least the Maintainer role for the project", Tier: "Premium or Ultimate", Permissions: "read_merge_request_approval_setting"}, project: true},
	{Route: Route{Method: "PUT", Template: "/projects/:id/merge_request_approval_setting", Service: "approval_settings", Docs: "https://docs.gitlab.com/api/merge_request_approval_settings/", Class: RetryClassIdempotent, Role: "at least the Maintainer role for the project", Tier: "Premium or Ultimate", Permissions: "update_merge_request_approval_setting"}, project: true},
	{Route: Route{Method: "GET", Template: "/projects/:id/merge_requests", Service: "merge_requests", Docs: "https://docs.gitlab.com/api/merge_requests/", Class: RetryClassSafe, Pagination: PaginationOffset, Anonymous: true}, project: true, feed: feedChanges},
	{Route: Route{Method: "GET", Template: "/projects/:id/merge_requests/:merge_request_iid/blockees", Service: "merge_requests", Docs: "https://docs.gitlab.com/api/merge_requests/", Class: RetryClassSafe, Pagination: PaginationOffset, Anonymous: true}, project: true},
	{Route: Route{Method: "GET", Template: "/projects/:id/merge_requests/:merge_request_iid/blocks", Service: "merge_requests", Docs: "https://docs.gitlab.com/api/merge_requests/", Class: RetryClassSafe, Pagination: PaginationOffset, Anonymous: true}, project: true},
	{Route: Route{Method: "POST", Template: "/projects/:id/merge_requests/:merge_request_iid/blocks", Service: "merge_requests", Docs: "https://docs.gitlab.com/api/merge_requests/", Class: RetryClassNonIdempotent}, project: true},
	{Route: Route{Method: "DELETE", Template: "/projects/:id/merge_requests/:merge_request_iid/blocks/:block_id", Service: "merge_requests", Docs: "https://docs.gitlab.com/api/merge_requests/", Class: RetryClassIdempotent}, project: true},
	{Route: Route{Method: "GET", Template: "/projects/:id/merge_requests/:merge_request_iid/changes", Service: "merge_requests", Docs: "https://docs.gitlab.com/api/merge_requests/", Class: RetryClassSafe, Anonymous: true, Deprecated: "since 15.7; use merge_requests.list_diffs"}, project: true},
	{Route: Route{Method: "POST", Template: "/projects/:id/merge_requests/:merge_request_iid/subscribe", Service: "merge_requests", Docs: "https://docs.gitlab.com/api/merge_requests/", Class: RetryClassIdempotent}, notModified: true, project: true},
	{Route: Route{Method: "POST", Template: "/projects/:id/merge_requests/:merge_request_iid/todo", Service: "merge_requests", Docs: "https://docs.gitlab.com/api/merge_requests/", Class: RetryClassIdempotent}, notModified: true, project: true},
	{Route: Route{Method: "POST", Template: "/projects/:id/merge_requests/:merge_request_iid/unsubscribe", Service: "merge_requests", Docs: "https://docs.gitlab.com/api/merge_requests/", Class: RetryClassIdempotent}, notModified: true, project: true},
	{Route: Route{Method: "GET", Template: "/projects/:id/merge_requests/:merge_request_iid/versions", Service: "merge_requests", Docs: "https://docs.gitlab.com/api/merge_requests/", Class: RetryClassSafe, Pagination: PaginationOffset, Anonymous: true}, project: true},
	{Route: Route{Method: "GET", Template: "/projects/:id/merge_requests/:merge_request_iid/versions/:version_id", Service: "merge_requests", Docs: "https://docs.gitlab.com/api/merge_requests/", Class: RetryClassSafe, Anonymous: true}, project: true},
	{Route: Route{Method: "GET", Template: "/projects/:id/registry/repositories", Service: "registry", Docs: "https://docs.gitlab.com/api/container_registry/", Class: RetryClassSafe, Pagination: PaginationOffset, JobToken: true, Permissions: "read_container_repository"}, project: true},
	{Route: Route{Method: "DELETE", Template: "/projects/:id/registry/repositories/:repository_id", Service: "registry", Docs: "https://docs.gitlab.com/api/container_registry/", Class: RetryClassIdempotent, JobToken: true, Permissions: "delete_container_repository"}, project: true},
	{Route: Route{Method: "DELETE", Template: "/projects/:id/registry/repositories/:repository_id/tags", Service: "registry", Docs: "https://docs.gitlab.com/api/container_registry/", Class: RetryClassNonIdempotent, JobToken: true, Permissions: "delete_container_repository_tag"}, quota: deletionQuota, project: true},
	{Route: Route{Method: "GET", Template: "/projects/:id/registry/repositories/:repository_id/tags", Service: "registry", Docs: "https://docs.gitlab.com/api/container_registry/", Class: RetryClassSafe, Pagination: PaginationKeyset, JobToken: true, Permissions: "read_container_repository_tag"}, orders: "name", sorts: "asc,desc", project: true},
	{Route: Route{Method: "DELETE", Template: "/projects/:id/registry/repositories/:repository_id/tags/:tag_name", Service: "registry", Docs: "https://docs.gitlab.com/api/container_registry/", Class: RetryClassIdempotent, JobToken: true, Permissions: "delete_container_repository_tag"}, project: true},
	{Route: Route{Method: "GET", Template: "/projects/:id/registry/repositories/:repository_id/tags/:tag_name", Service: "registry", Docs: "https://docs.gitlab.com/api/container_registry/", Class: RetryClassSafe, JobToken: true, Permissions: "read_container_repository_tag"}, project: true},
	{Route: Route{Method: "GET", Template: "/projects/:id/repository/archive[.:format]", Service: "repositories", Docs: "https://docs.gitlab.com/api/repositories/", Class: RetryClassSafe, Anonymous: true}, quota: archiveQuota, project: true, refs: true},
	{Route: Route{Method: "GET", Template: "/projects/:id/repository/blobs/:sha", Service: "repositories", Docs: "https://docs.gitlab.com/api/repositories/", Class: RetryClassSafe, Anonymous: true}, quota: blobQuota, project: true, refs: true},
	{Route: Route{Method: "GET", Template: "/projects/:id/repository/blobs/:sha/raw", Service: "repositories", Docs: "https://docs.gitlab.com/api/repositories/", Class: RetryClassSafe, Anonymous: true}, html: true, project: true, refs: true},
	{Route: Route{Method: "GET", Template: "/projects/:id/repository/changelog", Service: "repositories", Docs: "https://docs.gitlab.com/api/repositories/", Class: RetryClassSafe, JobToken: true}, project: true, refs: true},
	{Route: Route{Method: "POST", Template: "/projects/:id/repository/changelog", Service: "repositories", Docs: "https://docs.gitlab.com/api/repositories/", Class: RetryClassNonIdempotent}, project: true, refs: true},
	{Route: Route{Method: "GET", Template: "/projects/:id/repository/compare", Service: "repositories", Docs: "https://docs.gitlab.com/api/repositories/", Class: RetryClassSafe, Anonymous: true}, project: true, refs: true},
	{Route: Route{Method: "GET", Template: "/projects/:id/repository/contributors", Service: "repositories", Docs: "https://docs.gitlab.com/api/repositories/", Class: RetryClassSafe, Pagination: PaginationOffset, Anonymous: true}, project: true, refs: true},
	{Route: Route{Method: "GET", Template: "/projects/:id/repository/merge_base", Service: "repositories", Docs: "https://docs.gitlab.com/api/repositories/", Class: RetryClassSafe}, project: true, refs: true},
	{Route: Route{Method: "GET", Template: "/projects/:id/repository/tree", Service: "repositories", Docs: "https://docs.gitlab.com/api/repositories/", Class: RetryClassSafe, Pagination: PaginationKeyset, Anonymous: true}, project: true, refs: true},
	{Route: Route{Method: "GET", Template: "/projects/:id/resource_groups", Service: "resource_groups", Docs: "https://docs.gitlab.com/api/resource_groups/", Class: RetryClassSafe, Pagination: PaginationOffset, Permissions: "read_resource_group"}, project: true},
	{Route: Route{Method: "GET", Template: "/projects/:id/resource_groups/:key", Service: "resource_groups", Docs: "https://docs.gitlab.com/api/resource_groups/", Class: RetryClassSafe, Permissions: "read_resource_group"}, project: true},
	{Route: Route{Method: "PUT", Template: "/projects/:id/resource_groups/:key", Service: "resource_groups", Docs: "https://docs.gitlab.com/api/resource_groups/", Class: RetryClassIdempotent, Permissions: "update_resource_group"}, project: true},
	{Route: Route{Method: "GET", Template: "/projects/:id/resource_groups/:key/upcoming_jobs", Service: "resource_groups", Docs: "https://docs.gitlab.com/api/resource_groups/", Class: RetryClassSafe, Pagination: PaginationOffset, Permissions: "read_resource_group read_job"}, project: true},
	{Route: Route{Method: "GET", Template: "/projects/:id/runners", Service: "runners", Docs: "https://docs.gitlab.com/api/runners/", Class: RetryClassSafe, Pagination: PaginationOffset, Role: "an administrator or auditor, or at least the Maintainer role for the project", Permissions: "read_runner"}, project: true},
	{Route: Route{Method: "GET", Template: "/projects/:project_id/secure_files", Service: "secure_files", Docs: "https://docs.gitlab.com/api/secure_files/", Class: RetryClassSafe, Pagination: PaginationOffset, Permissions: "read_secure_file"}, project: true},
	{Route: Route{Method: "POST", Template: "/projects/:project_id/secure_files", Service: "secure_files", Docs: "https://docs.gitlab.com/api/secure_files/", Class: RetryClassNonIdempotent, Permissions: "create_secure_file"}, project: true},
	{Route: Route{Method: "DELETE", Template: "/projects/:project_id/secure_files/:id", Service: "secure_files", Docs: "https://docs.gitlab.com/api/secure_files/", Class: RetryClassIdempotent, Permissions: "delete_secure_file"}, project: true},
	{Route: Route{Method: "GET", Template: "/projects/:project_id/secure_files/:id", Service: "secure_files", Docs: "https://docs.gitlab.com/api/secure_files/", Class: RetryClassSafe, Permissions: "read_secure_file"}, project: true},
	{Route: Route{Method: "GET", Template: "/projects/:project_id/secure_files/:id/download", Service: "secure_files", Docs: "https://docs.gitlab.com/api/secure_files/", Class: RetryClassSafe, Permissions: "read_secure_file"}, secret: true, project: true},
	{Route: Route{Method: "GET", Template: "/registry/repositories/:id", Service: "registry", Docs: "https://docs.gitlab.com/api/container_registry/", Class: RetryClassSafe, JobToken: true, Permissions: "read_container_repository"}},
	{Route: Route{Method: "GET", Template: "/runners", Service: "runners", Docs: "https://docs.gitlab.com/api/runners/", Class: RetryClassSafe, Pagination: PaginationOffset, Permissions: "read_runner"}},
	{Route: Route{Method: "GET", Template: "/runners/:id", Service: "runners", Docs: "https://docs.gitlab.com/api/runners/", Class: RetryClassSafe, Role: "the Owner role for the runner's group, at least the Maintainer role for one of its projects, or a custom role with admin_runners", Permissions: "read_runner"}, scope: "manage_runner"},
	{Route: Route{Method: "PUT", Template: "/runners/:id", Service: "runners", Docs: "https://docs.gitlab.com/api/runners/", Class: RetryClassIdempotent, Role: "the Owner role for the runner's group, at least the Maintainer role for one of its projects, a custom role with admin_runners, or an administrator", Permissions: "update_runner"}, scope: "manage_runner"},
	{Route: Route{Method: "GET", Template: "/runners/:id/jobs", Service: "runners", Docs: "https://docs.gitlab.com/api/runners/", Class: RetryClassSafe, Pagination: PaginationKeyset, Permissions: "read_runner"}, orders: "id", sorts: "desc,asc"},
	{Route: Route{Method: "GET", Template: "/runners/:id/managers", Service: "runners", Docs: "https://docs.gitlab.com/api/runners/", Class: RetryClassSafe, Pagination: PaginationOffset, Permissions: "read_runner"}},
	{Route: Route{Method: "PUT", Template: "/runners/:runner_id", Service: "runners", Docs: "https://docs.gitlab.com/api/runners/", Class: RetryClassIdempotent, Role: "the Owner role for the runner's group, at least the Maintainer role for one of its projects, a custom role with admin_runners, or an administrator", Permissions: "update_runner"}, scope: "manage_runner"},
	{Route: Route{Method: "GET", Template: "/runners/all", Service: "runners", Docs: "https://docs.gitlab.com/api/runners/", Class: RetryClassSafe, Pagination: PaginationOffset, Role: "an administrator or auditor", Offering: "self-managed or dedicated", Permissions: "read_runner"}},
	{Route: Route{Method: "GET", Template: "/user", Service: "users", Docs: "https://docs.gitlab.com/api/users/", Class: RetryClassSafe}},
	{Route: Route{Method: "GET", Template: "/user/emails", Service: "emails", Docs: "https://docs.gitlab.com/api/user_email_addresses/", Class: RetryClassSafe, Pagination: PaginationOffset}},
	{Route: Route{Method: "POST", Template: "/user/emails", Service: "emails", Docs: "https://docs.gitlab.com/api/user_email_addresses/", Class: RetryClassNonIdempotent}},
	{Route: Route{Method: "DELETE", Template: "/user/emails/:email_id", Service: "emails", Docs: "https://docs.gitlab.com/api/user_email_addresses/", Class: RetryClassIdempotent}},
	{Route: Route{Method: "GET", Template: "/user/emails/:email_id", Service: "emails", Docs: "https://docs.gitlab.com/api/user_email_addresses/", Class: RetryClassSafe}},
	{Route: Route{Method: "GET", Template: "/users", Service: "users", Docs: "https://docs.gitlab.com/api/users/", Class: RetryClassSafe, Pagination: PaginationKeyset, Anonymous: true}, orders: "id,name,username,created_at,updated_at", sorts: "desc,asc"},
	{Route: Route{Method: "GET", Template: "/users/:id", Service: "users", Docs: "https://docs.gitlab.com/api/users/", Class: RetryClassSafe}},
	{Route: Route{Method: "GET", Template: "/users/:id/emails", Service: "emails", Docs: "https://docs.gitlab.com/api/user_email_addresses/", Class: RetryClassSafe, Pagination: PaginationOffset, Role: "an administrator", Offering: "self-managed or dedicated"}},
	{Route: Route{Method: "POST", Template: "/users/:id/emails", Service: "emails", Docs: "https://docs.gitlab.com/api/user_email_addresses/", Class: RetryClassNonIdempotent, Role: "an administrator"}},
	{Route: Route{Method: "DELETE", Template: "/users/:id/emails/:email_id", Service: "emails", Docs: "https://docs.gitlab.com/api/user_email_addresses/", Class: RetryClassIdempotent, Role: "an administrator"}},
	{Route: Route{Method: "DELETE", Template: "/v2/:image_path/manifests/:tag", Service: "registry_native", Docs: "https://docs.gitlab.com/api/container_registry/", Class: RetryClassIdempotent}, base: registryBase, advice: advice{406, "ManifestType must be the media type of this manifest: see DeleteManifestOptions"}},
	{Route: Route{Method: "DELETE", Template: "/v2/:image_path/tags/reference/:tag", Service: "registry_native", Docs: "https://docs.gitlab.com/api/container_registry/", Class: RetryClassIdempotent, Deprecated: "since 16.4; use registry_native.delete_manifest"}, base: registryBase, advice: advice{405, "this registry has no such call: use DeleteManifest"}},
	{Route: Route{Method: "GET", Template: "/v2/_catalog", Service: "registry_native", Docs: "https://docs.gitlab.com/api/container_registry/", Class: RetryClassSafe, Role: "an administrator"}, base: registryBase},
}
