package contracttest_test

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"os"
	osexec "os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/internal/contracttest/cases"
)

// The curl command of a planned call sends the same request as the client, for every documented
// endpoint with all its parameters. The commands run in a real shell.
func TestCurlSendsTheSame(t *testing.T) {
	if _, err := osexec.LookPath("curl"); err != nil {
		t.Skip("there is no curl here")
	}
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a file.p12"), []byte(cases.Content), 0o600))
	server := newContractServer(t)
	curl := func(plan forge.PlannedRequest) {
		line := "curl --disable --silent --show-error --noproxy '*' " + strings.TrimPrefix(plan.Curl(), "curl ")
		cmd := osexec.CommandContext(t.Context(), "sh", "-c", line)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "FORGE_TOKEN="+cases.Token, "REGISTRY_TOKEN="+cases.Token, "REGISTRY_USER="+cases.User, "REGISTRY_PASSWORD=password")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s\n%s", line, out)
	}
	compared := 0
	for _, c := range conformanceCases(t) {
		client := server.begin(t, c.Endpoint)
		call := c.calls(t, 0)[0]
		in, _ := c.Arguments(t, client, call.Filled)
		in = append(in, reflect.ValueOf(forge.SkipValidation()), reflect.ValueOf(forge.Header("X-Note", "it's \"$HOME\" `x` \\ !")))
		require.NoError(t, cases.Consume(c.Method.Call(in)), c.Name)
		want := server.end()[0]
		server.begin(t, c.Endpoint).CloseIdleConnections()
		client.CloseIdleConnections()
		var plan forge.PlannedRequest
		require.ErrorIs(t, cases.Consume(c.Method.Call(append(in, reflect.ValueOf(forge.DryRun(&plan))))), forge.ErrDryRun)
		require.Empty(t, server.end(), c.Name)
		curl(plan)
		require.Len(t, server.end(), 1, c.Name)
		got := server.end()[0]
		assert.Equal(t, want.header.Get("X-Note"), got.header.Get("X-Note"))
		assert.Equal(t, alike(t, want), alike(t, got), c.Name)
		compared++
	}
	assert.GreaterOrEqual(t, compared, 94)
	t.Logf("%d requests of curl are those of the client", compared)
}

// alike returns a request with the parts of a multipart body instead of its bytes, which contain a
// random boundary.
func alike(t *testing.T, r *contractRequest) map[string]any {
	t.Helper()
	seen := map[string]any{"method": r.method, "path": r.path, "query": r.query, "headers": r.headers(), "body": string(r.body)}
	media, params, _ := mime.ParseMediaType(r.header.Get("Content-Type"))
	if media != "multipart/form-data" {
		return seen
	}
	parts := map[string]string{}
	for body := multipart.NewReader(bytes.NewReader(r.body), params["boundary"]); ; {
		part, err := body.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		content, err := io.ReadAll(part)
		require.NoError(t, err)
		parts[part.FormName()+" "+part.FileName()] = string(content)
	}
	seen["body"] = parts
	seen["headers"].(map[string]string)["Content-Type"] = media
	return seen
}
