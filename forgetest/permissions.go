package forgetest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// fineGrained starts the scope of a fine-grained token. It is GitLab's own name of this scope.
const fineGrained = "granular:"

// Permissions returns the scope of a fine-grained token, to be the only one of [User.AddToken]:
// jane.AddToken(forgetest.Permissions("read_issue", "read_runner")). Every route needs its
// permissions; one without declared permissions accepts no such token.
func Permissions(names ...string) string {
	for _, name := range names {
		if known := permissions(); !slices.Contains(known, name) {
			panic(fmt.Sprintf("forgetest: Permissions: no permission %q: known are %s", name, strings.Join(known, ", ")))
		}
	}
	return fineGrained + strings.Join(names, " ")
}

// permissions returns all permissions in alphabetical order.
func permissions() (all []string) {
	for _, names := range routePermissions() {
		all = append(all, strings.Fields(names)...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// routePermissions has the permissions that each route declares, by GitLab's code and its page of
// the fine-grained permissions of the REST API. The stored versions of subscriptions, notes and
// merge request dependencies declare none.
func routePermissions() map[string]string {
	const issue, resources = "/projects/:id/issues/:issue_iid", "/projects/:id/resource_groups"
	const images, files = "/projects/:id/registry/repositories", "/projects/:project_id/secure_files"
	return map[string]string{
		"GET /audit_events":                                "read_audit_event",
		"GET /audit_events/:id":                            "read_audit_event",
		"GET /groups/:id/audit_events":                     "read_audit_event",
		"GET /groups/:id/audit_events/:audit_event_id":     "read_audit_event",
		"GET /projects/:id/audit_events":                   "read_audit_event",
		"GET /projects/:id/audit_events/:audit_event_id":   "read_audit_event",
		"GET /groups/:id/merge_request_approval_setting":   "read_merge_request_approval_setting",
		"PUT /groups/:id/merge_request_approval_setting":   "update_merge_request_approval_setting",
		"GET /projects/:id/merge_request_approval_setting": "read_merge_request_approval_setting",
		"PUT /projects/:id/merge_request_approval_setting": "update_merge_request_approval_setting",
		"GET /groups/:id/placeholder_reassignments":        "read_placeholder_reassignment",
		"POST /groups/:id/placeholder_reassignments":       "create_placeholder_reassignment",
		"GET /issues":                                         "read_issue",
		"GET /groups/:id/issues":                              "read_issue",
		"POST " + issue + "/time_estimate":                    "create_issue_time_estimate",
		"POST " + issue + "/reset_time_estimate":              "reset_issue_time_estimate",
		"POST " + issue + "/add_spent_time":                   "add_issue_spent_time",
		"POST " + issue + "/reset_spent_time":                 "reset_issue_spent_time",
		"GET " + issue + "/time_stats":                        "read_issue_time_statistic",
		"GET /groups/:id/registry/repositories":               "read_container_repository",
		"GET " + images:                                       "read_container_repository",
		"GET /registry/repositories/:id":                      "read_container_repository",
		"DELETE " + images + "/:repository_id":                "delete_container_repository",
		"GET " + images + "/:repository_id/tags":              "read_container_repository_tag",
		"GET " + images + "/:repository_id/tags/:tag_name":    "read_container_repository_tag",
		"DELETE " + images + "/:repository_id/tags":           "delete_container_repository_tag",
		"DELETE " + images + "/:repository_id/tags/:tag_name": "delete_container_repository_tag",
		"GET " + resources:                                    "read_resource_group",
		"GET " + resources + "/:key":                          "read_resource_group",
		"GET " + resources + "/:key/upcoming_jobs":            "read_resource_group read_job",
		"PUT " + resources + "/:key":                          "update_resource_group",
		"GET /runners":                                        "read_runner",
		"GET /runners/all":                                    "read_runner",
		"GET /runners/:id":                                    "read_runner",
		"GET /runners/:id/jobs":                               "read_runner",
		"GET /runners/:id/managers":                           "read_runner",
		"GET /projects/:id/runners":                           "read_runner",
		"PUT /runners/:id":                                    "update_runner",
		"PUT /runners/:runner_id":                             "update_runner",
		"GET " + files:                                        "read_secure_file",
		"POST " + files:                                       "create_secure_file",
		"GET " + files + "/:id":                               "read_secure_file",
		"GET " + files + "/:id/download":                      "read_secure_file",
		"DELETE " + files + "/:id":                            "delete_secure_file",
	}
}

// permit rejects a call for which a fine-grained token lacks a permission.
func (c *call) permit(granted []string) *response {
	needed, declared := routePermissions()[c.route.name]
	description := "Access denied: This operation does not support fine-grained personal access tokens."
	if declared {
		missing := slices.DeleteFunc(strings.Fields(needed), func(name string) bool {
			return slices.Contains(granted, name)
		})
		if len(missing) == 0 {
			return nil
		}
		description = "Access denied: This operation requires a fine-grained personal access token with the following permissions: [" +
			strings.Join(missing, ", ") + "]."
	}
	return fail(response{status: http.StatusForbidden, doc: map[string]any{"error": "insufficient_granular_scope", "error_description": description}})
}
