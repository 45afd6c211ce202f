package contracttest_test

import (
	"context"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/forgetest"
)

// troubles cause the errors that docs/troubleshooting.md marks with their names. They have the
// project acme/app, which is private and has an issue.
var troubles = map[string]func(t *testing.T, srv *forgetest.Server, app *forgetest.Project) error{
	"wrong token": func(t *testing.T, srv *forgetest.Server, _ *forgetest.Project) error {
		return listIssues(t, srv.Client(forge.WithToken("an-expired-token")))
	},
	"job token": func(t *testing.T, srv *forgetest.Server, _ *forgetest.Project) error {
		return listIssues(t, srv.Client(forge.WithJobToken(srv.JobToken)))
	},
	"half environment": func(t *testing.T, _ *forgetest.Server, _ *forgetest.Project) error {
		t.Setenv("FORGE_URL", "https://gitlab.example.com")
		return failure(forge.NewClientFromEnv())
	},
	"two credentials": func(t *testing.T, _ *forgetest.Server, _ *forgetest.Project) error {
		t.Setenv("FORGE_URL", "https://gitlab.example.com")
		t.Setenv("FORGE_TOKEN", "an-access-token")
		return failure(forge.NewClientFromEnv(forge.WithToken("another-token")))
	},
	"page address": func(*testing.T, *forgetest.Server, *forgetest.Project) error {
		return failure(forge.NewClient("https://gitlab.com/acme/app", forge.WithToken("an-access-token")))
	},
	"role": func(t *testing.T, srv *forgetest.Server, app *forgetest.Project) error {
		user := srv.AddUser("maya")
		app.AddMember(user, forgetest.Reporter)
		options := &forge.SetRegistryVisibilityOptions{Visibility: forge.RegistryVisibilityPrivate}
		return failure(srv.Client(forge.WithToken(user.Token)).Registry.SetVisibility(t.Context(), acmeApp, options))
	},
	"administrator": func(t *testing.T, srv *forgetest.Server, _ *forgetest.Project) error {
		return failure(forge.Collect(srv.Client(forge.WithToken(srv.AddUser("maya").Token)).AuditEvents.List(t.Context(), nil)))
	},
	"scope": func(t *testing.T, srv *forgetest.Server, _ *forgetest.Project) error {
		return failure(srv.Client(forge.WithToken(srv.Root().AddToken("read_api"))).Issues.Subscribe(t.Context(), acmeApp, 5))
	},
	"hidden project": func(t *testing.T, srv *forgetest.Server, _ *forgetest.Project) error {
		return timeStats(t.Context(), srv.Client(forge.WithToken(srv.AddUser("maya").Token)), acmeApp, 5)
	},
	"no such issue": func(t *testing.T, srv *forgetest.Server, _ *forgetest.Project) error {
		return timeStats(t.Context(), srv.Client(), acmeApp, 99)
	},
	"escaped path": func(t *testing.T, srv *forgetest.Server, _ *forgetest.Project) error {
		return timeStats(t.Context(), srv.Client(), forge.Path("acme%2Fapp"), 5)
	},
	"sorted tags": func(t *testing.T, srv *forgetest.Server, _ *forgetest.Project) error {
		return failure(forge.Collect(srv.Client().Registry.ListTags(t.Context(), acmeApp, 1, &forge.ListRegistryTagsOptions{Sort: forge.SortDesc})))
	},
	"other cursor": func(t *testing.T, srv *forgetest.Server, _ *forgetest.Project) error {
		var page forge.Response
		_, err := forge.Collect(srv.Client().Users.List(t.Context(), nil, forge.OnePage(), forge.PerPage(2), forge.Into(&page)))
		require.NoError(t, err)
		return listIssues(t, srv.Client(), forge.StartAt(page.Cursor))
	},
	"redirect": func(t *testing.T, srv *forgetest.Server, _ *forgetest.Project) error {
		srv.Fail("*", forgetest.RedirectTo("https://login.example.com/sso", http.StatusFound))
		return listIssues(t, srv.Client())
	},
	"settings": func(t *testing.T, srv *forgetest.Server, _ *forgetest.Project) error {
		return failure(srv.Client(forge.WithVocabulary(forge.Neutral)).Settings.Get(t.Context()))
	},
	"integration": func(t *testing.T, srv *forgetest.Server, _ *forgetest.Project) error {
		return failure(srv.Client(forge.WithVocabulary(forge.Neutral)).Integrations.Get(t.Context(), forge.Path("acme"), forge.IntegrationTelegram))
	},
}

const acmeApp = forge.Path("acme/app")

func listIssues(t *testing.T, client *forge.Client, opts ...forge.RequestOption) error {
	t.Helper()
	return failure(forge.Collect(client.Issues.List(t.Context(), &forge.ListIssuesOptions{Scope: forge.ScopeAll}, opts...)))
}

func timeStats(ctx context.Context, client *forge.Client, project forge.Ref, issue int64) error {
	return failure(client.Issues.GetTimeStats(ctx, project, issue))
}

// TestTroubleshooting causes the errors that the guide marks and finds their texts in it. The guide
// breaks lines, and has another address.
func TestTroubleshooting(t *testing.T) {
	for _, name := range []string{"FORGE_URL", "FORGE_TOKEN", "CI_API_V4_URL", "CI_JOB_TOKEN", "CI_SERVER_TLS_CA_FILE"} {
		t.Setenv(name, "")
	}
	marked := map[string]bool{}
	for _, block := range regexp.MustCompile("<!-- error: ([^>]+) -->\n\n```text\n([^`]*)```\n").FindAllStringSubmatch(readText(t, "docs/troubleshooting.md"), -1) {
		marked[block[1]] = true
		t.Run(block[1], func(t *testing.T) {
			require.Contains(t, troubles, block[1])
			srv := forgetest.New(t)
			app := srv.AddProject("acme/app", forgetest.Private)
			app.AddIssues(5, nil)
			app.AddRegistryRepository("").AddTags(3, nil)
			err := troubles[block[1]](t, srv, app)
			require.Error(t, err)
			text := regexp.MustCompile(`https?://127\.0\.0\.1:\d+`).ReplaceAllString(err.Error(), "https://gitlab.example.com")
			assert.Equal(t, text, strings.Join(strings.Fields(block[2]), " "))
		})
	}
	for name := range troubles {
		assert.True(t, marked[name], "the guide has no error %q", name)
	}
}
