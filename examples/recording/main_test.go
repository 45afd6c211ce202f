package main

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gopkg.in/dnaeon/go-vcr.v4/pkg/cassette"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/forgetest"
)

// TestTriage is what a test with a recording looks like.
func TestTriage(t *testing.T) {
	client, stop, err := replay("testdata/triage")
	require.NoError(t, err)
	var out strings.Builder
	require.NoError(t, triage(t.Context(), client, &out))
	require.NoError(t, stop())
	assert.Contains(t, out.String(), "Root has 14 bugs to give away")
	assert.Contains(t, out.String(), "acme/billing-api#13: subscribed is now false")
}

// TestRoundTrip records a server that is gone when the recording is replayed.
func TestRoundTrip(t *testing.T) {
	srv := forgetest.New(t)
	t.Setenv("FORGE_URL", srv.URL)
	t.Setenv("FORGE_TOKEN", srv.Token)
	srv.AddProject("acme/app").AddIssues(12, func(_ int, issue *forgetest.Document) { issue.Set("labels", []string{"bug"}) })
	srv.Fail("GET /issues", forgetest.Status(502).Times(1))
	path := filepath.Join(t.TempDir(), "cassette")
	var recorded, replayed strings.Builder
	require.NoError(t, run(t.Context(), []string{"-record", "-cassette", path}, nil, &recorded))
	assert.Contains(t, recorded.String(), "Root has 12 bugs")
	_, recordedText, _ := strings.Cut(recorded.String(), "\n\n")
	sent := srv.CountRequests("*")
	srv.Close()

	require.NoError(t, run(t.Context(), []string{"-cassette", path}, nil, &replayed))
	assert.Equal(t, recordedText, replayed.String())
	assert.Equal(t, 7, sent, "user, three pages of which one twice, and two writes")
	content, err := os.ReadFile(path + ".yaml")
	require.NoError(t, err)
	assert.Equal(t, sent, strings.Count(string(content), "- id: "), "one exchange for each request")
	assert.NotContains(t, string(content), srv.Token)
	assert.NotContains(t, string(content), strings.TrimPrefix(srv.URL, "http://"))
	assert.NotContains(t, strings.ToLower(string(content)), "private-token")
}

// TestFile: a recording is for its owner only until somebody has read it, and is replaced as a
// whole.
func TestFile(t *testing.T) {
	srv := forgetest.New(t)
	t.Setenv("FORGE_URL", srv.URL)
	t.Setenv("FORGE_TOKEN", srv.Token)
	path := filepath.Join(t.TempDir(), "new", "cassette")
	for range 2 {
		require.NoError(t, run(t.Context(), []string{"-record", "-cassette", path}, nil, io.Discard))
		info, err := os.Stat(path + ".yaml")
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o600), info.Mode())
	}
}

// TestScrub: no secret is in the cassette, wherever it was; and the program that is recorded sees
// the answers as they were.
func TestScrub(t *testing.T) {
	srv := forgetest.New(t, forgetest.WithToken("glpat-0123456789"))
	spelled := `\u0067lpat-0123456789` // as JSON may write it
	body := `{"id": 1, "username": "root", "note": "` + srv.Token + `", "bio": "` + spelled + `", "feed_token": "feed\"s3cret", "Password":"hunter2"}`
	srv.Fail("GET /user", forgetest.Respond(200, "application/json", body))
	cookies := roundTripper(func(r *http.Request) (*http.Response, error) {
		answer, err := http.DefaultTransport.RoundTrip(r)
		if err == nil {
			answer.Header.Set("Set-Cookie", "_session=c00kie")
			answer.Header.Set("Link", `<`+srv.URL+`/api/v4/user?private_token=`+srv.Token+`>; rel="self"`)
		}
		return answer, err
	})
	path := filepath.Join(t.TempDir(), "cassette")
	recorder, err := newRecorder(path, srv.Client(), cookies)
	require.NoError(t, err)
	client := srv.Client(forge.WithHTTPClient(&http.Client{Transport: recorder}))
	user, err := client.Users.GetCurrent(t.Context(), nil)
	require.NoError(t, err)
	assert.Equal(t, srv.Token, user.Note)
	require.NoError(t, recorder.Stop())

	content, err := os.ReadFile(path + ".yaml")
	require.NoError(t, err)
	for _, secret := range []string{srv.Token, srv.Token[1:], "s3cret", "hunter2", "c00kie", "127.0.0.1"} {
		assert.NotContains(t, string(content), secret)
	}
	assert.Contains(t, string(content), "private_token=[redacted]")

	again, stop, err := replay(path)
	require.NoError(t, err)
	user, err = again.Users.GetCurrent(t.Context(), nil)
	require.NoError(t, err)
	assert.Equal(t, "[redacted]", user.Note)
	require.NoError(t, stop())
}

// TestDownload: what is no text is replayed byte for byte.
func TestDownload(t *testing.T) {
	srv := forgetest.New(t)
	content := strings.Repeat("\x00\xff\n line\r\n\t ", 1000)
	app := srv.AddProject("acme/app")
	app.AddFiles(map[string]string{"a.bin": content})
	var entry *forge.TreeEntry
	for e, err := range srv.Client().Repositories.ListTree(t.Context(), forge.ID(app.ID), nil) {
		require.NoError(t, err)
		entry = e
	}
	path := filepath.Join(t.TempDir(), "cassette")
	live, stopLive, err := recordFrom(srv.Client(), path)
	require.NoError(t, err)
	download := func(client *forge.Client) []byte {
		blob, err := client.Repositories.DownloadBlob(t.Context(), forge.ID(app.ID), entry.ID)
		require.NoError(t, err)
		file := filepath.Join(t.TempDir(), "blob")
		require.NoError(t, blob.SaveTo(file))
		got, err := os.ReadFile(file)
		require.NoError(t, err)
		return got
	}
	assert.Equal(t, content, string(download(live)))
	require.NoError(t, stopLive())
	again, stop, err := replay(path)
	require.NoError(t, err)
	assert.Equal(t, content, string(download(again)))
	require.NoError(t, stop())
}

// TestUnrecorded: what a user meets when the program has changed since.
func TestUnrecorded(t *testing.T) {
	_, _, err := replay(filepath.Join(t.TempDir(), "nothing"))
	require.ErrorIs(t, err, cassette.ErrCassetteNotFound)

	client, _, err := replay("testdata/triage")
	require.NoError(t, err)
	_, err = client.Users.Get(t.Context(), 7, nil)
	require.ErrorIs(t, err, cassette.ErrInteractionNotFound)
	var failed *forge.Error
	require.ErrorAs(t, err, &failed)
	assert.Equal(t, "/users/:id", failed.Route)
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
