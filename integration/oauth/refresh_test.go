package oauth

import (
	"bytes"
	"net/url"
	"sync"
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

// All calls share one refresh, both for an expired and for a refused token.
func TestOneRefreshForMany(t *testing.T) {
	for name, expire := range map[string]func(*platform, *xoauth2.Token){
		"expired": func(_ *platform, token *xoauth2.Token) { token.Expiry = time.Now().Add(-time.Minute) },
		"revoked": func(p *platform, token *xoauth2.Token) { p.revoke(t, token) },
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlatform(t, time.Hour)
			token := p.issue(t)
			expire(p, token)
			client := p.connect(t, forge.WithOAuth(p.config(), token))
			var all sync.WaitGroup
			for range 50 {
				all.Go(func() { assert.NoError(t, spend(t, client)) })
			}
			all.Wait()
			assert.Len(t, p.asked.requests(), 1)
			p.srv.AssertAppliedCount(t, addSpent, 50)
		})
	}
}

// A session that has ended on the server is an error that states this. There are no endless
// retries.
func TestRefreshTokenRevoked(t *testing.T) {
	p := newPlatform(t, time.Hour)
	token := p.issue(t)
	p.revoke(t, token)
	require.NoError(t, p.manager.RemoveRefreshToken(t.Context(), token.RefreshToken))
	err := spend(t, p.connect(t, forge.WithOAuth(p.config(), token)))
	require.ErrorIs(t, err, forge.ErrUnauthorized)
	require.ErrorIs(t, err, forge.ErrNoCredential)
	assert.ErrorContains(t, err, "the token endpoint responded with 401 invalid_grant")
	requireNoSecret(t, err, token)
	assert.Len(t, p.called.requests(), 1)
	assert.Len(t, p.asked.requests(), 1)
	p.srv.AssertNoRequest(t)
}
