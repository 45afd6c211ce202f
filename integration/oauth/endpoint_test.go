package oauth

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	xoauth2 "golang.org/x/oauth2"

	"github.com/forge-sdk/forge-go"
)

// requireNoSecret checks an error and all errors that it wraps, in every printed form.
func requireNoSecret(t *testing.T, err error, token *xoauth2.Token) {
	t.Helper()
	if err == nil {
		return
	}
	encoded, _ := json.Marshal(err)
	text := fmt.Sprintf("%s %v %+v %#v %q %s", err, err, err, err, err, encoded)
	for _, secret := range []string{clientSecret, token.AccessToken, token.RefreshToken} {
		require.NotContains(t, text, secret)
	}
	switch e := err.(type) { //nolint:errorlint // each error of the tree is looked at by itself
	case interface{ Unwrap() error }:
		requireNoSecret(t, e.Unwrap(), token)
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			requireNoSecret(t, inner, token)
		}
	}
}

// say responds with a body that contains every secret that the client has sent.
func say(status int, contentType, format string) fault {
	return func(w http.ResponseWriter, r *http.Request) bool {
		_ = r.ParseForm()
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		fmt.Fprintf(w, format, r.PostForm.Get("client_secret")+" "+r.PostForm.Get("refresh_token"))
		return true
	}
}

// If a token endpoint fails, the error names the cause and contains no part of the response. The
// request is retried only if a retry can succeed. The API is not called with an expired token.
func TestTokenEndpointFails(t *testing.T) {
	const kind = "application/json"
	for _, test := range []struct {
		name  string
		fault fault
		says  string
		asked int
	}{
		{"500", say(500, kind, `{"error":"%s"}`), "responded with 500", 4},
		{"503 in HTML", say(503, "text/html", "<html>%s</html>"), "responded with 503", 4},
		{"invalid_grant", say(400, kind, `{"error":"invalid_grant","error_description":"%s"}`), "responded with 400 invalid_grant", 1},
		{"401", say(401, kind, `{"error":"invalid_client","x":"%s"}`), "responded with 401 invalid_client", 1},
		{"a secret as the code", say(400, kind, `{"error":"%s"}`), "responded with 400", 1},
		{"a page", say(200, "text/html", "<html><title>Sign in</title>%s</html>"), "no usable token", 1},
		{"garbage", say(200, kind, `{"access_token": %s`), "no usable token", 1},
		{"no token", say(200, kind, `{"message":"%s"}`), "no usable token", 1},
		{"an illegal token", say(200, kind, `{"access_token":"a b %s"}`), "illegal bytes", 1},
		{"gone", func(http.ResponseWriter, *http.Request) bool { panic(http.ErrAbortHandler) }, "obtaining a token failed", 4},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := newPlatform(t, time.Hour)
			p.fail(test.fault)
			token := p.issue(t)
			token.Expiry = time.Now().Add(-time.Minute)
			client := p.connect(t, forge.WithOAuth(p.config(), token))
			err := spend(t, client)
			require.ErrorIs(t, err, forge.ErrNoCredential)
			var failed *forge.Error
			require.ErrorAs(t, err, &failed)
			assert.False(t, failed.MaybeApplied)
			assert.ErrorContains(t, err, test.says)
			requireNoSecret(t, err, token)
			assert.Len(t, p.asked.requests(), test.asked)
			assert.Empty(t, p.called.requests())

			if !strings.Contains(test.name, "illegal") {
				p.fail(nil)
				require.NoError(t, spend(t, client), "the refresh token is not lost")
			}
		})
	}
}

// If a token endpoint hangs, each caller waits only until its own deadline. The exchange continues,
// so that the new refresh token is not lost, and later callers use its result.
func TestTokenEndpointHangs(t *testing.T) {
	p := newPlatform(t, time.Hour)
	release := make(chan struct{})
	p.fail(func(http.ResponseWriter, *http.Request) bool {
		<-release
		return false
	})
	token := p.issue(t)
	token.Expiry = time.Now().Add(-time.Minute)
	saved := make(chan *xoauth2.Token, 2)
	client := p.connect(t, forge.WithOAuth(p.config(), token), forge.WithOnRefresh(func(fresh *xoauth2.Token) { saved <- fresh }))
	// Both calls return while the endpoint still hangs; otherwise the test would not continue.
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := client.Issues.GetTimeStats(ctx, app, 1)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	ctx, cancel = context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	_, err = client.Issues.GetTimeStats(ctx, app, 1)
	require.ErrorIs(t, err, context.Canceled)
	requireNoSecret(t, err, token)
	assert.Empty(t, p.called.requests())

	close(release)
	require.NoError(t, spend(t, client))
	assert.NotEqual(t, token.RefreshToken, (<-saved).RefreshToken)
	assert.Empty(t, saved)
	assert.Len(t, p.asked.requests(), 1)
}

// A redirect of a token endpoint is not followed, since the client secret and the refresh token
// would be sent to its target.
func TestTokenEndpointRedirects(t *testing.T) {
	for _, status := range []int{301, 302, 303, 307, 308} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			var away recorder
			thief := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { away.record(r) }))
			t.Cleanup(thief.Close)
			p := newPlatform(t, time.Hour)
			p.fail(func(w http.ResponseWriter, r *http.Request) bool {
				http.Redirect(w, r, thief.URL, status)
				return true
			})
			token := p.issue(t)
			token.Expiry = time.Now().Add(-time.Minute)
			err := spend(t, p.connect(t, forge.WithOAuth(p.config(), token)))
			require.ErrorIs(t, err, forge.ErrNoCredential)
			assert.ErrorContains(t, err, fmt.Sprint("responded with ", status))
			assert.Empty(t, away.requests())
			assert.Len(t, p.asked.requests(), 1)
		})
	}
}

// The access token is sent only to the API, the refresh token and the client secret only to the
// token endpoint.
func TestTokensStayAtOrigin(t *testing.T) {
	p := newPlatform(t, time.Hour)
	token := p.issue(t)
	secrets := []*xoauth2.Token{token}
	client := p.connect(t, forge.WithOAuth(p.config(), token), forge.WithOnRefresh(func(fresh *xoauth2.Token) { secrets = append(secrets, fresh) }))
	p.revoke(t, token)
	require.NoError(t, spend(t, client))
	require.Len(t, secrets, 2)
	api, tokens := fmt.Sprint(p.called.requests()), fmt.Sprint(p.asked.requests())
	for _, secret := range secrets {
		assert.Contains(t, api, secret.AccessToken)
		assert.NotContains(t, api, secret.RefreshToken)
		assert.NotContains(t, tokens, secret.AccessToken)
	}
	assert.NotContains(t, api, clientSecret)
	assert.Contains(t, tokens, token.RefreshToken)
	assert.Contains(t, tokens, clientSecret)
}
