package forge

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"
)

// untouched returns a client that must not send, request a token, log, count, or call a hook.
func untouched(t *testing.T, options ...Option) *Client {
	t.Helper()
	var log records
	var hook attempts
	own := []Option{
		WithTokenSource(panicking{}), WithLimiter(panicking{}), log.option(slog.LevelDebug), hook.option(),
		through(func(*http.Request) (*http.Response, error) { panic("something was sent") }),
	}
	c, err := NewClient("https://forge.example.com/base", overriding(own, options...)...)
	require.NoError(t, err)
	t.Cleanup(func() {
		got, _ := log.lines(t)
		assert.Empty(t, got)
		assert.Empty(t, hook.all())
		assert.Zero(t, c.Stats())
	})
	return c
}

type panicking struct{}

func (panicking) Token() (*oauth2.Token, error) { panic("a token was asked for") }
func (panicking) Wait(context.Context) error    { panic("the limiter was asked") }

// dryRuns are calls of all executors and of the methods that make several requests.
func dryRuns(t *testing.T, c *Client) map[string]func(...RequestOption) error {
	t.Helper()
	unread := File{Name: "a.p12", Size: 3, Open: func() (io.ReadCloser, error) { panic("the file was opened") }}
	ctx := t.Context()
	return map[string]func(...RequestOption) error{
		"GET " + safeRoute: func(opts ...RequestOption) error {
			_, err := c.Issues.GetTimeStats(ctx, ID(1), 2, opts...)
			return err
		},
		"DELETE /user/emails/:email_id": func(opts ...RequestOption) error { return c.Emails.Delete(ctx, 3, opts...) },
		"GET /issues": func(opts ...RequestOption) error {
			issues, err := Collect(c.Issues.List(ctx, nil, append(opts, Ahead(3))...))
			assert.Empty(t, issues)
			return err
		},
		"GET " + archiveRoute: func(opts ...RequestOption) error {
			d, err := openArchive(ctx, c, opts...)
			assert.Nil(t, d)
			return err
		},
		"POST /projects/:project_id/secure_files": func(opts ...RequestOption) error {
			_, err := c.SecureFiles.Upload(ctx, ID(1), &UploadSecureFileOptions{Name: "a.p12", File: unread}, opts...)
			return err
		},
		"GET /projects/:id/registry/repositories/:repository_id/tags": func(opts ...RequestOption) error {
			_, err := c.Registry.PreviewDeleteTags(ctx, ID(1), 2, &DeleteTagsOptions{NameRegexDelete: ".*"}, opts...)
			return err
		},
		"GET /registry/repositories/:id": func(opts ...RequestOption) error { return c.Registry.WaitDeleted(ctx, ID(1), 2, opts...) },
		"PUT /application/settings": func(opts ...RequestOption) error {
			_, err := c.Settings.Apply(ctx, (&UpdateSettingsOptions{SignupEnabled: new(false)}).Diff(), opts...)
			return err
		},
		"GET /jwt/auth": func(opts ...RequestOption) error {
			_, err := c.RegistryNative.GetToken(ctx, &GetRegistryTokenOptions{Scopes: []RegistryScope{RegistryScopeCatalog}}, opts...)
			return err
		},
		"GET /v2/_catalog": func(opts ...RequestOption) error {
			_, err := Collect(c.RegistryNative.ListCatalog(ctx, opts...))
			return err
		},
	}
}

// A dry run of any call only fills the plan, and the error reports this.
func TestDryRun(t *testing.T) {
	c := untouched(t, WithRegistry("https://registry.example.com", "https://auth.example.com"), WithRegistryCredentials(registryUser, registryPassword))
	has := map[string]string{
		"GET /jwt/auth": ` --user "$REGISTRY_USER:$REGISTRY_PASSWORD"`, "GET /v2/_catalog": ` --header "Authorization: Bearer $REGISTRY_TOKEN"`,
		"POST /projects/:project_id/secure_files": ` --form 'file=@"a.p12";filename="a.p12"'`,
	}
	for route, run := range dryRuns(t, c) {
		var plan PlannedRequest
		err := run(DryRun(&plan))
		require.ErrorIs(t, err, ErrDryRun, route)
		failed := asError(t, err)
		assert.Equal(t, "forge: "+failed.Method+" "+withObject(failed.Route, failed.Path)+": dry run: nothing was sent", failed.Error())
		assert.NotEmpty(t, failed.Path, route)
		assert.Equal(t, route, plan.Method+" "+plan.Route)
		assert.True(t, strings.HasPrefix(plan.URL, "https://"), plan.URL)
		assert.Contains(t, plan.Curl(), has[route])
		require.ErrorIs(t, run(DryRun(nil)), ErrDryRun, route)
	}
}

// A dry run refuses the same calls as a real call, and fills no plan for them.
func TestDryRunChecks(t *testing.T) {
	c := untouched(t)
	var plan PlannedRequest
	var v *ValidationError
	require.ErrorAs(t, c.Registry.DeleteTags(t.Context(), ID(1), 2, nil, DryRun(&plan)), &v)
	require.ErrorAs(t, c.Registry.Delete(t.Context(), nil, 2, DryRun(&plan)), &v)
	_, err := Collect(c.Issues.List(t.Context(), nil, DryRun(&plan), PerPage(-1)))
	require.ErrorAs(t, err, &v)
	assert.Zero(t, plan)
}

// A plan has the parts of the request, and a curl command for a shell.
func TestPlannedRequest(t *testing.T) {
	plan := func(run func(*Client, RequestOption) error, options ...Option) PlannedRequest {
		var p PlannedRequest
		err := run(untouched(t, options...), DryRun(&p))
		require.ErrorIs(t, err, ErrDryRun)
		assert.Empty(t, reveals(p))
		assert.Empty(t, reveals(err))
		return p
	}
	read := func(c *Client, o RequestOption) error {
		_, err := c.Issues.GetTimeStats(t.Context(), Path("a/b"), 2, o, Header("X-Note", "it's $HOME"), Header("X-Empty", ""), Sudo(3))
		return err
	}
	const line = `curl 'https://forge.example.com/base/api/v4/projects/a%2Fb/issues/2/time_stats'`
	const rest = ` --header 'Accept: application/json' --header 'Sudo: 3' --header 'X-Empty;' --header 'X-Note: it'\''s $HOME'`
	for kind, proof := range map[string]string{
		"access token": ` --header "PRIVATE-TOKEN: $FORGE_TOKEN"`, "job token": ` --header "JOB-TOKEN: $CI_JOB_TOKEN"`,
		"OAuth": ` --header "Authorization: Bearer $FORGE_TOKEN"`, "token source": ` --header "Authorization: Bearer $FORGE_TOKEN"`,
	} {
		p := plan(read, credentials[kind])
		assert.Equal(t, line+proof+rest, p.Curl(), kind)
		held := p.Header.Get("Private-Token") + p.Header.Get("Job-Token") + p.Header.Get("Authorization")
		assert.Equal(t, map[bool]string{true: "Bearer "}[strings.Contains(proof, "Bearer")]+"[redacted]", held, kind)
	}
	assert.Equal(t, line+rest, plan(read, WithoutCredential()).Curl())

	p := plan(func(c *Client, o RequestOption) error {
		_, err := c.Issues.AddSpentTime(t.Context(), ID(1), 2, &AddSpentTimeOptions{Duration: WorkDuration(time.Hour), Summary: "it's " + secret}, o)
		return err
	}, WithToken(secret))
	assert.JSONEq(t, `{"duration":"1h","summary":"it's [redacted]"}`, string(p.Body))
	assert.Equal(t, http.Header{
		"Accept": {"application/json"}, "Content-Type": {"application/json"}, "Private-Token": {"[redacted]"}, "User-Agent": {"forge-go/" + Version},
	}, p.Header)
	assert.Equal(t, `curl --request POST 'https://forge.example.com/base/api/v4/projects/1/issues/2/add_spent_time' --header "PRIVATE-TOKEN: $FORGE_TOKEN" `+
		`--header 'Accept: application/json' --header 'Content-Type: application/json' --data-raw '`+strings.ReplaceAll(string(p.Body), "'", `'\''`)+`'`, p.Curl())

	p = plan(func(c *Client, o RequestOption) error {
		file := FileAt("testdata/no such; \"file\"")
		file.Size = 3
		file.Open = func() (io.ReadCloser, error) { return nil, errors.New("opened") }
		_, err := c.SecureFiles.Upload(t.Context(), ID(1), &UploadSecureFileOptions{Name: "@etc", File: file.Named(`b\c` + secret)}, o)
		return err
	}, WithToken(secret))
	assert.Nil(t, p.Body)
	assert.NotContains(t, p.Curl(), "Content-Type", "curl writes the boundary")
	assert.True(t, strings.HasSuffix(p.Curl(), ` --form-string 'name=@etc' --form 'file=@"testdata/no such; \"file\"";filename="b\\c[redacted]"'`), p.Curl())

	p = plan(func(c *Client, o RequestOption) error {
		return c.Do(t.Context(), Call{Method: http.MethodHead, Route: "/tokens/:id", Args: []Arg{Path(secret)}}, nil, o, Header("X-Note", secret))
	}, WithToken(secret))
	assert.Equal(t, "[redacted]", p.Header.Get("X-Note"))
	assert.True(t, strings.HasPrefix(p.Curl(), "curl --head 'https://"), p.Curl())
	p = plan(func(c *Client, o RequestOption) error {
		_, err := c.Repositories.Archive(t.Context(), ID(1), nil, o)
		return err
	}, WithToken(secret))
	assert.Equal(t, http.Header{"Accept": {"*/*"}, "Accept-Encoding": {"identity"}, "Private-Token": {"[redacted]"}, "User-Agent": {"forge-go/" + Version}}, p.Header)
	assert.Equal(t, `curl 'https://forge.example.com/base/api/v4/projects/1/repository/archive' --header "PRIVATE-TOKEN: $FORGE_TOKEN"`, p.Curl(), "curl has these headers itself")
	own := PlannedRequest{Method: http.MethodGet, URL: "https://a.example.com", Header: http.Header{"Authorization": {"mine"}}}
	assert.Equal(t, "curl 'https://a.example.com' --header 'Authorization: mine'", own.Curl(), "no credential replaces it")
}
