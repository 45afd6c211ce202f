package main

import (
	"context"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/examples/internal/demotest"
)

// inEmptyFolders makes the working directory and the temporary directory empty folders, and checks
// at the end of the test that they are still empty.
func inEmptyFolders(t *testing.T) {
	t.Helper()
	folders := []string{t.TempDir(), t.TempDir()}
	t.Chdir(folders[0])
	t.Setenv("TMPDIR", folders[1])
	t.Cleanup(func() {
		for _, folder := range folders {
			entries, err := os.ReadDir(folder)
			assert.NoError(t, err)
			assert.Empty(t, entries, folder)
		}
	})
}

// TestEmbedded runs the program against the embedded server, and reads its lines as a user does.
func TestEmbedded(t *testing.T) {
	defer goleak.VerifyNone(t)
	inEmptyFolders(t)
	t.Setenv("FORGE_URL", "")
	var out strings.Builder
	require.NoError(t, run(t.Context(), &out))
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
	lines := strings.Split(out.String(), "\n")
	assert.LessOrEqual(t, len(lines), 25, "one screen")
	for _, line := range lines {
		assert.LessOrEqual(t, len(line), 100, line)
	}
	assert.NotContains(t, out.String(), "\x1b", "there are no colours, so that NO_COLOR needs no support")
}

// TestRealServer: a server that the environment names is read, and nothing else.
func TestRealServer(t *testing.T) {
	for project, want := range map[string]string{
		"acme/platform/gateway": "Archive  gateway-main-",
		"":                      "Files    none to show in acme/storefront: set FORGE_PROJECT to a project with a repository\n",
	} {
		t.Run("project "+project, func(t *testing.T) {
			inEmptyFolders(t)
			srv := demotest.Server(t)
			t.Setenv("FORGE_PROJECT", project)
			var out strings.Builder
			require.NoError(t, run(t.Context(), &out))
			assert.Contains(t, out.String(), want)
			assert.Contains(t, out.String(), "\nDone. Nothing was changed.")
			assert.NotContains(t, out.String(), "FAULT")
			assert.Zero(t, srv.CountApplied("*"))
			for _, request := range srv.Requests() {
				assert.Equal(t, http.MethodGet, request.Method, request.Path)
			}
		})
	}
	t.Run("wrong project", func(t *testing.T) {
		demotest.Server(t)
		t.Setenv("FORGE_PROJECT", "acme/no-such-project")
		require.ErrorIs(t, run(t.Context(), &strings.Builder{}), forge.ErrNotFound)
	})
}

// TestCanceled: an interrupt ends the program at each of its calls, and leaves nothing behind.
func TestCanceled(t *testing.T) {
	inEmptyFolders(t)
	t.Setenv("FORGE_URL", "")
	ctx, cancel := context.WithCancel(t.Context())
	var out strings.Builder
	cancelAt := writerFunc(func(text []byte) (int, error) {
		if strings.Contains(string(text), "now causes one fault") {
			cancel()
		}
		return out.Write(text)
	})
	require.ErrorIs(t, run(ctx, cancelAt), context.Canceled)
	assert.NotContains(t, out.String(), "Done")
}

// writerFunc is a function as an io.Writer.
type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(text []byte) (int, error) { return f(text) }

func TestCount(t *testing.T) {
	assert.Equal(t, []string{"0 files", "1 file", "2 files"}, []string{count(0, "file"), count(1, "file"), count(2, "file")})
	assert.Equal(t, "b (2), a (1)", mostUsed(map[string]int{"a": 1, "b": 2, "c": 1}, 2))
	assert.Equal(t, "none", mostUsed(nil, 2))
}
