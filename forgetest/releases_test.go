package forgetest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// releaseDifferences is what one program sees of servers of 16.11, 18.2 and 19.5.
var releaseDifferences = []struct {
	what, call string
	see        func(t *testing.T, r reply) any
	want       [3]any
}{
	{"integrations of a group, since 17.9", "GET /groups/group/integrations", status, [3]any{404, 200, 200}},
	{"a missing path of the tree, an error since 17.7", "GET /projects/1/repository/tree?path=nowhere", status, [3]any{200, 404, 404}},
	{"merge_user_id, since 17.0", "GET /merge_requests?scope=all&merge_user_id=99", length, [3]any{2, 0, 0}},
	{"order_by=merged_at, since 17.2", "GET /merge_requests?scope=all&order_by=merged_at", status, [3]any{400, 200, 200}},
	{"order_by=merged_at of a project", "GET /projects/1/merge_requests?order_by=merged_at", status, [3]any{400, 400, 200}},
	{"order_by=priority of merge requests", "GET /merge_requests?scope=all&order_by=priority", status, [3]any{400, 400, 200}},
	{"draft, since 19.0", "GET /merge_requests?scope=all&draft=true", length, [3]any{2, 2, 1}},
	{"draft=yes", "GET /merge_requests?scope=all&draft=yes", status, [3]any{200, 200, 400}},
	{"merged_after", "GET /merge_requests?scope=all&merged_after=2026-01-01", length, [3]any{2, 2, 0}},
	{"merged_before", "GET /projects/1/merge_requests?merged_before=2026-01-01", length, [3]any{2, 2, 0}},
	{"assignee_username of merge requests", "GET /merge_requests?scope=all&assignee_username[]=jane", length, [3]any{2, 2, 1}},
	{"author.bot", "GET /merge_requests?scope=all", has("author", "bot"), [3]any{false, false, true}},
	{"author.public_email", "GET /issues?scope=all", has("author", "public_email"), [3]any{false, false, true}},
	{"start_date, since 19.1", "GET /issues?scope=all", has("start_date"), [3]any{false, false, true}},
	{"issue_type=ticket", "GET /issues?scope=all&issue_type=ticket", status, [3]any{400, 400, 200}},
	{"iteration_id=Current", "GET /issues?scope=all&iteration_id=Current", status, [3]any{400, 400, 200}},
	{"not[iteration_id]=None", "GET /issues?scope=all&not[iteration_id]=None", status, [3]any{400, 400, 200}},
	{"not[iids] of a group", "GET /groups/group/issues?not[iids][]=1", length, [3]any{2, 2, 1}},
	{"not[search] of a group, ignored since 19.5", "GET /groups/group/issues?not[search]=first", length, [3]any{1, 1, 2}},
	{"not[in] of a group, ignored since 19.5", "GET /groups/group/issues?not[in]=nonsense", status, [3]any{400, 400, 200}},
	{"not[my_reaction_emoji] of a group, ignored since 19.5", "GET /groups/group/issues?not[my_reaction_emoji]=rocket", length, [3]any{1, 1, 2}},
	{"internal of a note", "POST /projects/1/issues/1/notes?body=text&internal=true", has("internal"), [3]any{false, false, true}},
	{"a note of a command alone", "POST /projects/1/issues/2/notes?body=/promote", status, [3]any{201, 201, 202}},
	{"a note of blanks", "POST /projects/1/issues/2/notes?body=%20", status, [3]any{201, 201, 201}},
	{"an update of nothing", "PUT /projects/1/merge_request_approval_setting", status, [3]any{200, 200, 400}},
	{"created_at of runners", "GET /runners/all", has("created_at"), [3]any{false, false, true}},
	{"groups of a runner", "GET /runners/1", has("groups", "name"), [3]any{false, false, true}},
	{"version_prefix of a project's runners", "GET /projects/1/runners?version_prefix=99", length, [3]any{1, 1, 0}},
	{"scope=group_type of a project's runners", "GET /projects/1/runners?scope=group_type", status, [3]any{400, 400, 200}},
	{"include_projects", "GET /runners/1?include_projects=false", has("projects"), [3]any{true, true, false}},
	{"the managers of a runner have pages", "GET /runners/1/managers", header("X-Page"), [3]any{"1", "1", ""}},
	{"the jobs of a machine are counted", "GET /runners/1/jobs?system_id=s_1", header("X-Total"), [3]any{"1", "1", ""}},
	{"keyset pagination of jobs", "GET /runners/1/jobs?pagination=keyset&order_by=id", status, [3]any{405, 405, 200}},
	{"erased_at of jobs", "GET /runners/1/jobs", has("erased_at"), [3]any{false, false, true}},
	{"failure_reason of a job that failed", "GET /runners/1/jobs", has("failure_reason"), [3]any{false, false, true}},
	{"erased_at of upcoming jobs", "GET /projects/1/resource_groups/production/upcoming_jobs", has("erased_at"), [3]any{false, false, true}},
	{"public_email of users", "GET /users?public_email=none@example.com", length, [3]any{2, 2, 0}},
	{"bio_html", "GET /users/2", has("bio_html"), [3]any{false, false, true}},
	{"preferred_language", "GET /user", has("preferred_language"), [3]any{false, false, true}},
	{"the whole tree in one response", "GET /projects/1/repository/tree?recursive=true&pagination=none", status, [3]any{200, 400, 200}},
	{"ref_type of an archive", "GET /projects/1/repository/archive.tar?sha=main&ref_type=tags", status, [3]any{200, 200, 404}},
}

func status(_ *testing.T, r reply) any { return r.Status }

func length(t *testing.T, r reply) any { return len(r.array(t)) }

func header(name string) func(*testing.T, reply) any {
	return func(_ *testing.T, r reply) any { return r.Header.Get(name) }
}

// has reports whether the object, or the first of a list, has a field.
func has(path ...string) func(*testing.T, reply) any {
	return func(t *testing.T, r reply) any {
		var value any
		if r.Body[0] == '[' {
			value = r.array(t)[0]
		} else {
			value = r.object(t)
		}
		for _, name := range path {
			if list, many := value.([]any); many {
				value = list[0]
			}
			object, _ := value.(map[string]any)
			var found bool
			if value, found = object[name]; !found {
				return false
			}
		}
		return true
	}
}

// The same program sees, of three releases, the differences of the table and no others.
func TestReleaseDifferences(t *testing.T) {
	for i, number := range []string{"16.11", "18.2", "19.5"} {
		s := New(t, WithRelease(number))
		c := newCaller(t, s)
		app, jane := s.AddProject("group/app"), s.AddUser("jane")
		app.AddFiles(map[string]string{"README.md": "An app\n"})
		app.AddIssue(func(d *Document) { d.Set("title", "First") }).AddAwardEmoji(s.Root(), "rocket")
		app.AddIssue(nil)
		app.AddMergeRequest(func(d *Document) { d.Set("draft", true).Set("assignees", []*User{jane}) })
		app.AddMergeRequest(nil)
		runner := s.AddGroup("group").AddRunner(nil)
		runner.AddManager("s_1", nil)
		runner.AddJob(app, "s_1", func(d *Document) { d.Set("status", "failed").Set("failure_reason", "script_failure") })
		app.AddResourceGroup("production").AddUpcomingJob(nil)
		for _, d := range releaseDifferences {
			method, path, _ := strings.Cut(d.call, " ")
			assert.Equal(t, d.want[i], d.see(t, c.send(method, path, "")), "%s at %s: %s", d.what, number, d.call)
		}
	}
	for number, want := range map[string]int{"18.11": 1, "19.0": 0} { // the filter draft is of 19.0
		s := New(t, WithRelease(number))
		s.AddProject("group/app").AddMergeRequest(nil)
		assert.Equal(t, want, length(t, newCaller(t, s).send("GET", "/merge_requests?scope=all&draft=true", "")), number)
	}
}
