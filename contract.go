package forge

import (
	"cmp"
	"net/http"
	"strings"
	"time"
)

// class says how often a route may be sent: the retry rules follow from it.
type class uint8

const (
	// safe routes change nothing.
	safe class = iota + 1
	// repeatable routes end in the same state however often they are sent.
	repeatable
	// once routes may take effect a second time, so an attempt that may have arrived is final.
	once
)

// String returns the word the documentation uses for the class.
func (c class) String() string {
	switch c {
	case safe:
		return "safe"
	case repeatable:
		return "repeatable"
	default:
		return "once"
	}
}

// paging is the best pagination a list route offers.
type paging uint8

const (
	unpaged paging = iota
	offset
	keyset
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

// budget is a rate that the contract gives to a route of its own (Document 1 §8).
type budget uint8

const (
	noBudget budget = iota
	// archiveBudget is 5 calls a minute, on the hosted offering only.
	archiveBudget
	// blobBudget is 5 calls a minute for the large blobs of a project that are read as JSON. The
	// raw form has no budget: §4.3 gives this one to the other row.
	blobBudget
	// deletionBudget is one call an hour for each registry repository.
	deletionBudget
)

// largeBlob is the size in bytes above which blobBudget counts a call: 10 MB.
const largeBlob = 10 << 20

// rate is how many calls the budget allows in which time.
func (b budget) rate() (calls int, window time.Duration) {
	switch b {
	case deletionBudget:
		return 1, time.Hour
	case archiveBudget, blobBudget:
		return 5, time.Minute
	default:
		return 0, 0
	}
}

// subject is the argument that the budget is counted for: the project of a blob, or the repository.
func (b budget) subject(args []any) string {
	which := 0
	switch b {
	case noBudget, archiveBudget:
		return ""
	case deletionBudget:
		which = 1
	case blobBudget:
	}
	text, _ := argumentText("", args[which])
	return text
}

// route holds what the contract says of one endpoint.
type route struct {
	method, template string
	service, section string
	base             base
	class            class
	paging           paging
	orders, sorts    string // keyset orderings, the default first; empty: the route takes none
	budget           budget // the documented budget of its own, if any: a 429 holds back this route only
	jobToken         bool   // accepts a CI job token
	anonymous        bool   // may be read without credentials where the project is public
	notModified      bool   // a 304 says that there was nothing to change
	html             bool   // the content may be an HTML page
	tier, offering   string // empty: all
	release          string // first release, where the contract names one
	deprecated       string
}

// findRoute returns the row of a documented endpoint; the table is sorted by template, then by method.
func findRoute(method, template string) (*route, bool) {
	for low, high := 0, len(routes); low < high; {
		middle := (low + high) / 2
		r := &routes[middle] // no copy of a row, which is large
		switch order := cmp.Or(strings.Compare(r.template, template), strings.Compare(r.method, method)); {
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
	r := &route{method: method, template: template, service: "call", paging: offset, class: once}
	switch method {
	case http.MethodGet, http.MethodHead:
		r.class = safe
	case http.MethodPut, http.MethodDelete:
		r.class = repeatable
	}
	return r
}

// routes is the contract's table, one row per documented endpoint, sorted by template and method.
// TestRoutes holds it to the catalogue.
var routes = []route{
	{method: "GET", template: "/application/settings", service: "settings", section: "Document 3 §4.1", class: safe, offering: "self-managed or dedicated"},
	{method: "PUT", template: "/application/settings", service: "settings", section: "Document 3 §4.1", class: repeatable, offering: "self-managed or dedicated"},
	{method: "GET", template: "/audit_events", service: "audit_events", section: "Document 1 §4.7", class: safe, paging: keyset, orders: "id", sorts: "desc", tier: "Premium or Ultimate", offering: "self-managed or dedicated"},
	{method: "GET", template: "/audit_events/:id", service: "audit_events", section: "Document 1 §4.7", class: safe, tier: "Premium or Ultimate", offering: "self-managed or dedicated"},
	{method: "GET", template: "/groups/:id/audit_events", service: "audit_events", section: "Document 1 §4.7", class: safe, paging: keyset, orders: "id", sorts: "desc", tier: "Premium or Ultimate"},
	{method: "GET", template: "/groups/:id/audit_events/:audit_event_id", service: "audit_events", section: "Document 1 §4.7", class: safe, tier: "Premium or Ultimate"},
	{method: "GET", template: "/groups/:id/integrations", service: "integrations", section: "Document 3 §4.2", class: safe, paging: offset, release: "17.9"},
	{method: "DELETE", template: "/groups/:id/integrations/:slug", service: "integrations", section: "Document 3 §4.2", class: repeatable, release: "17.9"},
	{method: "GET", template: "/groups/:id/integrations/:slug", service: "integrations", section: "Document 3 §4.2", class: safe, release: "17.9"},
	{method: "PUT", template: "/groups/:id/integrations/:slug", service: "integrations", section: "Document 3 §4.2", class: repeatable, release: "17.9"},
	{method: "GET", template: "/groups/:id/issues", service: "issues", section: "Document 2 §4.1", class: safe, paging: offset, anonymous: true},
	{method: "GET", template: "/groups/:id/merge_request_approval_setting", service: "approval_settings", section: "Document 1 §4.5", class: safe, tier: "Premium or Ultimate"},
	{method: "PUT", template: "/groups/:id/merge_request_approval_setting", service: "approval_settings", section: "Document 1 §4.5", class: repeatable, tier: "Premium or Ultimate"},
	{method: "GET", template: "/groups/:id/placeholder_reassignments", service: "placeholder_reassignments", section: "Document 2 §4.6", class: safe},
	{method: "POST", template: "/groups/:id/placeholder_reassignments", service: "placeholder_reassignments", section: "Document 2 §4.6", class: once},
	{method: "GET", template: "/groups/:id/registry/repositories", service: "registry", section: "Document 1 §4.1", class: safe, paging: offset},
	{method: "GET", template: "/issues", service: "issues", section: "Document 2 §4.1", class: safe, paging: offset},
	{method: "GET", template: "/jwt/auth", service: "registry_native", section: "Document 1 §4.1.2", base: authBase, class: safe},
	{method: "GET", template: "/merge_requests", service: "merge_requests", section: "Document 2 §4.2", class: safe, paging: offset},
	{method: "GET", template: "/namespaces", service: "namespaces", section: "Document 1 §4.6", class: safe, paging: offset},
	{method: "GET", template: "/namespaces/:id", service: "namespaces", section: "Document 1 §4.6", class: safe},
	{method: "GET", template: "/namespaces/:namespace/exists", service: "namespaces", section: "Document 1 §4.6", class: safe},
	{method: "PUT", template: "/projects/:id/", service: "registry", section: "Document 1 §4.1", class: repeatable},
	{method: "GET", template: "/projects/:id/audit_events", service: "audit_events", section: "Document 1 §4.7", class: safe, paging: keyset, orders: "id", sorts: "desc", tier: "Premium or Ultimate"},
	{method: "GET", template: "/projects/:id/audit_events/:audit_event_id", service: "audit_events", section: "Document 1 §4.7", class: safe, tier: "Premium or Ultimate"},
	{method: "POST", template: "/projects/:id/issues/:issue_iid/add_spent_time", service: "issues", section: "Document 2 §4.1", class: once},
	{method: "POST", template: "/projects/:id/issues/:issue_iid/notes", service: "issues", section: "Document 2 §4.1", class: once, tier: "Premium or Ultimate"},
	{method: "GET", template: "/projects/:id/issues/:issue_iid/related_merge_requests", service: "issues", section: "Document 2 §4.1", class: safe, paging: offset, anonymous: true},
	{method: "POST", template: "/projects/:id/issues/:issue_iid/reset_spent_time", service: "issues", section: "Document 2 §4.1", class: repeatable},
	{method: "POST", template: "/projects/:id/issues/:issue_iid/reset_time_estimate", service: "issues", section: "Document 2 §4.1", class: repeatable},
	{method: "POST", template: "/projects/:id/issues/:issue_iid/subscribe", service: "issues", section: "Document 2 §4.1", class: repeatable, notModified: true},
	{method: "POST", template: "/projects/:id/issues/:issue_iid/time_estimate", service: "issues", section: "Document 2 §4.1", class: repeatable},
	{method: "GET", template: "/projects/:id/issues/:issue_iid/time_stats", service: "issues", section: "Document 2 §4.1", class: safe, anonymous: true},
	{method: "POST", template: "/projects/:id/issues/:issue_iid/todo", service: "issues", section: "Document 2 §4.1", class: repeatable, notModified: true},
	{method: "POST", template: "/projects/:id/issues/:issue_iid/unsubscribe", service: "issues", section: "Document 2 §4.1", class: repeatable, notModified: true},
	{method: "GET", template: "/projects/:id/merge_request_approval_setting", service: "approval_settings", section: "Document 1 §4.5", class: safe, tier: "Premium or Ultimate"},
	{method: "PUT", template: "/projects/:id/merge_request_approval_setting", service: "approval_settings", section: "Document 1 §4.5", class: repeatable, tier: "Premium or Ultimate"},
	{method: "GET", template: "/projects/:id/merge_requests", service: "merge_requests", section: "Document 2 §4.2", class: safe, paging: offset, anonymous: true},
	{method: "GET", template: "/projects/:id/merge_requests/:merge_request_iid/blockees", service: "merge_requests", section: "Document 2 §4.2", class: safe, paging: offset, anonymous: true},
	{method: "GET", template: "/projects/:id/merge_requests/:merge_request_iid/blocks", service: "merge_requests", section: "Document 2 §4.2", class: safe, paging: offset, anonymous: true},
	{method: "POST", template: "/projects/:id/merge_requests/:merge_request_iid/blocks", service: "merge_requests", section: "Document 2 §4.2", class: once},
	{method: "DELETE", template: "/projects/:id/merge_requests/:merge_request_iid/blocks/:block_id", service: "merge_requests", section: "Document 2 §4.2", class: repeatable},
	{method: "GET", template: "/projects/:id/merge_requests/:merge_request_iid/changes", service: "merge_requests", section: "Document 2 §4.2", class: safe, anonymous: true, deprecated: "since 15.7; use merge_requests.list_diffs"},
	{method: "POST", template: "/projects/:id/merge_requests/:merge_request_iid/subscribe", service: "merge_requests", section: "Document 2 §4.2", class: repeatable, notModified: true},
	{method: "POST", template: "/projects/:id/merge_requests/:merge_request_iid/todo", service: "merge_requests", section: "Document 2 §4.2", class: repeatable, notModified: true},
	{method: "POST", template: "/projects/:id/merge_requests/:merge_request_iid/unsubscribe", service: "merge_requests", section: "Document 2 §4.2", class: repeatable, notModified: true},
	{method: "GET", template: "/projects/:id/merge_requests/:merge_request_iid/versions", service: "merge_requests", section: "Document 2 §4.2", class: safe, paging: offset, anonymous: true},
	{method: "GET", template: "/projects/:id/merge_requests/:merge_request_iid/versions/:version_id", service: "merge_requests", section: "Document 2 §4.2", class: safe, anonymous: true},
	{method: "GET", template: "/projects/:id/registry/repositories", service: "registry", section: "Document 1 §4.1", class: safe, paging: offset, jobToken: true},
	{method: "DELETE", template: "/projects/:id/registry/repositories/:repository_id", service: "registry", section: "Document 1 §4.1", class: repeatable, jobToken: true},
	{method: "DELETE", template: "/projects/:id/registry/repositories/:repository_id/tags", service: "registry", section: "Document 1 §4.1", class: once, budget: deletionBudget, jobToken: true},
	{method: "GET", template: "/projects/:id/registry/repositories/:repository_id/tags", service: "registry", section: "Document 1 §4.1", class: safe, paging: keyset, orders: "name", sorts: "asc,desc", jobToken: true},
	{method: "DELETE", template: "/projects/:id/registry/repositories/:repository_id/tags/:tag_name", service: "registry", section: "Document 1 §4.1", class: repeatable, jobToken: true},
	{method: "GET", template: "/projects/:id/registry/repositories/:repository_id/tags/:tag_name", service: "registry", section: "Document 1 §4.1", class: safe, jobToken: true},
	{method: "GET", template: "/projects/:id/repository/archive[.:format]", service: "repositories", section: "Document 1 §4.3", class: safe, budget: archiveBudget, anonymous: true},
	{method: "GET", template: "/projects/:id/repository/blobs/:sha", service: "repositories", section: "Document 1 §4.3", class: safe, budget: blobBudget, anonymous: true},
	{method: "GET", template: "/projects/:id/repository/blobs/:sha/raw", service: "repositories", section: "Document 1 §4.3", class: safe, anonymous: true, html: true},
	{method: "GET", template: "/projects/:id/repository/changelog", service: "repositories", section: "Document 1 §4.3", class: safe, jobToken: true},
	{method: "POST", template: "/projects/:id/repository/changelog", service: "repositories", section: "Document 1 §4.3", class: once},
	{method: "GET", template: "/projects/:id/repository/compare", service: "repositories", section: "Document 1 §4.3", class: safe, anonymous: true},
	{method: "GET", template: "/projects/:id/repository/contributors", service: "repositories", section: "Document 1 §4.3", class: safe, paging: offset, anonymous: true},
	{method: "GET", template: "/projects/:id/repository/merge_base", service: "repositories", section: "Document 1 §4.3", class: safe},
	{method: "GET", template: "/projects/:id/repository/tree", service: "repositories", section: "Document 1 §4.3", class: safe, paging: keyset, anonymous: true},
	{method: "GET", template: "/projects/:id/resource_groups", service: "resource_groups", section: "Document 1 §4.2", class: safe, paging: offset},
	{method: "GET", template: "/projects/:id/resource_groups/:key", service: "resource_groups", section: "Document 1 §4.2", class: safe},
	{method: "PUT", template: "/projects/:id/resource_groups/:key", service: "resource_groups", section: "Document 1 §4.2", class: repeatable},
	{method: "GET", template: "/projects/:id/resource_groups/:key/upcoming_jobs", service: "resource_groups", section: "Document 1 §4.2", class: safe, paging: offset},
	{method: "GET", template: "/projects/:id/runners", service: "runners", section: "Document 2 §4.5", class: safe, paging: offset},
	{method: "GET", template: "/projects/:project_id/secure_files", service: "secure_files", section: "Document 1 §4.4", class: safe, paging: offset},
	{method: "POST", template: "/projects/:project_id/secure_files", service: "secure_files", section: "Document 1 §4.4", class: once},
	{method: "DELETE", template: "/projects/:project_id/secure_files/:id", service: "secure_files", section: "Document 1 §4.4", class: repeatable},
	{method: "GET", template: "/projects/:project_id/secure_files/:id", service: "secure_files", section: "Document 1 §4.4", class: safe},
	{method: "GET", template: "/projects/:project_id/secure_files/:id/download", service: "secure_files", section: "Document 1 §4.4", class: safe},
	{method: "GET", template: "/registry/repositories/:id", service: "registry", section: "Document 1 §4.1", class: safe, jobToken: true},
	{method: "GET", template: "/runners", service: "runners", section: "Document 2 §4.5", class: safe, paging: offset},
	{method: "GET", template: "/runners/:id", service: "runners", section: "Document 2 §4.5", class: safe},
	{method: "PUT", template: "/runners/:id", service: "runners", section: "Document 2 §4.5", class: repeatable},
	{method: "GET", template: "/runners/:id/jobs", service: "runners", section: "Document 2 §4.5", class: safe, paging: offset},
	{method: "GET", template: "/runners/:id/managers", service: "runners", section: "Document 2 §4.5", class: safe, paging: offset},
	{method: "PUT", template: "/runners/:runner_id", service: "runners", section: "Document 2 §4.5", class: repeatable},
	{method: "GET", template: "/runners/all", service: "runners", section: "Document 2 §4.5", class: safe, paging: offset, offering: "self-managed or dedicated"},
	{method: "GET", template: "/user", service: "users", section: "Document 2 §4.3", class: safe},
	{method: "GET", template: "/user/emails", service: "emails", section: "Document 2 §4.4", class: safe, paging: offset},
	{method: "POST", template: "/user/emails", service: "emails", section: "Document 2 §4.4", class: once},
	{method: "DELETE", template: "/user/emails/:email_id", service: "emails", section: "Document 2 §4.4", class: repeatable},
	{method: "GET", template: "/user/emails/:email_id", service: "emails", section: "Document 2 §4.4", class: safe},
	{method: "GET", template: "/users", service: "users", section: "Document 2 §4.3", class: safe, paging: keyset, orders: "id,name,username,created_at,updated_at", sorts: "desc,asc", anonymous: true},
	{method: "GET", template: "/users/:id", service: "users", section: "Document 2 §4.3", class: safe},
	{method: "GET", template: "/users/:id/emails", service: "emails", section: "Document 2 §4.4", class: safe, paging: offset, offering: "self-managed or dedicated"},
	{method: "POST", template: "/users/:id/emails", service: "emails", section: "Document 2 §4.4", class: once},
	{method: "DELETE", template: "/users/:id/emails/:email_id", service: "emails", section: "Document 2 §4.4", class: repeatable},
	{method: "DELETE", template: "/v2/:image_path/manifests/:tag", service: "registry_native", section: "Document 1 §4.1.2", base: registryBase, class: repeatable},
	{method: "DELETE", template: "/v2/:image_path/tags/reference/:tag", service: "registry_native", section: "Document 1 §4.1.2", base: registryBase, class: repeatable, deprecated: "since 16.4; use registry_native.delete_manifest"},
	{method: "GET", template: "/v2/_catalog", service: "registry_native", section: "Document 1 §4.1.2", base: registryBase, class: safe},
}
