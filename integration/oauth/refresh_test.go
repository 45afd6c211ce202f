package oauth

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	xoauth2 "golang.org/x/oauth2"

	"github.com/forge-sdk/forge-go"
)

// Every token counts as expired when it is issued, and each refresh replaces the refresh token.
// WithOnRefresh receives each refresh token once, in order, and each is used once.
func TestRotation(t *testing.T) {
	p := newPlatform(t, 5*time.Second) // x/oauth2 treats a token as expired 10 s early
	first := p.issue(t)
	first.Expiry = time.Now().Add(-time.Minute)
	expected := []string{first.RefreshToken}
	client := p.connect(t, forge.WithOAuth(p.config(), first), forge.WithOnRefresh(func(fresh *xoauth2.Token) {
		expected = append(expected, fresh.RefreshToken)
	}))
	const calls = 20
	for range calls {
		require.NoError(t, spend(t, client))
	}
	p.srv.AssertAppliedCount(t, addSpent, calls)
	require.Len(t, expected, 1+calls)
	asked := p.asked.requests()
	require.Len(t, asked, calls)
	for i, request := range asked {
		form, err := url.ParseQuery(request.body)
		require.NoError(t, err)
		assert.Equal(t, expected[i], form.Get("refresh_token"))
		assert.NotEqual(t, expected[i], expected[i+1])
	}
}

// A token is revoked while the client considers it valid. There is one refresh, and the call is
// sent again once with the same body, also a call of class non-idempotent. The write is executed
// once.
func TestRevoked(t *testing.T) {
	for _, test := range []struct {
		name, route string
		call        func(*testing.T, *forge.Client) error
	}{
		{"JSON", addSpent, spend},
		{"upload", uploads, func(t *testing.T, c *forge.Client) error {
			file := forge.FileBytes(bytes.Repeat([]byte("key "), 50_000))
			_, err := c.SecureFiles.Upload(t.Context(), app, &forge.UploadSecureFileOptions{Name: "key", File: file})
			return err
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := newPlatform(t, time.Hour)
			token := p.issue(t)
			client := p.connect(t, forge.WithOAuth(p.config(), token))
			p.revoke(t, token)
			require.NoError(t, test.call(t, client))
			p.srv.AssertAppliedCount(t, test.route, 1)
			p.srv.AssertRequestCount(t, test.route, 1)
			called := p.called.requests()
			require.Len(t, called, 2)
			assert.NotEmpty(t, called[0].body)
			assert.Equal(t, called[0].body, called[1].body)
			assert.NotEqual(t, called[0].header["Authorization"], called[1].header["Authorization"])
			assert.Len(t, p.asked.requests(), 1)
		})
	}
}

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

// The sources of x/oauth2 work unchanged, and the texts of their errors, which contain the whole
// response, are not passed on.
func TestSourceOfXOAuth2(t *testing.T) {
	p := newPlatform(t, time.Hour)
	token := p.issue(t)
	token.Expiry = time.Now().Add(-time.Minute)
	require.NoError(t, spend(t, p.connect(t, forge.WithTokenSource(p.config().TokenSource(t.Context(), token)))))

	// The refresh token was replaced, so that it is refused now.
	err := spend(t, p.connect(t, forge.WithTokenSource(p.config().TokenSource(t.Context(), token))))
	require.ErrorIs(t, err, forge.ErrNoCredential)
	requireNoSecret(t, err, token)
	var quoted *xoauth2.RetrieveError
	assert.NotErrorAs(t, err, &quoted)
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
