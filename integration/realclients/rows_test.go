package realclients

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/stretchr/testify/assert"
)

// row is one call of every client that has a method for it. Its name is the id of the endpoint in
// the contract and, after a colon, the case.
type row struct {
	name string
	// want returns the state of the store right after the call, in the form of the response.
	want func(w *world) any
	// check checks the store directly, not through the API.
	check func(w *world)
	// part is set if the result has more keys than want: for a record that no documented call reads
	// alone.
	part bool
	// silent names a client whose method returns nothing although the response has a body.
	silent string
	// without names the clients that have the endpoint but cannot make this call, with the reason.
	without map[string]string
}

// refusal returns an error of the API in the form of all clients: the status and a part of the
// text.
func refusal(status int, text string) func(*world) any {
	return func(*world) any { return map[string]any{"status": status, "text": text} }
}

// unchanged is the 304 of a call that changes nothing.
func unchanged(*world) any { return map[string]any{"status": http.StatusNotModified} }

// nothing is the result of a call without a response body.
func nothing(*world) any { return nil }

func get(path string, args ...func(*world) any) func(*world) any {
	return func(w *world) any { w.t.Helper(); return w.get(path, values(w, args)...) }
}

func all(path string, args ...func(*world) any) func(*world) any {
	return func(w *world) any { w.t.Helper(); return w.all(path, values(w, args)...) }
}

func content(path string, args ...func(*world) any) func(*world) any {
	return func(w *world) any { w.t.Helper(); return w.content(path, values(w, args)...) }
}

func values(w *world, args []func(*world) any) []any {
	var list []any
	for _, arg := range args {
		list = append(list, arg(w))
	}
	return list
}

// The ids in paths.
func project(w *world) any  { return w.Project }
func shop(w *world) any     { return w.Shop }
func web(w *world) any      { return w.Web }
func issue(w *world) any    { return w.Issue }
func merge(w *world) any    { return w.Merge }
func file(w *world) any     { return w.File }
func user(w *world) any     { return w.User }
func last(w *world) any     { return w.Last }
func blob(w *world) any     { return w.Blob }
func local(w *world) any    { return w.Local }
func resource(w *world) any { return "production%2Feu_west" }

func rows() []row {
	return slices.Concat(registryRows(), resourceRows(), repositoryRows(), fileRows(), approvalRows(), namespaceRows(), auditRows(),
		issueRows(), mergeRequestRows(), userRows(), emailRows(), runnerRows(), settingsRows(), integrationRows())
}

func registryRows() []row {
	const tags = "/projects/%d/registry/repositories/%d/tags"
	return []row{
		{name: "registry.list_project_repositories", want: all("/projects/%d/registry/repositories?tags=true&tags_count=true", shop)},
		{name: "registry.list_project_repositories: of a job", want: all("/projects/%d/registry/repositories", shop)},
		{name: "registry.list_group_repositories", want: all("/groups/acme/registry/repositories")},
		{name: "registry.get_repository", want: get("/registry/repositories/%d?tags_count=true&tags=true", web)},
		{name: "registry.list_tags", want: all(tags, shop, web), check: func(w *world) {
			assert.Greater(w.t, len(w.web.Tags()), 40)
			assert.Len(w.t, w.all(tags, w.Shop, w.Web), len(w.web.Tags()))
		}},
		{name: "registry.list_tags: keyset", want: func(w *world) any {
			return w.pages(w.HostedURL, w.HostedToken, fmt.Sprintf("/projects/%d/registry/repositories/1/tags", w.Shop))
		}},
		{name: "registry.list_tags: keyset without sort", want: func(w *world) any {
			return w.pages(w.HostedURL, w.HostedToken, fmt.Sprintf("/projects/%d/registry/repositories/1/tags", w.Shop))
		}},
		{name: "registry.list_tags: keyset on self-managed", want: refusal(http.StatusMethodNotAllowed, "405")},
		{name: "registry.get_tag", want: get(tags+"/latest", shop, web)},
		{name: "registry.get_tag: missing", want: refusal(http.StatusNotFound, "404 Tag Not Found")},
		{name: "registry.delete_tag", want: nothing, check: func(w *world) { assert.NotContains(w.t, w.web.Tags(), "topic-30") }},
		{name: "registry.delete_tag: protected", want: refusal(http.StatusForbidden, "403"),
			check: func(w *world) { assert.Contains(w.t, w.web.Tags(), "v1.0.0") }},
		{name: "registry.delete_tags_bulk", want: nothing, check: func(w *world) {
			before := w.web.Tags()
			w.srv.FinishBackgroundJobs()
			var gone []string
			for _, name := range before {
				if !slices.Contains(w.web.Tags(), name) {
					gone = append(gone, name)
				}
			}
			assert.Len(w.t, gone, 4, "mr-... but the newest one")
		}},
		{name: "registry.delete_tags_bulk: twice in an hour", want: refusal(http.StatusBadRequest, "once an hour")},
		{name: "registry.delete_repository", want: nothing, check: func(w *world) {
			assert.Equal(w.t, "delete_scheduled", w.get("/registry/repositories/%d", w.Cron).(map[string]any)["status"])
		}},
		{name: "registry.update_visibility", want: func(w *world) any {
			return map[string]any{"id": w.Shop, "name": w.shop.Name, "container_registry_access_level": "private"}
		}},
	}
}

func resourceRows() []row {
	const group = "/projects/%d/resource_groups/%s"
	return []row{
		{name: "resource_groups.list", want: all("/projects/%d/resource_groups", project)},
		{name: "resource_groups.get", want: get(group, project, resource)},
		{name: "resource_groups.list_upcoming_jobs", want: all(group+"/upcoming_jobs", project, resource)},
		{name: "resource_groups.update", want: get(group, project, resource),
			check: func(w *world) { assert.Equal(w.t, "oldest_first", w.lock.Get("process_mode")) }},
		{name: "resource_groups.update: a wrong mode", want: refusal(http.StatusBadRequest, "process_mode"),
			check: func(w *world) { assert.Equal(w.t, "oldest_first", w.lock.Get("process_mode")) }},
	}
}

func repositoryRows() []row {
	const code = "/projects/%d/repository"
	tree := all(code+"/tree?recursive=true", project)
	return []row{
		{name: "repositories.tree", want: tree},
		{name: "repositories.tree: keyset", want: tree},
		{name: "repositories.tree: a folder of a branch", want: all(code+"/tree?path=docs&ref=%s", project, last)},
		{name: "repositories.tree: missing folder", want: refusal(http.StatusNotFound, "404 invalid revision or path Not Found")},
		{name: "repositories.get_blob", want: get(code+"/blobs/%s", project, blob), without: map[string]string{
			"go": "returns the bytes of the JSON document, which is the case below"}},
		{name: "repositories.get_blob: bytes", want: content(code+"/blobs/%s", project, blob), without: map[string]string{
			"python": "decodes", "javascript": "decodes"}},
		{name: "repositories.get_blob_raw", want: content(code+"/blobs/%s/raw", project, blob)},
		{name: "repositories.get_blob_raw: of nobody", want: content(code+"/blobs/%s/raw", project, blob)},
		{name: "repositories.archive", want: content(code+"/archive.tar.gz", project)},
		{name: "repositories.archive: a folder as zip", want: content(code+"/archive.zip?path=docs&sha=%s", project, last)},
		{name: "repositories.compare", want: get(code+"/compare?from=main&to=experiment%%2Fhttp3&straight=true", project)},
		{name: "repositories.contributors", want: all(code+"/contributors?order_by=commits&sort=desc", project)},
		{name: "repositories.merge_base", want: get(code+"/merge_base?refs[]=main&refs[]=%s", project, last)},
		{name: "repositories.merge_base: with trailers", want: get(code+"/merge_base?refs[]=main&refs[]=experiment%%2Fhttp3", project),
			without: map[string]string{"go": "reads extended_trailers as texts; deployed servers write lists"}},
		{name: "repositories.generate_changelog", want: get(code+"/changelog?version=1.3.0", project)},
		{name: "repositories.add_changelog", want: nothing, check: func(w *world) {
			assert.Contains(w.t, fmt.Sprint(w.all("/projects/%d/repository/tree", w.Project)), "CHANGES.md")
		}},
	}
}

func fileRows() []row {
	const files = "/projects/%d/secure_files"
	newest := func(w *world) any {
		list := w.all(files, w.Project).([]any)
		return list[len(list)-1]
	}
	return []row{
		{name: "secure_files.list", want: all(files, project)},
		{name: "secure_files.get", want: get(files+"/%d", project, file)},
		{name: "secure_files.create", want: newest, check: func(w *world) {
			id := int64(newest(w).(map[string]any)["id"].(float64))
			assert.Equal(w.t, digest(uploaded), w.content(files+"/%d/download", w.Project, id))
			assert.Equal(w.t, "größe & mehr.p12", newest(w).(map[string]any)["name"])
		}},
		{name: "secure_files.create: the same name", want: refusal(http.StatusBadRequest, "has already been taken")},
		{name: "secure_files.download", want: content(files+"/%d/download", project, file)},
		{name: "secure_files.delete", want: nothing, check: func(w *world) { assert.Len(w.t, w.all(files, w.Project), 1) }},
		{name: "secure_files.get: missing", want: refusal(http.StatusNotFound, "404")},
	}
}

// uploaded is the content that all clients upload. It has all byte values, so that a text mode
// would be detected.
var uploaded = func() []byte {
	var b []byte
	for i := range 1000 {
		b = append(b, byte(i))
	}
	return b
}()

func approvalRows() []row {
	return []row{
		{name: "approval_settings.get_group", want: get("/groups/acme/merge_request_approval_setting")},
		{name: "approval_settings.update_group", want: get("/groups/acme/merge_request_approval_setting"), check: func(w *world) {
			setting := w.get("/groups/acme/merge_request_approval_setting").(map[string]any)["allow_author_approval"]
			assert.Equal(w.t, false, setting.(map[string]any)["value"])
		}},
		{name: "approval_settings.get_project", want: get("/projects/%d/merge_request_approval_setting", project)},
		{name: "approval_settings.update_project", want: get("/projects/%d/merge_request_approval_setting", project), check: func(w *world) {
			setting := w.get("/projects/%d/merge_request_approval_setting", w.Project).(map[string]any)["retain_approvals_on_push"]
			assert.Equal(w.t, true, setting.(map[string]any)["value"])
		}},
	}
}

func namespaceRows() []row {
	return []row{
		{name: "namespaces.list", want: all("/namespaces")},
		{name: "namespaces.list: only top level", want: all("/namespaces?top_level_only=true&owned_only=true")},
		{name: "namespaces.get", want: get("/namespaces/acme%%2Fplatform")},
		{name: "namespaces.exists", want: get("/namespaces/acme/exists")},
		{name: "namespaces.exists: below a group", want: get("/namespaces/platform/exists?parent_id=%d", func(w *world) any { return w.Group })},
	}
}

func auditRows() []row {
	var list []row
	for _, of := range []struct {
		name, path string
		event      func(w *world) any
	}{
		{"instance", "/audit_events", func(w *world) any { return w.Event }},
		{"group", "/groups/acme/audit_events", func(w *world) any { return w.GroupEvent }},
		{"project", "/projects/acme%%2Fplatform%%2Fgateway/audit_events", func(w *world) any { return w.ProjectEvent }},
	} {
		list = append(list,
			row{name: "audit_events.list_" + of.name, want: all(of.path)},
			row{name: "audit_events.list_" + of.name + ": keyset", want: all(of.path)},
			row{name: "audit_events.list_" + of.name + ": keyset without sort", want: all(of.path)},
			row{name: "audit_events.get_" + of.name, want: get(of.path+"/%d", of.event)})
	}
	return append(list,
		row{name: "audit_events.list_instance: of users", want: all("/audit_events?entity_type=User"),
			without: map[string]string{"go": "has no field for entity_type"}},
		row{name: "audit_events.list_instance: since", want: all("/audit_events?created_after=2025-06-01T00:00:00Z")},
		row{name: "audit_events.list_instance: outsider", want: refusal(http.StatusForbidden, "403 Forbidden")},
		row{name: "audit_events.get_instance: missing", want: refusal(http.StatusNotFound, "404")})
}

func issueRows() []row {
	const at = "/projects/%d/issues/%d"
	stats := get(at+"/time_stats", project, issue)
	about := func(subscribed bool) func(w *world) any {
		return func(w *world) any {
			return map[string]any{"id": w.issue.ID, "iid": w.Issue, "project_id": w.Project, "title": "Grüße <&> \"quoted\"",
				"labels": []string{"bug"}, "subscribed": subscribed}
		}
	}
	estimate := func(name string, seconds int64) func(w *world) {
		return func(w *world) { assert.Equal(w.t, seconds, w.issue.Get("time_stats."+name)) }
	}
	return []row{
		{name: "issues.list", want: all("/issues?scope=all")},
		{name: "issues.list: filtered", want: all("/issues?scope=all&confidential=true&labels=security&state=opened&not[author_username]=maya.lindqvist&order_by=title&sort=asc")},
		{name: "issues.list: by numbers", want: all("/issues?scope=all&iids[]=1&iids[]=2")},
		{name: "issues.list: nobody's", want: all("/issues?scope=all&assignee_id=None")},
		{name: "issues.list: two who exclude each other", want: refusal(http.StatusBadRequest, "mutually exclusive")},
		{name: "issues.list: bad token", want: refusal(http.StatusUnauthorized, "401 Unauthorized")},
		{name: "issues.list_group", want: all("/groups/acme/issues?with_labels_details=true")},
		{name: "issues.list_group: page", want: get("/groups/acme/issues?page=2&per_page=7")},
		{name: "issues.list_group: two pages", want: get("/groups/acme/issues?per_page=14")},
		{name: "issues.list_group: figures", want: func(w *world) any {
			total := len(w.all("/groups/acme/issues").([]any))
			return map[string]any{"page": 2, "prev": 1, "next": 3, "per_page": 7, "total": total, "pages": (total + 6) / 7}
		}},
		{name: "issues.subscribe", part: true, want: about(true)},
		{name: "issues.subscribe: again", want: unchanged},
		{name: "issues.unsubscribe", part: true, want: about(false)},
		{name: "issues.unsubscribe: again", want: unchanged},
		{name: "issues.create_todo", part: true, silent: "python", want: func(w *world) any {
			return map[string]any{"action_name": "marked", "target_type": "Issue", "state": "pending",
				"target": map[string]any{"iid": w.Issue, "title": w.issue.Get("title")}}
		}},
		{name: "issues.create_todo: again", want: unchanged},
		{name: "issues.set_time_estimate", want: stats, check: estimate("time_estimate", 12600)},
		{name: "issues.set_time_estimate: no duration", want: refusal(http.StatusBadRequest, "must have a valid format")},
		{name: "issues.add_spent_time", want: stats, check: estimate("total_time_spent", 3600)},
		{name: "issues.time_stats", want: stats},
		{name: "issues.reset_time_estimate", want: stats, check: estimate("time_estimate", 0)},
		{name: "issues.reset_spent_time", want: stats, check: estimate("total_time_spent", 0)},
		{name: "issues.related_merge_requests", want: all(at+"/related_merge_requests", project, issue)},
		{name: "issues.promote_by_note", part: true, want: func(w *world) any {
			return map[string]any{"noteable_type": "Issue", "noteable_iid": w.Quiet, "system": false}
		}},
		{name: "issues.time_stats: private project", want: refusal(http.StatusNotFound, "404 Project Not Found")},
	}
}

func mergeRequestRows() []row {
	const list, at = "/projects/%d/merge_requests", "/projects/%d/merge_requests/%d"
	about := func(subscribed bool) func(w *world) any {
		return func(w *world) any {
			return map[string]any{"id": w.mr.ID, "iid": w.Merge, "source_branch": "topic/ünïcode", "subscribed": subscribed}
		}
	}
	return []row{
		{name: "merge_requests.list", want: all("/merge_requests?scope=all&state=merged&order_by=updated_at&sort=asc")},
		{name: "merge_requests.list: drafts", want: all("/merge_requests?scope=all&wip=no&with_labels_details=true")},
		{name: "merge_requests.list_project", want: all(list, project)},
		{name: "merge_requests.list_project: by numbers", want: all(list+"?iids[]=1&iids[]=2", project)},
		{name: "merge_requests.list_project: moved", want: all(list, func(w *world) any { return w.srv.AddProject("acme/mobile").ID })},
		{name: "merge_requests.create_block", want: func(w *world) any { return w.all(at+"/blocks", w.Project, w.Merge).([]any)[0] }},
		{name: "merge_requests.create_block: again", want: refusal(http.StatusConflict, "already exists")},
		{name: "merge_requests.list_blocks", want: all(at+"/blocks", project, merge)},
		{name: "merge_requests.delete_block", want: nothing,
			check: func(w *world) { assert.Empty(w.t, w.all(at+"/blocks", w.Project, w.Merge)) }},
		{name: "merge_requests.changes", want: get(at+"/changes?access_raw_diffs=true", project, merge)},
		{name: "merge_requests.subscribe", part: true, want: about(true)},
		{name: "merge_requests.subscribe: again", want: unchanged},
		{name: "merge_requests.unsubscribe", part: true, want: about(false)},
		{name: "merge_requests.unsubscribe: again", want: unchanged},
		{name: "merge_requests.create_todo", part: true, silent: "python", want: func(w *world) any {
			return map[string]any{"action_name": "marked", "target_type": "MergeRequest", "state": "pending",
				"target": map[string]any{"iid": w.Merge, "source_branch": "topic/ünïcode"}}
		}},
		{name: "merge_requests.create_todo: again", want: unchanged},
		{name: "merge_requests.list_versions", want: all(at+"/versions", project, merge)},
		{name: "merge_requests.get_version", want: get(at+"/versions/%d", project, merge, func(w *world) any { return w.Version })},
		{name: "merge_requests.subscribe: missing", want: refusal(http.StatusNotFound, "404")},
	}
}

func userRows() []row {
	return []row{
		{name: "users.list", want: all("/users")},
		{name: "users.list: keyset", want: all("/users?order_by=id&sort=asc")},
		{name: "users.list: keyset without sort", want: all("/users?order_by=id&sort=desc")},
		{name: "users.list: filtered", want: all("/users?active=true&without_project_bots=true&search=crowd1")},
		{name: "users.list: a name", want: all("/users?username=Tomas.Berg")},
		{name: "users.get", want: get("/users/%d", user)},
		{name: "users.get: missing", want: refusal(http.StatusNotFound, "404 User Not Found")},
		{name: "users.current", want: get("/user")},
		{name: "users.current: for another", want: get("/user?sudo=%d", user)},
	}
}

func emailRows() []row {
	const own, theirs = "/user/emails", "/users/%d/emails"
	first := func(path string, args ...func(*world) any) func(*world) any {
		return func(w *world) any { list := w.all(path, values(w, args)...).([]any); return list[len(list)-1] }
	}
	return []row{
		{name: "emails.list_current", want: all(own)},
		{name: "emails.list_user", want: all(theirs, user)},
		{name: "emails.get_current", want: get(own+"/%d", func(w *world) any { return w.Address })},
		{name: "emails.add_current", want: first(own)},
		{name: "emails.add_current: taken", want: refusal(http.StatusBadRequest, "has already been taken")},
		{name: "emails.add_user", want: first(theirs, user)},
		{name: "emails.add_user: outsider", want: refusal(http.StatusForbidden, "403 Forbidden")},
		{name: "emails.delete_current", want: nothing, check: func(w *world) {
			assert.NotContains(w.t, fmt.Sprint(w.all(own)), "root@second.example.com")
		}},
		{name: "emails.delete_user", want: nothing, check: func(w *world) {
			assert.NotContains(w.t, fmt.Sprint(w.all(theirs, w.User)), "tomas@second.example.com")
		}},
		{name: "emails.get_current: missing", want: refusal(http.StatusNotFound, "404")},
	}
}

func runnerRows() []row {
	const at = "/runners/%d"
	return []row{
		{name: "runners.list", want: func(w *world) any { return w.pages(w.URL, w.OwnerToken, "/runners") }},
		{name: "runners.list_all", want: all("/runners/all")},
		{name: "runners.list_all: filtered", want: all("/runners/all?type=project_type&paused=false&tag_list=go,linux")},
		{name: "runners.list_all: outsider", want: refusal(http.StatusForbidden, "403 Forbidden")},
		{name: "runners.get", want: get(at, local)},
		{name: "runners.update", want: get(at, local), check: func(w *world) {
			assert.Equal(w.t, "renamed", w.runner.Get("description"))
			assert.Equal(w.t, int64(3600), w.runner.Get("maximum_timeout"))
			assert.Equal(w.t, []string{"go", "new"}, w.runner.Get("tag_list"))
		}},
		{name: "runners.pause", want: get(at, local), check: func(w *world) { assert.Equal(w.t, true, w.runner.Get("paused")) }},
		{name: "runners.list_jobs", want: all(at+"/jobs?status=running&order_by=id&sort=asc", local)},
		{name: "runners.list_managers", want: all(at+"/managers", local)},
		{name: "runners.list_project", want: all("/projects/%d/runners", project)},
		{name: "runners.get: missing", want: refusal(http.StatusNotFound, "404")},
	}
}

func settingsRows() []row {
	setting := func(name string) func(w *world) any {
		return func(w *world) any { return w.get("/application/settings").(map[string]any)[name] }
	}
	return []row{
		{name: "settings.get", want: get("/application/settings")},
		{name: "settings.update", want: get("/application/settings"), check: func(w *world) {
			assert.Equal(w.t, "Bye", setting("after_sign_up_text")(w))
			assert.Equal(w.t, true, setting("signup_enabled")(w))
			assert.EqualValues(w.t, 77, setting("terminal_max_session_time")(w))
			assert.Equal(w.t, []any{"a.example.com", "b.example.com"}, setting("domain_allowlist")(w))
			assert.Equal(w.t, "compress", setting("sidekiq_job_limiter_mode")(w))
		}},
		{name: "settings.update: a companion is missing", want: refusal(http.StatusBadRequest, "_api_key is missing")},
		{name: "settings.get: outsider", want: refusal(http.StatusForbidden, "403 Forbidden")},
	}
}

func integrationRows() []row {
	const at = "/groups/acme/integrations"
	return []row{
		{name: "integrations.set: without its address", want: refusal(http.StatusBadRequest, "webhook is missing")},
		{name: "integrations.set", want: get(at + "/webex-teams"), check: func(w *world) {
			assert.Equal(w.t, "https://chat.example.com/hook", w.group.Integration("webex-teams")["webhook"])
		}},
		{name: "integrations.get", want: get(at + "/webex-teams")},
		{name: "integrations.list", want: all(at)},
		{name: "integrations.disable", want: nothing, check: func(w *world) { assert.Nil(w.t, w.group.Integration("webex-teams")) }},
	}
}
