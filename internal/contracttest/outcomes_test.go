package contracttest_test

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/forgetest"
	"github.com/forge-sdk/forge-go/internal/catalogue"
	"github.com/forge-sdk/forge-go/internal/contracttest/cases"
)

// write is how a write is sent, if not with the objects of the server and the values of the
// catalogue, and the call that shows whether it took effect.
type write struct {
	send func(w *outcomeWorld) error
	// took reports whether the call that the guide names shows the effect; nil if there is none.
	took func(w *outcomeWorld) (bool, error)
}

// writeCases returns the methods of all writes of the catalogue.
func writeCases(t *testing.T) (all []*cases.Case) {
	t.Helper()
	for _, c := range cases.All(t) {
		again := len(all) > 0 && all[len(all)-1].Typed == c.Typed // for another kind of integration
		if c.Endpoint.Method != http.MethodGet && !again {
			all = append(all, c)
		}
	}
	return all
}

// TestOutcomesOfWrites loses the response of each write after it took effect. The error leaves the
// outcome open, the call that docs/errors-and-retries.md names shows the effect, and a second call
// ends as its table says. The table is generated, and has all writes.
func TestOutcomesOfWrites(t *testing.T) {
	rows := map[string][]string{}
	for _, row := range tableRows(t, "docs/errors-and-retries.md", "### Which call shows whether a write took effect") {
		require.Len(t, row, 5)
		rows[strings.Trim(row[1], "`")] = row
	}
	for _, c := range writeCases(t) {
		t.Run(c.Typed, func(t *testing.T) {
			route := c.Endpoint.Method + " " + c.Endpoint.Path
			require.Contains(t, rows, route)
			checkOutcome(t, c, route, rows[route][4])
		})
	}
}

// sends reports whether the server has the objects of the write.
func (w *outcomeWorld) sends(c *cases.Case) bool {
	return writes[c.Endpoint.ID].send != nil || !slices.Contains(catalogue.Arguments(c.Endpoint.Path, w.objects), "")
}

func (w *outcomeWorld) send(c *cases.Case) error {
	if row := writes[c.Endpoint.ID]; row.send != nil {
		return row.send(w)
	}
	in, ok := c.On(w.t, w.Client, w.objects)
	require.True(w.t, ok, c.Name)
	return cases.Consume(c.Method.Call(in))
}

// explicit are the calls that need more than the catalogue's values.
var explicit = map[string]func(*outcomeWorld) error{
	"registry_native.delete_manifest": func(w *outcomeWorld) error { // the documents omit the vendor
		const kind = "application/vnd.example.distribution.manifest.v2+json"
		return w.RegistryNative.DeleteManifest(w.ctx(), outcomeImage, "v0001", &forge.DeleteManifestOptions{ManifestType: kind})
	},
	"registry_native.get_token": func(w *outcomeWorld) error {
		return failure(w.RegistryNative.GetToken(w.ctx(), &forge.GetRegistryTokenOptions{Scopes: []forge.RegistryScope{forge.RegistryScopeCatalog}}))
	},
	"secure_files.download": func(w *outcomeWorld) error {
		d, err := w.SecureFiles.Download(w.ctx(), w.project, &forge.SecureFile{ID: w.file})
		if err == nil {
			err = d.Close()
		}
		return err
	},
	"repositories.compare": func(w *outcomeWorld) error {
		return failure(w.Repositories.Compare(w.ctx(), w.project, &forge.CompareOptions{From: "v1.0.0", To: "main"}))
	},
	"repositories.merge_base": func(w *outcomeWorld) error {
		return failure(w.Repositories.GetMergeBase(w.ctx(), w.project, &forge.GetMergeBaseOptions{Refs: []string{"v1.0.0", "main"}}))
	},
}

// Every method succeeds in GitLab's words and in those of the documents.
func TestEveryMethodInBothWords(t *testing.T) {
	for words, options := range map[string][]forgetest.Option{"GitLab": nil, "neutral": {forgetest.WithNeutralNames()}} {
		called := map[string]bool{}
		for _, c := range cases.All(t) {
			if called[c.Endpoint.ID] { // another kind of integration
				continue
			}
			w := newOutcomeWorld(t, forgetest.Public, options...)
			send := explicit[c.Endpoint.ID]
			if send == nil {
				require.True(t, w.sends(c), c.Name)
				send = func(w *outcomeWorld) error { return w.send(c) }
			}
			if err := send(w); !errors.Is(err, forge.ErrNotModified) { // of a subscription that there is not
				require.NoError(t, err, "%s, %s", words, c.Name)
			}
			called[c.Endpoint.ID] = true
		}
		assert.Len(t, called, 94)
	}
}

func checkOutcome(t *testing.T, c *cases.Case, route, again string) {
	t.Helper()
	w := newOutcomeWorld(t, forgetest.Public)
	if !w.sends(c) {
		t.Skip("the server of newOutcomeWorld lacks its object")
	}
	row := writes[c.Endpoint.ID]
	took := func(want bool) {
		if row.took != nil {
			have, err := row.took(w)
			require.NoError(t, err)
			require.Equal(t, want, have, "the call shows it")
		}
	}
	took(false)
	w.srv.Fail(route, forgetest.DropResponse().Times(1))
	var failed *forge.Error
	require.ErrorAs(t, w.send(c), &failed)
	require.True(t, failed.MaybeApplied, failed)
	w.srv.FinishBackgroundJobs()
	took(true)
	err := w.send(c)
	if again == "takes effect again" {
		w.srv.AssertAppliedCount(t, route, 2)
	}
	want := map[string]error{
		"the state stays the same": nil, "takes effect again": nil, "`forge.ErrNotModified`": forge.ErrNotModified, "`forge.ErrBadRequest`": forge.ErrBadRequest,
		"`forge.ErrConflict`": forge.ErrConflict, "`forge.ErrNotFound`": forge.ErrNotFound, "`forge.ErrRateLimited`": forge.ErrRateLimited,
	}
	sentinel, known := want[again]
	assert.True(t, known && errors.Is(err, sentinel), "a second call: %v", err)
}

// outcomeWorld is a server with one object of each kind.
type outcomeWorld struct {
	*forge.Client
	t                        *testing.T
	srv                      *forgetest.Server
	acme                     *forgetest.Group
	app                      *forgetest.Project
	project, group           forge.Ref
	repository, file, runner int64
	user, own, other         int64             // a user, an address of the client's user and one of user
	objects                  map[string]string // by collection and placeholder, or by placeholder
}

const outcomeImage = "acme/app/web"

func newOutcomeWorld(t *testing.T, visibility forgetest.Visibility, options ...forgetest.Option) *outcomeWorld {
	t.Helper()
	srv := forgetest.New(t, options...)
	group, app := srv.AddGroup("acme", visibility), srv.AddProject("acme/app", visibility)
	app.AddIssue(func(issue *forgetest.Document) {
		issue.Set("time_stats.time_estimate", 2*3600).Set("time_stats.total_time_spent", 2*3600)
	})
	merges := app.AddMergeRequests(3, nil)
	maya := srv.AddUser("maya")
	app.AddFiles(map[string]string{"README.md": "An app\n"})
	app.AddTag("v1.0.0", "main")
	app.AddCommit(forgetest.Change{Message: "Add a door\n\nChangelog: added", Files: map[string]string{"door.txt": "open\n"}})
	app.AddResourceGroup("production")
	group.AddPlaceholder(forgetest.Placeholder{SourceHost: "old.example.com", ImportType: "github", SourceID: "7", SourceName: "Maya", SourceUser: "maya"})
	w := &outcomeWorld{
		Client: srv.Client(forge.WithRetry(forge.RetryPolicy{MaxAttempts: 1})), t: t, srv: srv, acme: group, app: app, user: maya.ID,
		project: forge.Path("acme/app"), group: forge.Path("acme"),
		repository: app.AddRegistryRepository("web").AddTags(2, nil).ID,
		runner:     app.AddRunner(nil).ID,
	}
	id := func(d *forgetest.Document) int64 {
		number, is := d.Get("id").(int64)
		require.True(t, is)
		return number
	}
	w.file, w.own, w.other = id(app.AddSecureFile("old.p12", []byte("old"), nil)), id(srv.Root().AddEmail("spare@example.com")), id(maya.AddEmail("maya.spare@example.com"))
	merges[0].Push(forgetest.Change{Message: "Add a window", Files: map[string]string{"window.txt": "open\n"}})
	versions, err := forge.Collect(w.MergeRequests.ListVersions(t.Context(), w.project, 1))
	require.NoError(t, err)
	_ = w.Integrations.Set(t.Context(), w.group, &forge.EmailsOnPushOptions{Recipients: "ops@example.com"}) // an old release has none
	w.objects = map[string]string{
		"groups :id": "acme", "projects :id": "acme/app", ":project_id": "acme/app", "namespaces :id": "acme", ":namespace": "acme",
		":issue_iid": "1", ":merge_request_iid": "1", ":tag_name": "v0001", ":key": "production", ":slug": "emails-on-push",
		":sha": app.AddGeneratedBlob("blob.bin", 10), ":image_path": outcomeImage, ":tag": "v0001",
	}
	for name, number := range map[string]int64{
		":version_id": versions[0].ID, ":repository_id": w.repository, "repositories :id": w.repository, "users :id": w.user, "runners :id": w.runner, ":runner_id": w.runner,
		"secure_files :id": w.file, ":email_id": w.own, "users :email_id": w.other, ":block_id": merges[0].AddBlocker(merges[1]), "audit_events :id": id(srv.AddAuditEvent(nil)),
		"groups :audit_event_id": id(group.AddAuditEvent(nil)), "projects :audit_event_id": id(app.AddAuditEvent(nil)),
	} {
		w.objects[name] = strconv.FormatInt(number, 10)
	}
	return w
}

func (w *outcomeWorld) ctx() context.Context { return w.t.Context() }

// failure returns the error of a call whose result does not matter.
func failure[T any](_ T, err error) error { return err }

// gone reports whether the error of a call is a 404, and passes on other errors.
func gone[T any](_ T, err error) (bool, error) {
	if errors.Is(err, forge.ErrNotFound) {
		return true, nil
	}
	return false, err
}

// found returns a function that looks at the result of a call.
func found[T any](result T, err error) func(is func(T) bool) (bool, error) {
	return func(is func(T) bool) (bool, error) { return err == nil && is(result), err }
}

// items returns a function that looks for an item of a list.
func items[T any](list iter.Seq2[*T, error]) func(is func(*T) bool) (bool, error) {
	all, err := forge.Collect(list)
	return func(is func(*T) bool) (bool, error) { return slices.ContainsFunc(all, is), err }
}

func (w *outcomeWorld) stats(is func(*forge.TimeStats) bool) (bool, error) {
	return found(w.Issues.GetTimeStats(w.ctx(), w.project, 1))(is)
}

// blocks reports whether merge request 1 has a number of dependencies.
func (w *outcomeWorld) blocks(n int) (bool, error) {
	list, err := forge.Collect(w.MergeRequests.ListBlocks(w.ctx(), w.project, 1))
	return len(list) == n, err
}

// tagGone reports whether the tag no longer exists.
func tagGone(w *outcomeWorld) (bool, error) {
	return gone(w.Registry.GetTag(w.ctx(), w.project, w.repository, "v0001"))
}

// changelog reports whether the changelog has the new section.
func changelog(w *outcomeWorld) (bool, error) {
	for entry, err := range w.Repositories.ListTree(w.ctx(), w.project, nil) {
		if err != nil || entry.Path == "CHANGELOG.md" {
			return found(w.Repositories.GetBlob(w.ctx(), w.project, entry.ID))(func(b *forge.Blob) bool { return bytes.Contains(b.Content, []byte("## 1.1.0 ")) })
		}
	}
	return false, nil
}

var (
	tagsAll     = &forge.DeleteTagsOptions{NameRegexDelete: ".*"}
	welcome     = &forge.UpdateSettingsOptions{AfterSignUpText: new("Welcome")}
	placeholder = &forge.PlaceholderReassignment{SourceHost: "old.example.com", ImportType: "github", SourceUserIdentifier: "7", SourceUserName: "Maya", SourceUsername: "maya", Username: "maya"}
)

// writes are the writes with parameters, or with a call that shows their effect.
var writes = map[string]write{
	"registry.delete_repository": {took: func(w *outcomeWorld) (bool, error) {
		repository, err := w.Registry.Get(w.ctx(), w.repository, nil)
		if err == nil {
			return repository.Status != "", nil
		}
		return gone(repository, err)
	}},
	"registry.delete_tag":                  {took: tagGone},
	"registry.delete_tags_bulk":            {send: func(w *outcomeWorld) error { return w.Registry.DeleteTags(w.ctx(), w.project, w.repository, tagsAll) }, took: tagGone},
	"registry_native.delete_manifest":      {took: tagGone},
	"registry_native.delete_tag_reference": {took: tagGone},
	"resource_groups.update": {took: func(w *outcomeWorld) (bool, error) {
		return found(w.ResourceGroups.Get(w.ctx(), w.project, "production"))(func(g *forge.ResourceGroup) bool { return g.ProcessMode == forge.ProcessModeOldestFirst })
	}},
	"repositories.add_changelog": {took: changelog},
	"secure_files.create": {took: func(w *outcomeWorld) (bool, error) {
		return items(w.SecureFiles.List(w.ctx(), w.project))(func(f *forge.SecureFile) bool { return f.Name == "new.p12" })
	}},
	"secure_files.delete": {took: func(w *outcomeWorld) (bool, error) { return gone(w.SecureFiles.Get(w.ctx(), w.project, w.file)) }},
	"approval_settings.update_group": {took: func(w *outcomeWorld) (bool, error) {
		return found(w.ApprovalSettings.GetForGroup(w.ctx(), w.group))(func(s *forge.ApprovalSettings) bool { return !s.AllowAuthorApproval.Value })
	}},
	"approval_settings.update_project": {took: func(w *outcomeWorld) (bool, error) {
		return found(w.ApprovalSettings.GetForProject(w.ctx(), w.project))(func(s *forge.ApprovalSettings) bool { return !s.AllowAuthorApproval.Value })
	}},
	"issues.promote_by_note": {took: func(w *outcomeWorld) (bool, error) {
		return items(w.Issues.ListForGroup(w.ctx(), w.group, &forge.ListIssuesOptions{IIDs: []int64{1}}))(func(i *forge.Issue) bool { return i.State == forge.IssueStateClosed })
	}},
	"issues.set_time_estimate": {took: func(w *outcomeWorld) (bool, error) {
		return w.stats(func(s *forge.TimeStats) bool { return s.TimeEstimate == 3600 })
	}},
	"issues.reset_time_estimate": {took: func(w *outcomeWorld) (bool, error) {
		return w.stats(func(s *forge.TimeStats) bool { return s.TimeEstimate == 0 })
	}},
	"issues.add_spent_time": {took: func(w *outcomeWorld) (bool, error) {
		return w.stats(func(s *forge.TimeStats) bool { return s.TotalTimeSpent == 3*3600 })
	}},
	"issues.reset_spent_time": {took: func(w *outcomeWorld) (bool, error) {
		return w.stats(func(s *forge.TimeStats) bool { return s.TotalTimeSpent == 0 })
	}},
	"merge_requests.create_block": {took: func(w *outcomeWorld) (bool, error) { return w.blocks(2) }},
	"merge_requests.delete_block": {took: func(w *outcomeWorld) (bool, error) { return w.blocks(0) }},
	"emails.add_current": {took: func(w *outcomeWorld) (bool, error) {
		return items(w.Emails.List(w.ctx()))(func(e *forge.Email) bool { return e.Email == "new@example.com" })
	}},
	"emails.add_user": {took: func(w *outcomeWorld) (bool, error) {
		return items(w.Emails.ListForUser(w.ctx(), w.user))(func(e *forge.Email) bool { return e.Email == "more@example.com" })
	}},
	"emails.delete_current": {took: func(w *outcomeWorld) (bool, error) { return gone(w.Emails.Get(w.ctx(), w.own)) }},
	"emails.delete_user": {took: func(w *outcomeWorld) (bool, error) {
		has, err := items(w.Emails.ListForUser(w.ctx(), w.user))(func(e *forge.Email) bool { return e.ID == w.other })
		return !has, err
	}},
	"runners.update": {took: func(w *outcomeWorld) (bool, error) {
		return found(w.Runners.Get(w.ctx(), w.runner, nil))(func(r *forge.Runner) bool { return r.Description == "moved" })
	}},
	"runners.pause": {took: func(w *outcomeWorld) (bool, error) {
		return found(w.Runners.Get(w.ctx(), w.runner, nil))(func(r *forge.Runner) bool { return r.Paused })
	}},
	"placeholder_reassignments.submit": {send: func(w *outcomeWorld) error {
		var file bytes.Buffer
		require.NoError(w.t, w.PlaceholderReassignments.WriteCSV(&file, forge.FakeList([]*forge.PlaceholderReassignment{placeholder})))
		return failure(w.PlaceholderReassignments.Upload(w.ctx(), w.group, forge.FileBytes(file.Bytes()).Named("users.csv")))
	}, took: func(w *outcomeWorld) (bool, error) {
		rows, err := forge.Collect(w.PlaceholderReassignments.List(w.ctx(), w.group))
		return len(rows) == 0, err
	}},
	"settings.update": {send: func(w *outcomeWorld) error { return failure(w.Settings.Apply(w.ctx(), welcome.Diff())) }, took: func(w *outcomeWorld) (bool, error) {
		return found(w.Settings.Verify(w.ctx(), welcome.Diff()))(func(r *forge.SettingsReport) bool { return len(r.NotApplied) == 0 })
	}},
	"integrations.set": {send: func(w *outcomeWorld) error {
		return w.Integrations.Set(w.ctx(), w.group, &forge.CustomIssueTrackerOptions{
			NewIssueURL: "https://t.example.com/new", IssuesURL: "https://t.example.com/:id", ProjectURL: "https://t.example.com",
		})
	}, took: func(w *outcomeWorld) (bool, error) {
		missing, err := gone(w.Integrations.Get(w.ctx(), w.group, forge.IntegrationCustomIssueTracker))
		return !missing, err
	}},
	"integrations.disable": {took: func(w *outcomeWorld) (bool, error) {
		list, err := forge.Collect(w.Integrations.List(w.ctx(), w.group))
		return len(list) == 0, err
	}},
}
