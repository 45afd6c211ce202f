package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gopkg.in/dnaeon/go-vcr.v4/pkg/cassette"

	forge "github.com/forge-sdk/forge-go"
)

const form, jsonType = "application/x-www-form-urlencoded", "application/json"

// secretPlaces are requests with %s where a secret is, and the responses to them. A secret of a
// request is another one when the request is replayed.
var secretPlaces = []struct {
	name, method, path, contentType, body string
	status                                int
	header, response                      string // header is "Name: value"
}{
	{"query", "GET", "/q?private_token=%s&page=2&user%5Bpassword%5D=%s", "", "", 200, "Link: <https://h/q?job_token=%s&page=3>; rel=\"next\"", "{}"},
	{"form", "POST", "/form", form, "name=x&user[password]=%s&client_secret=%s&code=%s", 201, "Set-Cookie: session=%s", "access_token=%s&scope=api"},
	{"the token endpoint", "POST", "/oauth/token", form, "grant_type=refresh_token&refresh_token=%s&client_id=1&client_secret=%s", 200,
		"", `{"access_token":"%s","refresh_token":"%s","id_token":"%s","token_type":"Bearer","expires_in":7200}`},
	{"JSON", "PUT", "/json", jsonType, `{"a":[{"b":{"api_key":"%s"}}],"tokens":["%s",{"x":"%s"}],"pass\u0077ord":"%s","n":12345678901234567890}`, 200,
		"Etag: \"1\"", `{"note":"https://u:%s@h/x?access_token=%s","inner":"{\"password\":\"%s\"}","list":[[{"runners_token":"%s"}]]}`},
	{"lines of JSON", "POST", "/lines", "application/x-ndjson", "{\"id\":1,\"token\":\"%s\"}\n{\"id\":2,\"token\":\"%s\"}\n", 200, "", "{\"id\":1,\"token\":\"%s\"}\n{\"id\":2}\n"},
	{"a redirect", "GET", "/from?sig=%s", "", "", 302, "Location: /to?X-Amz-Signature=%s&id=7", ""},
	{"after a redirect", "GET", "/to?X-Amz-Signature=%s&id=7", "", "", 200, "", "content"},
	{"text", "POST", "/text", "text/plain", "curl https://h/x?private_token=%s -d password=%s", 200, "", "export CI_TOKEN=%s\n"},
	{"the client's token", "GET", "/note", "", "", 200, "", `{"note":"glpat-s3cret-of-the-client","bio":"\u0067lpat-s3cret-of-the-client"}`},
}

// secretRequest returns a request of the table with secrets of its own.
func secretRequest(t *testing.T, base, secret string, at int) *http.Request {
	t.Helper()
	row := secretPlaces[at]
	fill := func(text string) string { return strings.ReplaceAll(text, "%s", secret) }
	r, err := http.NewRequestWithContext(t.Context(), row.method, base+fill(row.path), strings.NewReader(fill(row.body)))
	require.NoError(t, err)
	r.Header.Set("Content-Type", row.contentType)
	for _, header := range []string{"Authorization", "Cookie", "Job-Token", "X-Own-Header"} {
		r.Header.Set(header, secret)
	}
	return r
}

// TestNoSecretIsRecorded plants a secret in every place of requests and responses: none is in the
// file, and requests with other secrets get the recorded responses.
func TestNoSecretIsRecorded(t *testing.T) {
	at := 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		row := secretPlaces[at]
		if name, value, found := strings.Cut(row.header, ": "); found {
			w.Header().Set(name, strings.ReplaceAll(value, "%s", "server-s3cret"))
		}
		w.WriteHeader(row.status)
		_, _ = io.WriteString(w, strings.ReplaceAll(row.response, "%s", "server-s3cret"))
	}))
	t.Cleanup(srv.Close)
	client, err := forge.NewClient(srv.URL, forge.WithToken("glpat-s3cret-of-the-client"))
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "cassette")
	live, err := newRecorder(path, client, http.DefaultTransport)
	require.NoError(t, err)
	for at = range secretPlaces {
		resp, err := live.RoundTrip(secretRequest(t, srv.URL, "recorded-s3cret", at))
		require.NoError(t, err)
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		assert.Equal(t, strings.ReplaceAll(secretPlaces[at].response, "%s", "server-s3cret"), string(body), "what the program sees")
	}
	require.NoError(t, live.Stop())
	content, err := os.ReadFile(path + ".yaml")
	require.NoError(t, err)
	assert.NotContains(t, string(content), "s3cret")
	assert.NotContains(t, string(content), strings.TrimPrefix(srv.URL, "http://"))

	client, err = forge.NewClient(exampleURL, forge.WithToken("not-a-token"))
	require.NoError(t, err)
	again, err := newRecorder(path, client, nil)
	require.NoError(t, err)
	for at, row := range secretPlaces {
		resp, err := again.RoundTrip(secretRequest(t, exampleURL, "replayed-s3cret", at))
		require.NoError(t, err, row.name)
		assert.Equal(t, row.status, resp.StatusCode, row.name)
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		if !strings.HasPrefix(row.response, `{"note"`) { // its names are in another order
			assert.Equal(t, strings.Count(row.response, "%s"), strings.Count(string(body), redacted), "%s: %s", row.name, body)
		}
	}
	require.NoError(t, again.Stop())
	require.Error(t, newScrubber(client).exchange(&cassette.Interaction{Request: cassette.Request{Headers: http.Header{"Content-Type": {"multipart/form-data; boundary=b"}}}}))
}

// TestPublicNames: names that only look like those of secrets stay, and JSON without secrets stays as
// it is.
func TestPublicNames(t *testing.T) {
	client, err := forge.NewClient(exampleURL, forge.WithToken("not-a-token"))
	require.NoError(t, err)
	scrub := newScrubber(client)
	for _, text := range []string{
		"https://h/tree?page_token=abc&pagination=keyset", `{"token_expires_at":"2026-01-02", "b": 1, "a":"<1&2>"}`,
		`{"password_authentication_enabled_for_web":true,"container_registry_token_expire_delay":5}`, "[1, 2", "name=x&state=closed",
	} {
		assert.Equal(t, text, scrub.text(text))
	}
}
