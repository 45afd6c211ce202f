package contracttest_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/forgetest"
	"github.com/forge-sdk/forge-go/internal/catalogue"
	"github.com/forge-sdk/forge-go/internal/racetest"
)

// platform is a server of the truth table.
type platform struct {
	tier     forgetest.Tier
	offering forgetest.Offering
	release  string // "" for the newest
	private  bool   // the group and its project are not public
}

var platforms = []platform{
	{forgetest.Ultimate, forgetest.SelfManaged, "", true},
	{forgetest.Premium, forgetest.Dedicated, "", true},
	{forgetest.Free, forgetest.SelfManaged, "", true},
	{forgetest.Free, forgetest.Hosted, "", false},
	{forgetest.Ultimate, forgetest.Hosted, "", true},
	{forgetest.Ultimate, forgetest.SelfManaged, "16.4", true},
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

// TestHintsAreTrue calls every write and every read of the API, on each platform with a third of the credentials; reads also
// with objects that do not exist. Of each call that is rejected with 401, 403 or 404, the first
// sentence of the hint is true, no sentence states as a fact what is not true, and one names a true
// cause. Only a tier, an offering or a release may follow a sentence about a role that the caller
// has, since no response tells them apart. Calls of the API are then sent again to a server that
// hides the cause behind a 404 without a message, as deployed servers do, and a 403 to one that sends
// no message.
func TestHintsAreTrue(t *testing.T) {
	racetest.SkipSequential(t)
	table := &truthTable{seen: map[string]int{}, endpoints: map[string]catalogue.Endpoint{}}
	for _, e := range catalogue.Endpoints() {
		table.endpoints[e.Method+" "+e.Path] = e
	}
	for n, p := range platforms {
		t.Run(fmt.Sprintf("%s %s %s private=%t", p.tier, p.offering, p.release, p.private), func(t *testing.T) { table.fill(t, p, n) })
	}
	for _, s := range sentences {
		assert.Positive(t, table.seen[s.form.String()], "no call has the hint %s", s.form)
	}
	assert.Greater(t, table.cells, 3000, "rejected calls")
}

type truthTable struct {
	endpoints map[string]catalogue.Endpoint
	seen      map[string]int // hints by form
	cells     int
}

func (table *truthTable) fill(t *testing.T, p platform, number int) {
	w, all := newHintWorld(t, p)
	for i := range all {
		if (i+number)%3 != 0 {
			continue
		}
		for _, r := range forge.Routes() {
			if r.Class != forge.RetryClassSafe || strings.Contains(r.Template, "[.:format]") || table.endpoints[r.Method+" "+r.Template].Base != "api" {
				continue // the writes of the registry get a token, too
			}
			args := catalogue.Arguments(r.Template, w.objects)
			for missing := -1; missing < len(args); missing++ {
				if lacking := slices.Index(args, ""); lacking < 0 || lacking == missing {
					table.try(t, w, p, all[i], missing, func(w *outcomeWorld) error { return w.read(r, args, missing) })
				}
			}
		}
		for _, c := range writeCases(t) {
			if !w.sends(c) {
				continue
			}
			if table.try(t, w, p, all[i], -1, func(w *outcomeWorld) error { return w.send(c) }) { // it took effect: objects may be gone, and roles not needed
				w, all = newHintWorld(t, p)
			}
		}
	}
}

// try makes a call and checks its hint. It reports whether the call was not rejected.
func (table *truthTable) try(t *testing.T, w *outcomeWorld, p platform, who caller, missing int, send func(*outcomeWorld) error) bool {
	t.Helper()
	theirs := *w
	theirs.Client = w.as(who)
	defer theirs.CloseIdleConnections()
	failed := rejectionOf(send(&theirs))
	if failed == nil {
		return true
	}
	name := failed.Method + " " + failed.Route // of the first rejected request of the call
	c := &cell{table.endpoints[name], p, who, missing >= 0}
	table.check(t, c, failed)
	if failed.Status == 401 || c.Base != "api" || failed.Status == 403 && c.message(failed) != "" {
		return false
	}
	for _, hide := range []forgetest.Fault{forgetest.StatusMessage(404, "404 Not Found"), forgetest.StatusMessage(failed.Status, "")} {
		w.srv.Fail(name, hide)
		hidden := rejectionOf(send(&theirs))
		w.srv.ClearFaults()
		if assert.NotNil(t, hidden, name) {
			table.check(t, c, hidden)
		}
	}
	return false
}

// newHintWorld returns a server with one object of each kind, and the callers.
func newHintWorld(t *testing.T, p platform) (*outcomeWorld, []caller) {
	t.Helper()
	visibility := map[bool]forgetest.Visibility{true: forgetest.Private, false: forgetest.Public}[p.private]
	options := []forgetest.Option{forgetest.WithTier(p.tier), forgetest.WithOffering(p.offering)}
	if p.release != "" {
		options = append(options, forgetest.WithRelease(p.release))
	}
	w := newOutcomeWorld(t, visibility, options...)
	now := time.Date(2026, 3, 4, 0, 0, 0, 0, time.UTC)
	w.srv.SetClock(func() time.Time { now = now.Add(13 * time.Second); return now }) // below the documented rate limits
	root, other := w.srv.Root(), w.srv.AddProject("other/app")
	reader := root.AddToken("read_api")
	callers := []caller{
		{name: "none"},
		{name: "wrong", credential: forge.WithToken("wrong-token"), user: "root", token: "wrong-token", wrong: true},
		{name: "wrong job", credential: forge.WithJobToken("wrong-token"), user: "gitlab-ci-token", token: "wrong-token", wrong: true, job: true},
		{name: "read_api", credential: forge.WithToken(reader), user: "root", token: reader, admin: true, role: forgetest.Owner, readOnly: true},
		{name: "root", credential: forge.WithToken(root.Token), user: "root", token: root.Token, admin: true, role: forgetest.Owner},
	}
	for _, role := range []forgetest.Role{forgetest.NoAccess, forgetest.Guest, forgetest.Reporter, forgetest.Developer, forgetest.Maintainer, forgetest.Owner} {
		name := fmt.Sprintf("role%d", role)
		user := w.srv.AddUser(name)
		if role != forgetest.NoAccess {
			w.acme.AddMember(user, role)
		}
		callers = append(callers, caller{name: name, credential: forge.WithToken(user.Token), user: name, token: user.Token, role: role})
	}
	auditor := w.srv.AddUser("auditor")
	auditor.Edit(func(d *forgetest.Document) { d.Set("is_auditor", true) })
	callers = append(callers, caller{name: "auditor", credential: forge.WithToken(auditor.Token), user: "auditor", token: auditor.Token, auditor: p.tier != forgetest.Free})
	for _, project := range []*forgetest.Project{w.app, other} {
		user := w.srv.AddUser("job" + strconv.Itoa(len(callers)))
		w.acme.AddMember(user, forgetest.Developer)
		other.AddMember(user, forgetest.Developer)
		token := project.AddJobToken(user)
		callers = append(callers, caller{
			name: "job of " + project.Path, credential: forge.WithJobToken(token), user: "gitlab-ci-token", token: token,
			role: forgetest.Developer, job: true, otherJob: project == other,
		})
	}
	return w, callers
}

// as returns a client with the credential of the caller. Each has its own waits and tokens.
func (w *outcomeWorld) as(who caller) *forge.Client {
	options := []forge.Option{forge.WithRetry(forge.RetryPolicy{MaxAttempts: 1}), forge.WithHTTPClient(&http.Client{Transport: &http.Transport{}})}
	if who.credential != nil {
		options = append(options, who.credential, forge.WithRegistry(w.srv.RegistryURL, w.srv.RegistryAuthURL), forge.WithRegistryCredentials(who.user, who.token))
	}
	client, err := forge.NewClient(w.srv.URL, options...)
	require.NoError(w.t, err)
	return client
}

// read calls a route that reads. missing is the index of the argument that does not exist; -1 if all do.
func (w *outcomeWorld) read(r forge.Route, args []string, missing int) error {
	call := forge.Call{Method: r.Method, Route: r.Template, Query: map[string]url.Values{
		"/projects/:id/repository/changelog": {"version": {"1.1.0"}}, "/projects/:id/repository/compare": {"from": {"main"}, "to": {"main"}},
		"/projects/:id/repository/merge_base": {"refs[]": {"main", "v1.0.0"}},
	}[r.Template]}
	for i, value := range args {
		if i == missing {
			value = map[bool]string{true: "task-tracker", false: "999999"}[strings.HasSuffix(r.Template, ":slug") && i == len(args)-1]
		}
		call.Args = append(call.Args, forge.Path(value))
	}
	return w.Do(w.ctx(), call, nil)
}

// rejectionOf returns the error with the status 401, 403 or 404; nil if there is none.
func rejectionOf(err error) *forge.Error {
	for err != nil {
		var failed *forge.Error
		if !errors.As(err, &failed) {
			return nil
		}
		if slices.Contains([]int{401, 403, 404}, failed.Status) {
			return failed
		}
		err = errors.Join(failed.Unwrap()...)
	}
	return nil
}

// message returns what the server says beyond the status.
func (c *cell) message(failed *forge.Error) string {
	said := strings.TrimPrefix(failed.Message, fmt.Sprintf("%d ", failed.Status))
	return strings.TrimPrefix(strings.TrimPrefix(said, "Forbidden"), "Not Found")
}

// check checks the hint of a rejected call.
func (table *truthTable) check(t *testing.T, c *cell, failed *forge.Error) {
	t.Helper()
	table.cells++
	text := failed.Error()
	place := fmt.Sprintf("%s %s as %q (missing %t): %s", c.Method, c.Path, c.name, c.missing, text)
	_, hint, _ := strings.Cut(text, "(request id "+failed.RequestID+")")
	if failed.RequestID == "" {
		_, hint, _ = strings.Cut(text, "; ")
		hint = "; " + hint
	}
	if hint = strings.TrimPrefix(hint, "; "); hint == "" {
		require.NotEmpty(t, c.message(failed), place) // the message says it
		return
	}
	var causes []bool // whether each sentence names one
	for _, part := range strings.Split(hint, "; ") {
		i := slices.IndexFunc(sentences, func(s sentence) bool { return s.form.MatchString(part) })
		if !assert.GreaterOrEqual(t, i, 0, "%s: %q is not a known sentence", place, part) {
			continue
		}
		s := sentences[i]
		table.seen[s.form.String()]++
		match := s.form.FindStringSubmatch(part)
		assert.True(t, s.fact == nil || s.fact(c, match[len(match)-1]), "%s: %q is false", place, part)
		causes = append(causes, s.cause(c))
	}
	assert.Contains(t, causes, true, "%s: no sentence names a true cause", place)
	if failed.Status != 404 && len(causes) > 0 && !causes[0] {
		assert.True(t, c.limited() && !c.lacksRole(), "%s: the first sentence names no true cause", place)
	}
}

// cell is one call of the truth table: what is true of it, by the catalogue and the objects of the
// server. It does not depend on the hint.
type cell struct {
	catalogue.Endpoint
	platform
	caller
	missing bool // an object of the path does not exist
}

func (c *cell) refusesJobs() bool {
	return c.job && c.Base == "api" && !slices.Contains(c.Auth.Schemes, "job_token")
}

// badCredential reports whether the credential is unknown, or not accepted by this release.
func (c *cell) badCredential() bool {
	return c.wrong || c.job && c.release != "" && c.Path == "/projects/:id/repository/changelog"
}

func (c *cell) lacksScope() bool {
	return c.readOnly && c.Base == "api" && (c.Method != http.MethodGet || c.Auth.Scope != "")
}

// limited reports whether the server does not have the endpoint.
func (c *cell) limited() bool {
	return len(c.Only.Tiers) > 0 && !slices.Contains(c.Only.Tiers, string(c.tier)) || c.release != "" && c.Only.Introduced != "" ||
		len(c.Only.Offerings) > 0 && !slices.Contains(c.Only.Offerings, string(c.offering))
}

// unseen reports whether the caller does not see an object of the path: it does not exist, or it is
// private.
func (c *cell) unseen() bool {
	member := c.role > forgetest.NoAccess || c.admin || c.auditor
	return c.missing || c.private && !member || c.Path == "/namespaces/:id" && !c.admin && c.role == forgetest.NoAccess ||
		strings.HasPrefix(c.Path, "/user/emails/") && (!c.admin || c.Method == http.MethodDelete)
}

// lacksRole reports whether the caller lacks the role that the contract names. Where it names none,
// the server may require one that only administrators do not lack.
func (c *cell) lacksRole() bool {
	who := c.Auth.Who
	required := map[bool]forgetest.Role{true: forgetest.Maintainer, false: forgetest.Owner}[strings.Contains(who, "Maintainer")]
	if strings.Contains(who, "Developer") {
		required = forgetest.Developer
	}
	switch {
	case c.admin:
		return false
	case strings.HasPrefix(who, "administrator"):
		audits := c.auditor && strings.Contains(strings.ToLower(who), "auditor")
		maintains := strings.Contains(who, "Maintainer") && c.role >= required
		return !audits && !maintains
	case strings.Contains(strings.ToLower(who), "owner"), strings.Contains(who, "Maintainer"):
		return c.role < required
	}
	return true
}

// sentence is a form that a sentence of a hint may have.
type sentence struct {
	form *regexp.Regexp
	// fact reports whether what the sentence states is true; nil if it says that something may be so.
	fact func(c *cell, words string) bool
	// cause reports whether what it names is a cause of this cell.
	cause func(c *cell) bool
}

// sentences are all forms. A hint has no other ones.
var sentences = []sentence{
	{regexp.MustCompile(`^this endpoint does not accept a CI job token: use an access token$`), func(c *cell, _ string) bool { return c.refusesJobs() }, (*cell).refusesJobs},
	{regexp.MustCompile(`^the call needs a credential, and the client has none$`), func(c *cell, _ string) bool { return c.anonymous() }, (*cell).anonymous},
	{regexp.MustCompile(`^check the (?:credential: it|user and the password: they) may be wrong, expired or revoked$`), nil, (*cell).badCredential},
	{regexp.MustCompile(`^check the job token: it may have expired with its job, or this server may not accept one for this call$`), nil, (*cell).badCredential},
	{regexp.MustCompile(`^the token needs the scope (.*)$`), func(c *cell, words string) bool {
		want := map[bool]string{true: "api", false: "api or " + strings.TrimSuffix(c.Auth.Scope, "s")}[c.Auth.Scope == ""] // GitLab's word is manage_runner
		return c.lacksScope() && words == want
	}, (*cell).lacksScope},
	{regexp.MustCompile(`^this endpoint needs (.*)$`), (*cell).requires, (*cell).lacksRole},
	{regexp.MustCompile(`^(?:it|this endpoint) may need (.*)$`), (*cell).isOnly, (*cell).limited},
	{regexp.MustCompile(`^the object does not exist, or the credential cannot see it$`), func(c *cell, _ string) bool { return !c.anonymous() && c.unseen() }, (*cell).unseen},
	{regexp.MustCompile(`^the object does not exist or is not public, and the client has no credential$`), func(c *cell, _ string) bool { return c.anonymous() && c.unseen() }, (*cell).unseen},
	{regexp.MustCompile(`^the object may not exist, or the user may lack access to it$`), nil, func(c *cell) bool { return c.otherJob || c.unseen() || c.lacksRole() }},
	{regexp.MustCompile(`^the object may not exist or may not be public: the client has no credential$`), func(c *cell, _ string) bool { return c.anonymous() }, (*cell).unseen},
	{regexp.MustCompile(`^check the base URL: the API was requested at http://127\.0\.0\.1:\d+/api/v4$`), nil, func(*cell) bool { return false }},
	{regexp.MustCompile(`^the user may lack the role for this call$`), nil, (*cell).lacksRole},
	{regexp.MustCompile(`^a CI job token may have no access to this project, or its user may lack the role for this call$`), func(c *cell, _ string) bool { return c.job }, func(c *cell) bool { return c.otherJob || c.lacksRole() }},
	{regexp.MustCompile(`^the registry's user may lack access, or the image may not exist$`), nil, func(c *cell) bool { return c.otherJob || c.unseen() || c.lacksRole() }},
}

func (c *cell) anonymous() bool { return c.credential == nil }

// requires reports whether the contract requires one of the roles in words, and no other.
func (c *cell) requires(words string) bool {
	who := strings.ToLower(c.Auth.Who)
	for _, role := range []string{"administrator", "auditor", "owner", "maintainer", "developer", "admin_runners"} {
		named := strings.Contains(strings.ToLower(words), role)
		if named && !strings.Contains(who, role) {
			return false
		}
	}
	return words != ""
}

// isOnly reports whether the contract restricts the endpoint to what words name.
func (c *cell) isOnly(words string) bool {
	for word, restricted := range map[string]bool{
		"Premium or Ultimate":                        len(c.Only.Tiers) > 0,
		"self-managed or dedicated":                  len(c.Only.Offerings) > 0,
		"release " + c.Only.Introduced + " or later": c.Only.Introduced != "",
	} {
		if strings.Contains(words, word) != restricted {
			return false
		}
	}
	return true
}
