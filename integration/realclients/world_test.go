package realclients

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go/forgetest"
)

// plain is the User-Agent of the requests with which the test reads the store.
const plain = "realclients-plain"

// world is a filled server. Its exported fields are passed to the clients.
type world struct {
	URL, Token       string
	HostedURL        string // the same data on the hosted offering
	HostedToken      string
	OutsiderToken    string // of a user without a role
	OwnerToken       string // of an owner of the group who is not an administrator
	JobToken         string
	Group            int64
	GroupPath        string
	Project          int64 // has the code; its path has two slashes
	ProjectPath      string
	Shop             int64 // has the images
	Web, Cron        int64 // registry repositories
	Private          string
	Moved            string // the former path of a project
	Issue            int64  // of the project
	Quiet            int64  // an issue without any estimate
	Merge, Blocking  int64
	Version          int64
	Blob             string
	Plain, Last      string // commits without trailers: of main, of the merge request
	File             int64
	User             int64
	Username         string
	Address, Another int64 // e-mail addresses: of the current user and of User
	Runner, Local    int64
	Event            int64
	GroupEvent       int64
	ProjectEvent     int64

	srv, hosted *forgetest.Server
	project     *forgetest.Project
	shop        *forgetest.Project
	group       *forgetest.Group
	web         *forgetest.RegistryRepository
	lock        *forgetest.ResourceGroup
	issue       *forgetest.Issue
	mr          *forgetest.MergeRequest
	runner      *forgetest.Runner
	http        *http.Client
	t           *testing.T
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, GroupPath: "acme", ProjectPath: "acme/platform/gateway", Moved: "acme/mobile-app"}
	w.srv = forgetest.New(t, forgetest.WithDemo())
	w.hosted = forgetest.New(t, forgetest.WithDemo(), forgetest.WithOffering(forgetest.Hosted))
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	w.http = &http.Client{Transport: transport}
	w.URL, w.Token, w.HostedURL, w.HostedToken = w.srv.URL, w.srv.Token, w.hosted.URL, w.hosted.Token
	w.group, w.project = w.srv.AddGroup(w.GroupPath), w.srv.AddProject(w.ProjectPath)
	w.shop = w.srv.AddProject("acme/storefront")
	w.srv.AddProject(w.Moved).MoveTo("acme/mobile")
	w.Private = "secret/plans"
	w.srv.AddProject(w.Private, forgetest.Private).AddIssues(1, nil)
	w.Group, w.Project, w.Shop = w.group.ID, w.project.ID, w.shop.ID
	w.addPeople()
	w.addCode()
	w.addOperations()
	return w
}

// addPeople adds users for more than two pages, and addresses.
func (w *world) addPeople() {
	w.srv.AddUsers(45, "crowd")
	w.JobToken = w.shop.AddJobToken(w.srv.Root())
	w.OutsiderToken = w.srv.AddUser("outsider").Token
	w.OwnerToken = w.srv.AddUser("maya.lindqvist").Token
	tomas := w.srv.AddUser("tomas.berg")
	w.User, w.Username = tomas.ID, tomas.Username
	w.Another = tomas.AddEmail("tomas@second.example.com").Get("id").(int64)
	w.Address = w.srv.Root().AddEmail("root@second.example.com").Get("id").(int64)
}

// addCode adds merge requests with diff versions, one of which blocks another, and a file whose
// name must be escaped.
func (w *world) addCode() {
	w.Plain = w.project.AddCommit(forgetest.Change{Message: "Plain", Files: map[string]string{"docs/plain.md": "1\n"}}).ID
	w.project.AddCommit(forgetest.Change{
		Branch: "topic/ünïcode", Message: "Add notes", Files: map[string]string{"docs/größe & mehr.md": "Größe\n"},
	})
	mine := func(branch string) func(*forgetest.Document) {
		return func(d *forgetest.Document) {
			d.Set("title", "From "+branch).Set("source_branch", branch).Set("target_branch", "main")
		}
	}
	w.mr = w.project.AddMergeRequest(mine("topic/ünïcode"))
	w.Last = w.mr.Push(forgetest.Change{Message: "Go on", Files: map[string]string{"docs/second.md": "2\n"}}).ID
	other := w.project.AddMergeRequest(mine("experiment/http3"))
	w.Merge, w.Blocking = w.mr.IID, other.IID
	w.issue = w.project.AddIssue(func(d *forgetest.Document) { d.Set("title", "Grüße <&> \"quoted\"").Set("labels", []string{"bug"}) })
	w.issue.Relate(w.mr)
	w.Issue = w.issue.IID
	w.Quiet = w.project.AddIssue(func(d *forgetest.Document) { d.Set("title", "Quiet") }).IID
	w.Blob = w.field(w.get("/projects/%d/repository/tree?path=docs&ref=%s", w.Project, w.Last), 0, "id").(string)
	w.Version = int64(w.field(w.get("/projects/%d/merge_requests/%d/versions", w.Project, w.Merge), 0, "id").(float64))
}

func (w *world) addOperations() {
	w.srv.EditSettings(func(d *forgetest.Document) { d.Set("polling_interval_multiplier", 1.25) })
	w.File = w.project.AddSecureFile("release.p12", []byte("\x00\x01secret\xff"), nil).Get("id").(int64)
	w.lock = w.project.AddResourceGroup("production/eu_west")
	w.lock.AddUpcomingJob(nil)
	w.web = w.shop.AddRegistryRepository("web")
	for i := range 30 {
		w.web.AddTag(fmt.Sprintf("topic-%02d", i+1), nil)
	}
	w.Web, w.Cron = w.web.ID, w.shop.AddRegistryRepository("cron").ID
	w.runner = w.project.AddRunner(func(d *forgetest.Document) { d.Set("description", "local").Set("tag_list", []string{"go", "linux"}) })
	w.runner.AddManager("s_local", nil)
	for range 25 {
		w.runner.AddJob(w.project, "s_local", nil)
	}
	w.Local = w.runner.ID
	w.Runner = int64(w.field(w.get("/runners/all?type=instance_type"), 0, "id").(float64))
	w.Event = w.srv.AddAuditEvent(nil).Get("id").(int64)
	w.GroupEvent = w.group.AddAuditEvent(nil).Get("id").(int64)
	w.ProjectEvent = w.project.AddAuditEvent(nil).Get("id").(int64)
}

// field reads a field of one record of a list.
func (w *world) field(list any, index int, name string) any {
	records, _ := list.([]any)
	require.Greater(w.t, len(records), index)
	return records[index].(map[string]any)[name]
}

// fetch reads an address without a client library.
func (w *world) fetch(base, token, path string) (*http.Response, []byte) {
	w.t.Helper()
	request, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, base+"/api/v4"+path, nil)
	require.NoError(w.t, err)
	request.Header.Set("PRIVATE-TOKEN", token)
	request.Header.Set("User-Agent", plain)
	response, err := w.http.Do(request)
	require.NoError(w.t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	require.NoError(w.t, err)
	require.Equal(w.t, http.StatusOK, response.StatusCode, "%s: %s", path, body)
	return response, body
}

// get returns the JSON of an address.
func (w *world) get(path string, args ...any) any {
	w.t.Helper()
	_, body := w.fetch(w.URL, w.Token, fmt.Sprintf(path, args...))
	return parse(w.t, body)
}

// all returns the JSON of all pages of a list.
func (w *world) all(path string, args ...any) any {
	w.t.Helper()
	return w.pages(w.URL, w.Token, fmt.Sprintf(path, args...))
}

func (w *world) pages(base, token, path string) any {
	w.t.Helper()
	sep := "?"
	if strings.Contains(path, "?") {
		sep = "&"
	}
	all := []any{}
	for page := "1"; page != ""; {
		response, body := w.fetch(base, token, path+sep+"per_page=100&page="+page)
		all = append(all, parse(w.t, body).([]any)...)
		page = response.Header.Get("X-Next-Page")
	}
	return all
}

// content returns the digest of the content of an address.
func (w *world) content(path string, args ...any) any {
	w.t.Helper()
	_, body := w.fetch(w.URL, w.Token, fmt.Sprintf(path, args...))
	return digest(body)
}

func digest(content []byte) map[string]any {
	sum := sha256.Sum256(content)
	return map[string]any{"size": len(content), "sha256": hex.EncodeToString(sum[:])}
}

func parse(t *testing.T, body []byte) any {
	t.Helper()
	var value any
	require.NoError(t, json.Unmarshal(body, &value), string(body))
	return value
}

// instant parses a time in any of the forms of the clients.
func instant(text string) (time.Time, bool) {
	at, err := time.Parse(time.RFC3339Nano, text)
	return at, err == nil
}
