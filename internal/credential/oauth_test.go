package credential

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"
)

type tokenSource func() (*oauth2.Token, error)

func (s tokenSource) Token() (*oauth2.Token, error) { return s() }

// exchanges returns an exchange that responds to refresh tokens with tokens, and counts its calls.
func exchanges(answers map[string]*oauth2.Token, calls *int) func(context.Context, string) (*oauth2.Token, error) {
	return func(_ context.Context, refreshToken string) (*oauth2.Token, error) {
		*calls++
		if token := answers[refreshToken]; token != nil {
			return token, nil
		}
		return nil, &Error{Reason: "refused"}
	}
}

func authorize(t *testing.T, c Credential) string {
	t.Helper()
	_, value, _, err := c.Authorize(t.Context())
	require.NoError(t, err)
	return value
}

// A token is refreshed after it has expired or was refused, with the latest refresh token. All
// credentials use the new token.
func TestOAuth(t *testing.T) {
	calls := 0
	var saved []string
	o, err := NewOAuth(&oauth2.Token{RefreshToken: "r1"}, func(token *oauth2.Token) { saved = append(saved, token.AccessToken) })
	require.NoError(t, err)
	exchange := exchanges(map[string]*oauth2.Token{
		"r1": {AccessToken: "a1", RefreshToken: "r2"}, "r2": {AccessToken: "a2", RefreshToken: "r3"},
	}, &calls)
	one, two := o.Credential("", exchange), o.Credential("", exchange)
	assert.Equal(t, "Bearer a1", authorize(t, one))
	assert.Equal(t, "Bearer a1", authorize(t, two))
	_, _, sent, err := two.Authorize(t.Context())
	require.NoError(t, err)
	fresh, err := two.Renew(t.Context(), sent)
	require.NoError(t, err)
	assert.True(t, fresh)
	assert.Equal(t, "Bearer a2", authorize(t, one))
	assert.Equal(t, []string{"a1", "a2"}, saved)
	assert.Equal(t, 2, calls)
}

// A refresh token that comes with an unusable token is stored, and used for the next request.
func TestOAuthUnusableToken(t *testing.T) {
	calls := 0
	var saved []*oauth2.Token
	o, err := NewOAuth(&oauth2.Token{RefreshToken: "r1"}, func(token *oauth2.Token) { saved = append(saved, token) })
	require.NoError(t, err)
	exchange := exchanges(map[string]*oauth2.Token{
		"r1": {AccessToken: "a b", RefreshToken: "r2"}, "r2": {AccessToken: "a", RefreshToken: "r2"},
		"r3": {AccessToken: "a b", RefreshToken: "r3"}, "r4": {AccessToken: "a", TokenType: "a b", RefreshToken: "r2"},
	}, &calls)
	c := o.Credential("", exchange)
	err = authorizeError(t, c)
	require.ErrorContains(t, err, "illegal bytes")
	require.Len(t, saved, 1)
	assert.Equal(t, oauth2.Token{RefreshToken: "r2"}, *saved[0])
	assert.Equal(t, "Bearer a", authorize(t, c))

	for refresh, want := range map[string]string{
		"r3": "the token source returned a token that is empty or has illegal bytes", "r4": "the token source returned a token whose type has illegal bytes", "r5": "refused",
	} {
		o, err := NewOAuth(&oauth2.Token{RefreshToken: refresh}, func(*oauth2.Token) {})
		require.NoError(t, err)
		var failed *Error
		require.ErrorAs(t, authorizeError(t, o.Credential("", exchange)), &failed)
		assert.Equal(t, want, failed.Reason)
	}
}

// A token that cannot be refreshed is sent until it expires, also after it was refused.
func TestOAuthWithoutRefreshToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		given := &oauth2.Token{AccessToken: "a", Expiry: time.Now().Add(time.Hour)}
		o, err := NewOAuth(given, nil)
		require.NoError(t, err)
		given.AccessToken = "changed by the caller"
		c := o.Credential("", nil)
		_, value, sent, err := c.Authorize(t.Context())
		require.NoError(t, err)
		assert.Equal(t, "Bearer a", value)
		fresh, err := c.Renew(t.Context(), sent)
		require.NoError(t, err)
		assert.False(t, fresh)
		time.Sleep(2 * time.Hour)
		err = authorizeError(t, c)
		require.ErrorContains(t, err, "has expired and there is no refresh token")
	})
}

// Unusable tokens are refused by NewOAuth.
func TestNewOAuthRefuses(t *testing.T) {
	for text, token := range map[string]*oauth2.Token{
		"the token is empty": {}, "the token has spaces": {AccessToken: "a b", RefreshToken: "r"},
	} {
		_, err := NewOAuth(token, nil)
		require.ErrorContains(t, err, text)
	}
}

// A source is called for each request, and its errors are described.
func TestFromSource(t *testing.T) {
	failure := errors.New("it failed, and says a secret")
	answers := []error{nil, failure, nil}
	calls := 0
	c := FromSource(tokenSource(func() (*oauth2.Token, error) {
		err := answers[calls]
		calls++
		return &oauth2.Token{AccessToken: "a"}, err
	}), func(err error) error {
		assert.Equal(t, failure, err)
		return &Error{Reason: "described"}
	})
	assert.Equal(t, "Bearer a", authorize(t, c))
	err := authorizeError(t, c)
	assert.EqualError(t, err, "described")
	assert.Equal(t, "Bearer a", authorize(t, c))
	assert.Equal(t, 3, calls)
}
