package main

import (
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/forge-sdk/forge-go/examples/internal/demotest"
	"github.com/forge-sdk/forge-go/forgetest"
)

// inEmptyFolder makes the working directory and the temporary directory an empty folder, and checks
// at the end of the test that it is still empty.
func inEmptyFolder(t *testing.T) {
	t.Helper()
	folder := t.TempDir()
	t.Chdir(folder)
	t.Setenv("TMPDIR", folder)
	t.Cleanup(func() {
		entries, err := os.ReadDir(folder)
		assert.NoError(t, err)
		assert.Empty(t, entries)
	})
}

// TestEmbedded runs the program against the embedded server, and reads its lines as a user does.
func TestEmbedded(t *testing.T) {
	defer goleak.VerifyNone(t)
	inEmptyFolder(t)
	t.Setenv("FORGE_URL", "")
	var out strings.Builder
	require.NoError(t, run(t.Context(), nil, nil, &out))
	for _, want := range []string{
		`(?m)^Server   http://\S+/api/v4, embedded, with demo data$`,
		`(?m)^Issues   143 open issues in \S+; the server reports a total of 143; the newest:$`,
		`(?m)^           acme/storefront#76 +Document image zoom$`,
		`(?m)^Labels   bug \(52\), feature \(34\), good first issue \(27\), security \(21\)$`,
		`(?m)^Files    22 files in 12 folders of acme/platform/gateway: .go \(11\), .md \(4\), .sh \(2\)$`,
		`(?m)^Archive  gateway-main-[0-9a-f]{40}\.tar\.gz: \d+ bytes, saved and removed$`,
		`(?m)^502 for page 2 of a list +sent it again, returned 143 issues +4 requests for 3 pages$`,
		`(?m)^response to Subscribe lost +sent it again, which is safe +2 requests, 1 effect$`,
		`(?m)^response to AddSpentTime lost +did not retry, reported MaybeApplied +1 request, 1 effect$`,
		`(?m)^crash in the middle of page 2 +resumed there: 143 issues, each once +4 requests for 3 pages$`,
		`(?m)^archive moved to another host +followed it without the token +other host: 1 request, 0 tokens$`,
		`(?m)^Done\. Set FORGE_URL and FORGE_TOKEN to read a real server\.$`,
	} {
		assert.Regexp(t, want, out.String())
	}
	assert.LessOrEqual(t, strings.Count(out.String(), "\n"), 24, "one screen")
}

// TestRealServer: a server that the environment names is read, and nothing else.
func TestRealServer(t *testing.T) {
	inEmptyFolder(t)
	srv := demotest.Server(t)
	t.Setenv("FORGE_PROJECT", "acme/platform/gateway")
	var out strings.Builder
	require.NoError(t, run(t.Context(), nil, nil, &out))
	assert.Contains(t, out.String(), "Archive  gateway-main-")
	assert.Contains(t, out.String(), "\nDone. Nothing was changed.")
	for _, request := range srv.Requests() {
		assert.Equal(t, http.MethodGet, request.Method, request.Path)
	}
	t.Setenv("FORGE_PROJECT", "") // the project of the newest issue has no files
	require.NoError(t, run(t.Context(), nil, nil, &out))
	assert.Contains(t, out.String(), "Files    none to show in acme/storefront: set FORGE_PROJECT")
}

// TestInterrupted: an interrupt at any request is an error, and leaves no file.
func TestInterrupted(t *testing.T) {
	inEmptyFolder(t)
	demotest.Interrupt(t, run, "Done.", func(t *testing.T) (*forgetest.Server, []string) {
		t.Setenv("FORGE_PROJECT", "acme/platform/gateway")
		return demotest.Server(t), nil
	}, nil)
}
