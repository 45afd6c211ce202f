package contracttest_test

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/forgetest"
)

// platform is a server of the truth table.
type platform struct {
	tier     forgetest.Tier
	offering forgetest.Offering
	release  string // "" for the newest
	private  bool   // the group and its project are not public
}

// caller is a credential of the truth table, and what forgetest knows of it.
type caller struct {
	name       string
	credential forge.Option // nil for none
	user       string       // for the container registry
	token      string
	role       forgetest.Role // in the group and its project
	admin      bool
	auditor    bool
	wrong      bool // no server knows the credential
	readOnly   bool // the scope of the token is read_api
	job        bool
	otherJob   bool // of a job of another project
}

// hintWorld is a server with one object of each kind, and the callers.
type hintWorld struct {
	platform
	srv     *forgetest.Server
	callers []caller
	objects map[string]string // by template and placeholder, or by placeholder
}

func newHintWorld(t *testing.T, p platform) *hintWorld {
	t.Helper()
	options := []forgetest.Option{forgetest.WithTier(p.tier), forgetest.WithOffering(p.offering)}
	if p.release != "" {
		options = append(options, forgetest.WithRelease(p.release))
	}
	w := &hintWorld{platform: p, srv: forgetest.New(t, options...)}
	now := time.Date(2026, 3, 4, 0, 0, 0, 0, time.UTC)
	w.srv.SetClock(func() time.Time { now = now.Add(13 * time.Second); return now }) // below the documented rate limits
	visibility := forgetest.Public
	if p.private {
		visibility = forgetest.Private
	}
	group, app := w.srv.AddGroup("acme", visibility), w.srv.AddProject("acme/app", visibility)
	other := w.srv.AddProject("other/app")
	w.addObjects(t, group, app)
	w.addCallers(group, app, other)
	return w
}

func (w *hintWorld) addObjects(t *testing.T, group *forgetest.Group, app *forgetest.Project) {
	t.Helper()
	app.AddIssues(1, nil)
	app.AddFiles(map[string]string{"README.md": "An app\n"})
	merges := app.AddMergeRequests(3, nil)
	merges[0].Push(forgetest.Change{Message: "Add a door", Files: map[string]string{"door.txt": "open\n"}})
	app.AddTag("v1.0.0", "main")
	app.AddResourceGroup("production")
	maya := w.srv.AddUser("maya")
	number := func(id any) string {
		n, is := id.(int64)
		require.True(t, is)
		return strconv.FormatInt(n, 10)
	}
	w.objects = map[string]string{
		"/groups :id": "acme", "/projects :id": "acme/app", ":project_id": "acme/app", "/namespaces :id": "acme", ":namespace": "acme",
		":issue_iid": "1", ":merge_request_iid": "1", ":block_id": number(merges[0].AddBlocker(merges[1])), "blocker": number(merges[2].ID),
		":version_id": number(firstVersion(t, w.srv)), ":repository_id": number(app.AddRegistryRepository("web").AddTags(2, nil).ID), ":tag_name": "v0001", ":sha": app.AddGeneratedBlob("blob.bin", 10),
		":key": "production", ":slug": "emails-on-push", "/users :id": number(maya.ID), "/runners :id": number(app.AddRunner(nil).ID),
		"/secure_files :id":         number(app.AddSecureFile("old.p12", []byte("old"), nil).Get("id")),
		"/user :email_id":           number(w.srv.Root().AddEmail("spare@example.com").Get("id")),
		"/users :email_id":          number(maya.AddEmail("maya.spare@example.com").Get("id")),
		"/audit_events :id":         number(w.srv.AddAuditEvent(nil).Get("id")),
		"/groups :audit_event_id":   number(group.AddAuditEvent(nil).Get("id")),
		"/projects :audit_event_id": number(app.AddAuditEvent(nil).Get("id")),
	}
	w.objects[":runner_id"], w.objects["/registry :id"] = w.objects["/runners :id"], w.objects[":repository_id"]
	if w.release == "" {
		require.NoError(t, w.srv.Client().Integrations.Set(t.Context(), forge.Path("acme"), &forge.EmailsOnPushOptions{Recipients: "ops@example.com"}))
	}
	group.AddPlaceholder(forgetest.Placeholder{SourceHost: "old.example.com", ImportType: "github", SourceID: "7", SourceName: "Maya", SourceUser: "maya"})
}

// firstVersion returns the id of a diff version of merge request 1.
func firstVersion(t *testing.T, srv *forgetest.Server) int64 {
	t.Helper()
	versions, err := forge.Collect(srv.Client().MergeRequests.ListVersions(t.Context(), forge.Path("acme/app"), 1))
	require.NoError(t, err)
	require.NotEmpty(t, versions)
	return versions[0].ID
}

func (w *hintWorld) addCallers(group *forgetest.Group, app, other *forgetest.Project) {
	root := w.srv.Root()
	reader := root.AddToken("read_api")
	w.callers = []caller{
		{name: "none"},
		{name: "wrong", credential: forge.WithToken("wrong-token"), user: "root", token: "wrong-token", wrong: true},
		{name: "wrong job", credential: forge.WithJobToken("wrong-token"), user: "gitlab-ci-token", token: "wrong-token", wrong: true, job: true},
		{name: "read_api", credential: forge.WithToken(reader), user: "root", token: reader, admin: true, role: forgetest.Owner, readOnly: true},
	}
	for name, role := range map[string]forgetest.Role{
		"ordinary": forgetest.NoAccess, "guest": forgetest.Guest, "reporter": forgetest.Reporter, "developer": forgetest.Developer,
		"maintainer": forgetest.Maintainer, "owner": forgetest.Owner, "auditor": forgetest.NoAccess, "root": forgetest.Owner,
	} {
		user := root
		if name != "root" {
			user = w.srv.AddUser(name)
		}
		if name == "auditor" {
			user.Edit(func(d *forgetest.Document) { d.Set("is_auditor", true) })
		}
		if role != forgetest.NoAccess && name != "root" {
			group.AddMember(user, role)
		}
		w.callers = append(w.callers, caller{
			name: name, credential: forge.WithToken(user.Token), user: name, token: user.Token, role: role,
			admin: name == "root", auditor: name == "auditor" && w.tier != forgetest.Free,
		})
	}
	for _, project := range []*forgetest.Project{app, other} {
		user := w.srv.AddUser("job" + strconv.Itoa(len(w.callers)))
		group.AddMember(user, forgetest.Developer)
		other.AddMember(user, forgetest.Developer)
		token := project.AddJobToken(user)
		w.callers = append(w.callers, caller{
			name: "job of " + project.Path, credential: forge.WithJobToken(token), user: "gitlab-ci-token", token: token,
			role: forgetest.Developer, job: true, otherJob: project == other,
		})
	}
	slices.SortFunc(w.callers, func(a, b caller) int { return strings.Compare(a.name, b.name) })
}

// client returns a client with the credential of the caller. Each has its own waits and tokens.
func (w *hintWorld) client(t *testing.T, who caller) *forge.Client {
	t.Helper()
	options := []forge.Option{forge.WithRetry(forge.RetryPolicy{MaxAttempts: 1}), forge.WithHTTPClient(&http.Client{Transport: &http.Transport{}})}
	if who.credential != nil {
		options = append(options, who.credential, forge.WithRegistry(w.srv.RegistryURL, w.srv.RegistryAuthURL), forge.WithRegistryCredentials(who.user, who.token))
	}
	client, err := forge.NewClient(w.srv.URL, options...)
	require.NoError(t, err)
	t.Cleanup(client.CloseIdleConnections)
	return client
}

// hintBodies has the bodies and queries without which a request is not valid.
var hintBodies = map[string]any{
	"PUT /projects/:id/": map[string]any{"container_registry_access_level": "private"},
	"DELETE /projects/:id/registry/repositories/:repository_id/tags": url.Values{"name_regex_delete": {"x"}},
	"PUT /projects/:id/resource_groups/:key":                         map[string]any{"process_mode": "oldest_first"},
	"POST /projects/:id/repository/changelog":                        map[string]any{"version": "1.1.0"},
	"GET /projects/:id/repository/changelog":                         url.Values{"version": {"1.1.0"}},
	"GET /projects/:id/repository/compare":                           url.Values{"from": {"main"}, "to": {"main"}},
	"GET /projects/:id/repository/merge_base":                        url.Values{"refs[]": {"main", "v1.0.0"}},
	"PUT /groups/:id/merge_request_approval_setting":                 map[string]any{"allow_author_approval": false},
	"PUT /projects/:id/merge_request_approval_setting":               map[string]any{"allow_author_approval": false},
	"POST /projects/:id/issues/:issue_iid/notes":                     map[string]any{"body": "/promote"},
	"POST /projects/:id/issues/:issue_iid/time_estimate":             map[string]any{"duration": "1h"},
	"POST /projects/:id/issues/:issue_iid/add_spent_time":            map[string]any{"duration": "1h"},
	"POST /user/emails":                                              map[string]any{"email": "new@example.com"},
	"POST /users/:id/emails":                                         map[string]any{"email": "new@example.com"},
	"PUT /runners/:id":                                               map[string]any{"description": "moved"},
	"PUT /runners/:runner_id":                                        map[string]any{"paused": true},
	"PUT /application/settings":                                      map[string]any{"after_sign_up_text": "Welcome"},
	"PUT /groups/:id/integrations/:slug":                             map[string]any{"recipients": "ops@example.com"},
}

// hintCalls has the routes that Client.Do cannot call: other bases, forms and streams.
var hintCalls = map[string]func(ctx context.Context, c *forge.Client, w *hintWorld, args []forge.Ref) error{
	"GET /jwt/auth": func(ctx context.Context, c *forge.Client, _ *hintWorld, _ []forge.Ref) error {
		_, err := c.RegistryNative.GetToken(ctx, &forge.RegistryTokenOptions{Scopes: []forge.RegistryScope{forge.RepositoryScope("acme/app/web", forge.RegistryDelete)}})
		return err
	},
	"DELETE /v2/:image_path/manifests/:tag": func(ctx context.Context, c *forge.Client, _ *hintWorld, args []forge.Ref) error {
		return c.RegistryNative.DeleteManifest(ctx, "acme/app/web", textOf(args[1]), &forge.DeleteManifestOptions{ManifestType: "application/vnd.oci.image.manifest.v1+json"})
	},
	"DELETE /v2/:image_path/tags/reference/:tag": func(ctx context.Context, c *forge.Client, _ *hintWorld, args []forge.Ref) error {
		return c.RegistryNative.DeleteTagReference(ctx, "acme/app/web", textOf(args[1])) //nolint:staticcheck // deprecated, and documented
	},
	"GET /v2/_catalog": func(ctx context.Context, c *forge.Client, _ *hintWorld, _ []forge.Ref) error {
		_, err := forge.Collect(c.RegistryNative.ListCatalog(ctx))
		return err
	},
	"GET /projects/:id/repository/archive[.:format]": func(ctx context.Context, c *forge.Client, _ *hintWorld, args []forge.Ref) error {
		d, err := c.Repositories.Archive(ctx, args[0], nil)
		if err == nil {
			err = d.Close()
		}
		return err
	},
	"POST /projects/:project_id/secure_files": func(ctx context.Context, c *forge.Client, _ *hintWorld, args []forge.Ref) error {
		_, err := c.SecureFiles.Upload(ctx, args[0], &forge.UploadSecureFileOptions{Name: "new.p12", File: forge.FileBytes([]byte("new"))})
		return err
	},
	"POST /groups/:id/placeholder_reassignments": func(ctx context.Context, c *forge.Client, _ *hintWorld, args []forge.Ref) error {
		_, err := c.PlaceholderReassignments.Upload(ctx, args[0], forge.FileBytes([]byte("Source host,Import type\n")))
		return err
	},
	"POST /projects/:id/merge_requests/:merge_request_iid/blocks": func(ctx context.Context, c *forge.Client, w *hintWorld, args []forge.Ref) error {
		id, _ := strconv.ParseInt(w.objects["blocker"], 10, 64)
		iid, _ := strconv.ParseInt(textOf(args[1]), 10, 64)
		_, err := c.MergeRequests.CreateBlock(ctx, args[0], iid, &forge.CreateBlockOptions{BlockingMergeRequestID: id})
		return err
	},
}

func textOf(ref forge.Ref) string {
	path, _ := ref.(forge.Path)
	return string(path)
}

// arguments returns the arguments of a route. missing is the index of the one that does not exist;
// -1 if all do.
func (w *hintWorld) arguments(t *testing.T, template string, missing int) (args []forge.Ref) {
	t.Helper()
	segments := strings.Split(template, "/")
	for i, segment := range segments {
		if !strings.HasPrefix(segment, ":") {
			continue
		}
		value := w.objects["/"+segments[i-1]+" "+segment] // of the collection
		if value == "" {
			value = w.objects["/"+segments[1]+" "+segment]
		}
		if value == "" {
			value = w.objects[segment]
		}
		switch {
		case len(args) == missing && segment == ":slug":
			value = "task-tracker"
		case len(args) == missing:
			value = "999999"
		case strings.HasPrefix(template, "/v2/"):
			value = "v0001"
		}
		require.NotEmpty(t, value, "%s %s", template, segment)
		args = append(args, forge.Path(value))
	}
	return args
}

// send makes the call of a route.
func (w *hintWorld) send(ctx context.Context, c *forge.Client, r forge.Route, args []forge.Ref) error {
	name := r.Method + " " + r.Template
	if typed := hintCalls[name]; typed != nil {
		return typed(ctx, c, w, args)
	}
	call := forge.Call{Method: r.Method, Route: r.Template, Body: hintBodies[name]}
	for _, arg := range args {
		call.Args = append(call.Args, arg)
	}
	if query, is := call.Body.(url.Values); is {
		call.Query, call.Body = maps.Clone(query), nil
	}
	return c.Do(ctx, call, nil)
}
