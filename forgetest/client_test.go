package forgetest_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"bytes"
	"crypto/fips140"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/forgetest"
	"golang.org/x/oauth2"
)

// The client and the server were written independently, both from the contract. This test uses them
// together, for the services of Document 1. Only the hosted offering has keyset pagination of tags;
// elsewhere the client's first request is rejected, and it continues by offset.
func TestClientRegistry(t *testing.T) {
	for offering, requests := range map[forgetest.Offering]int{forgetest.Hosted: 3, forgetest.SelfManaged: 1 + 3} {
		t.Run(string(offering), func(t *testing.T) { meetRegistry(t, forgetest.New(t, forgetest.WithOffering(offering)), requests) })
	}
}

func meetRegistry(t *testing.T, srv *forgetest.Server, requests int) {
	client, ctx := srv.Client(), t.Context()
	app := srv.AddProject("group/app")
	image := app.AddRegistryRepository("web").AddTags(230, func(i int, tag *forgetest.Document) {
		tag.Set("created_at", time.Now().AddDate(0, 0, -i))
	})
	project := forge.Path("group/app")
	tags, err := forge.Collect(client.Registry.ListTags(ctx, project, image.ID, nil))
	require.NoError(t, err)
	assert.Len(t, tags, 230)
	srv.AssertRequestCount(t, "GET /projects/:id/registry/repositories/:repository_id/tags", requests)

	o := &forge.DeleteTagsOptions{NameRegexDelete: "v.*[05]", NameRegexKeep: "v00.*", KeepN: 3, OlderThan: forge.Months(4)}
	preview, err := client.Registry.PreviewDeleteTags(ctx, project, image.ID, o)
	require.NoError(t, err)
	require.NotEmpty(t, preview.Delete)
	require.NoError(t, client.Registry.DeleteTags(ctx, project, image.ID, o))
	require.ErrorIs(t, client.Registry.DeleteTags(ctx, project, image.ID, o), forge.ErrRateLimited)
	srv.FinishBackgroundJobs()
	assert.Len(t, image.Tags(), 230-len(preview.Delete))
	for _, tag := range preview.Delete {
		assert.NotContains(t, image.Tags(), tag.Name)
	}

	const kind = "application/vnd.neutral.distribution.manifest.v2+json"
	require.NoError(t, client.RegistryNative.DeleteManifest(ctx, image.Path, "v0001", &forge.DeleteManifestOptions{ManifestType: kind}))
	assert.NotContains(t, image.Tags(), "v0001")
	for i := range 5 {
		app.AddRegistryRepository(fmt.Sprint("more", i))
	}
	catalog, err := forge.Collect(client.RegistryNative.ListCatalog(ctx, forge.PerPage(2)))
	require.NoError(t, err)
	assert.Len(t, catalog, 6)
	srv.AssertRequestCount(t, "GET /v2/_catalog", 3)

	require.NoError(t, client.Registry.Delete(ctx, project, image.ID))
	repository, err := client.Registry.Get(ctx, image.ID, nil)
	require.NoError(t, err)
	assert.EqualValues(t, "delete_scheduled", repository.Status)
	srv.FinishBackgroundJobs()
	_, err = client.Registry.Get(ctx, image.ID, nil)
	require.ErrorIs(t, err, forge.ErrNotFound)
}

// A CI job deletes images of its project with its own credentials. They are sent to the token
// endpoint with HTTP basic authentication, and give no access to other projects (Document 1
// §4.1.2).
func TestRegistryWithJobCredentials(t *testing.T) {
	srv := forgetest.New(t)
	app, other := srv.AddProject("group/app"), srv.AddProject("group/other", forgetest.Private)
	image := app.AddRegistryRepository("").AddTag("v1", nil).AddTag("v2", nil)
	kept := other.AddRegistryRepository("").AddTag("v1", nil)
	token := app.AddJobToken(srv.Root())
	client := srv.Client(forge.WithJobToken(token), forge.WithRegistryCredentials("ci-job", token), forge.WithVocabulary(forge.GitLab))
	require.NoError(t, client.RegistryNative.DeleteManifest(t.Context(), "group/app", "v1", nil))
	assert.Equal(t, []string{"v2"}, image.Tags())
	require.Error(t, client.RegistryNative.DeleteManifest(t.Context(), "group/other", "v1", nil))
	assert.Equal(t, []string{"v1"}, kept.Tags())
	basic := 0
	for _, r := range srv.Requests() {
		name, password, found := (&http.Request{Header: r.Header}).BasicAuth()
		if found {
			basic++
			assert.Equal(t, []string{"GET /jwt/auth", "ci-job", token}, []string{r.Route, name, password})
		}
	}
	assert.Equal(t, 2, basic, "a registry token for each image")
	wrong := srv.Client(forge.WithRegistryCredentials("ci-job", token+"x"))
	require.ErrorIs(t, wrong.RegistryNative.DeleteTagReference(t.Context(), "group/app", "v2"), forge.ErrUnauthorized) //nolint:staticcheck // what is deprecated is tested, too
}

// Retries in a test have short waits, unless the test sets the default policy.
func TestClientRetriesSoon(t *testing.T) {
	srv := forgetest.New(t)
	srv.Fail("GET /user", forgetest.Status(502).Times(3))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var waits []time.Duration
	_, err := srv.Client(forge.WithOnAttempt(func(_ context.Context, a forge.Attempt) { waits = append(waits, a.WaitAfter) })).Users.GetCurrent(ctx, nil)
	require.NoError(t, err)
	require.Len(t, waits, 4)
	assert.LessOrEqual(t, slices.Max(waits), 2*time.Millisecond)
	assert.Positive(t, slices.Min(waits[:3]))

	srv.Fail("GET /user", forgetest.Status(502))
	patient := srv.Client(forge.WithRetry(forge.RetryPolicy{}), forge.WithOnAttempt(func(_ context.Context, a forge.Attempt) {
		assert.GreaterOrEqual(t, a.WaitAfter, 250*time.Millisecond)
		cancel()
	}))
	_, err = patient.Users.GetCurrent(ctx, nil)
	require.ErrorIs(t, err, context.Canceled)
}

// Clients of a server with GitLab's terms use these terms too; with an empty vocabulary they use
// the neutral terms.
func TestClientsUseTheServersVocabulary(t *testing.T) {
	srv, ctx := forgetest.New(t, forgetest.WithGitLabVocabulary()), t.Context()
	settings, err := srv.Client().Settings.Update(ctx, &forge.UpdateSettingsOptions{AssistantFeaturesEnabled: new(true)})
	require.NoError(t, err)
	require.NotNil(t, settings)
	assert.Contains(t, string(srv.Requests()[0].Body), `"duo_features_enabled":true`)
	_, err = srv.Client(forge.WithVocabulary("")).Settings.Get(ctx)
	assert.ErrorContains(t, err, "WithVocabulary(forge.GitLab)")
}

// Documents accept the client's types: dates, and types of strings.
func TestDocumentOfClientTypes(t *testing.T) {
	d := forgetest.NewDocument("Issue").Set("due_date", forge.NewDate(2026, 3, 1)).Set("state", forge.IssueStateClosed)
	assert.Equal(t, []any{time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), "closed"}, []any{d.Get("due_date"), d.Get("state")})
	assert.Panics(t, func() { d.Set("title", forge.NewDate(2026, 3, 1)) })
}

// TestFIPSOnly runs the client and the server in a process that allows approved cryptography only.
// Anything else panics there.
func TestFIPSOnly(t *testing.T) {
	if !fips140.Enforced() {
		child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestFIPSOnly$", "-test.v", "-test.count=1")
		child.Env = append(os.Environ(), "GODEBUG=fips140=only")
		out, err := child.CombinedOutput()
		require.NoError(t, err, "%s", out)
		assert.Contains(t, string(out), "--- PASS: TestFIPSOnly/OAuth", "the child has run the test")
		return
	}
	srv := forgetest.New(t, forgetest.WithTLS(), forgetest.WithDemo(), forgetest.WithGitLabVocabulary())
	client := srv.Client()
	t.Cleanup(client.CloseIdleConnections)
	t.Run("git", func(t *testing.T) { useGit(t, client) })
	t.Run("lists, files and the registry", func(t *testing.T) { useFiles(t, srv, client) })
	t.Run("OAuth", func(t *testing.T) { useOAuth(t, srv) })
}

// useGit reads the demo data's repository.
func useGit(t *testing.T, client *forge.Client) {
	project, ctx := forge.Path("acme/platform/gateway"), t.Context()
	tree, err := forge.Collect(client.Repositories.ListTree(ctx, project, nil))
	require.NoError(t, err)
	require.NotEmpty(t, tree)
	assert.Len(t, tree[0].ID, 40)
	archive, err := client.Repositories.Archive(ctx, project, nil)
	require.NoError(t, err)
	_, err = io.Copy(io.Discard, archive)
	require.NoError(t, errors.Join(err, archive.Close()))
}

// useFiles uses checksums, cursors, random names and signed registry tokens.
func useFiles(t *testing.T, srv *forgetest.Server, client *forge.Client) {
	project, ctx := forge.Path("acme/storefront"), t.Context()
	content := []byte("a secret")
	file, err := client.SecureFiles.Upload(ctx, project, &forge.UploadSecureFileOptions{Name: "key.jks", File: forge.FileBytes(content)})
	require.NoError(t, err)
	sum := sha256.Sum256(content)
	assert.Equal(t, hex.EncodeToString(sum[:]), file.Checksum)
	download, err := client.SecureFiles.Download(ctx, project, file)
	require.NoError(t, err)
	saved := t.TempDir() + "/key.jks"
	require.NoError(t, download.SaveTo(saved))
	read, err := os.ReadFile(saved)
	require.NoError(t, err)
	assert.True(t, bytes.Equal(content, read))

	_, err = forge.Collect(client.RegistryNative.ListCatalog(ctx))
	require.NoError(t, err)
	image := srv.AddProject("acme/new").AddRegistryRepository("").AddTag("v1", nil)
	require.NoError(t, client.RegistryNative.DeleteManifest(ctx, image.Path, "v1", nil))
}

// useOAuth refreshes a token.
func useOAuth(t *testing.T, srv *forgetest.Server) {
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"access_token": "`+srv.Token+`", "token_type": "Bearer", "refresh_token": "next"}`)
	}))
	t.Cleanup(endpoint.Close)
	config := &oauth2.Config{ClientID: "id", Endpoint: oauth2.Endpoint{TokenURL: endpoint.URL}}
	client := srv.Client(forge.WithOAuth(config, &oauth2.Token{AccessToken: "old", RefreshToken: "refresh", Expiry: time.Now().Add(-time.Hour)}))
	t.Cleanup(client.CloseIdleConnections)
	user, err := client.Users.GetCurrent(t.Context(), nil)
	require.NoError(t, err)
	assert.Equal(t, "root", user.Username)
}
