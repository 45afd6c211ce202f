package oauth

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	xoauth2 "golang.org/x/oauth2"

	"github.com/forge-sdk/forge-go"
)

type sourceFunc func() (*xoauth2.Token, error)

func (f sourceFunc) Token() (*xoauth2.Token, error) { return f() }

// If the server refuses a token of a source, the source is called again. The call is sent again
// only with another token.
func TestTokenSourceAfterRefusal(t *testing.T) {
	p := newPlatform(t, time.Hour)
	old, fresh := p.issue(t), p.issue(t)
	p.revoke(t, old)
	for _, test := range []struct {
		name   string
		second *xoauth2.Token
		called int
	}{{"another token", fresh, 2}, {"the same token", old, 1}} {
		t.Run(test.name, func(t *testing.T) {
			before, effects := len(p.called.requests()), p.srv.CountApplied(addSpent)
			asked := 0
			client := p.connect(t, forge.WithTokenSource(sourceFunc(func() (*xoauth2.Token, error) {
				if asked++; asked == 1 {
					return old, nil
				}
				return test.second, nil
			})))
			err := spend(t, client)
			assert.Len(t, p.called.requests(), before+test.called)
			if test.called == 2 {
				require.NoError(t, err)
				assert.Equal(t, effects+1, p.srv.CountApplied(addSpent))
				return
			}
			require.ErrorIs(t, err, forge.ErrUnauthorized)
			requireNoSecret(t, err, old)
			assert.Equal(t, 2, asked)
			assert.Equal(t, effects, p.srv.CountApplied(addSpent))
		})
	}
}

// The sources of x/oauth2 work unchanged, and the texts of their errors are not passed on.
func TestSourceOfXOAuth2(t *testing.T) {
	p := newPlatform(t, time.Hour)
	token := p.issue(t)
	token.Expiry = time.Now().Add(-time.Minute)
	require.NoError(t, spend(t, p.connect(t, forge.WithTokenSource(p.config().TokenSource(t.Context(), token)))))

	p.fail(say(400, "application/json", `{"error":"invalid_grant","error_description":"%s"}`))
	err := spend(t, p.connect(t, forge.WithTokenSource(p.config().TokenSource(t.Context(), token))))
	require.ErrorIs(t, err, forge.ErrNoCredential)
	requireNoSecret(t, err, token)
	var quoted *xoauth2.RetrieveError
	assert.NotErrorAs(t, err, &quoted, "the error contains the whole response")
}

// If a source hangs, each caller waits until its own deadline. The source is called once for all of
// them.
func TestSourceHangs(t *testing.T) {
	p := newPlatform(t, time.Hour)
	token := p.issue(t)
	release, asked := make(chan struct{}), make(chan struct{}, 10)
	client := p.connect(t, forge.WithTokenSource(sourceFunc(func() (*xoauth2.Token, error) {
		asked <- struct{}{}
		<-release
		return token, nil
	})))
	for range 3 {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		_, err := client.Issues.GetTimeStats(ctx, app, 1)
		cancel()
		require.ErrorIs(t, err, context.DeadlineExceeded)
	}
	<-asked
	assert.Empty(t, asked)
	close(release)
	require.NoError(t, spend(t, client))
}
