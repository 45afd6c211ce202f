package forgetest_test

import (
	"bytes"
	"crypto/fips140"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/forgetest"
)

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
	contributors, err := forge.Collect(client.Repositories.ListContributors(ctx, project, nil))
	require.NoError(t, err)
	assert.NotEmpty(t, contributors)
	blob := tree[len(tree)-1]
	download, err := client.Repositories.DownloadBlob(ctx, project, blob.ID)
	require.NoError(t, err)
	_, err = io.Copy(io.Discard, download)
	require.NoError(t, errors.Join(err, download.Close()))
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

	var page forge.Response
	issues, err := forge.Collect(client.Issues.List(ctx, &forge.ListIssuesOptions{Scope: forge.ScopeAll}, forge.OnePage(), forge.Into(&page)))
	require.NoError(t, err)
	assert.NotEmpty(t, issues)
	images, err := forge.Collect(client.RegistryNative.ListCatalog(ctx))
	require.NoError(t, err)
	require.NotEmpty(t, images)
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
