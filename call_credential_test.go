package forge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"
)

// tokenServer is a token endpoint; answer receives the form.
func tokenServer(t *testing.T, answer func(form url.Values, n int) act) (*wire, *oauth2.Config) {
	n := 0
	w := newWire(t, func(s seen) act {
		n++
		form, _ := url.ParseQuery(s.body)
		return answer(form, n)
	})
	return w, &oauth2.Config{ClientID: "id", ClientSecret: secret, Endpoint: oauth2.Endpoint{TokenURL: w.url + "/token", AuthStyle: oauth2.AuthStyleInParams}}
}

func sayToken(access, refresh string) act {
	return sayJSON(fmt.Sprintf(`{"access_token":%q,"refresh_token":%q,"token_type":"bearer","expires_in":7200}`, access, refresh))
}

// guarded is an API that accepts one token.
func guarded(t *testing.T, valid func() string) *wire {
	return newWire(t, func(s seen) act {
		if s.header.Get("Authorization") == "Bearer "+valid() {
			return sayJSON("{}")
		}
		return say(401, `{"error":"invalid_token","error_description":"`+s.header.Get("Authorization")+`"}`, jsonType)
	})
}

func fixed(token string) func() string { return func() string { return token } }

func expired(refresh string) *oauth2.Token {
	return &oauth2.Token{AccessToken: "old", RefreshToken: refresh, Expiry: time.Now().Add(-time.Minute)}
}

// An expired token, or one rejected with a 401, is refreshed once for all waiting goroutines.
func TestOAuthOneRefresh(t *testing.T) {
	for name, token := range map[string]*oauth2.Token{"expired": expired("r1"), "refused": {AccessToken: "old", RefreshToken: "r1"}} {
		t.Run(name, func(t *testing.T) {
			tokens, config := tokenServer(t, func(url.Values, int) act { return sayToken("new", "r2") })
			api := guarded(t, fixed("new"))
			var saved atomic.Int32
			// A request that is sent again with another token does not count for MaxAttempts.
			c := wireClient(t, api.url, WithRetry(RetryPolicy{MaxAttempts: 1}), WithOAuth(config, token), WithOnRefresh(func(got *oauth2.Token) {
				saved.Add(1)
				assert.Equal(t, "r2", got.RefreshToken)
			}))
			var all sync.WaitGroup
			for range 50 {
				all.Go(func() { assert.NoError(t, c.Do(t.Context(), callOf(RetryClassNonIdempotent), nil)) })
			}
			all.Wait()
			assert.Len(t, tokens.seen(), 1)
			assert.EqualValues(t, 1, saved.Load())
		})
	}
}

// A rotated refresh token replaces the old one; without rotation the old one is used again.
func TestOAuthRotation(t *testing.T) {
	valid := ""
	tokens, config := tokenServer(t, func(form url.Values, n int) act {
		assert.Equal(t, []string{"", "r1", "r2", "r2"}[n], form.Get("refresh_token"))
		valid = fmt.Sprint("t", n)
		if n == 1 {
			return sayToken(valid, "r2")
		}
		return sayJSON(fmt.Sprintf(`{"access_token":%q,"token_type":"Bearer"}`, valid))
	})
	api := guarded(t, func() string { return valid })
	c := wireClient(t, api.url, WithOAuth(config, expired("r1")))
	for range 3 {
		require.NoError(t, c.Do(t.Context(), callOf(RetryClassNonIdempotent), nil))
		valid = "revoked"
	}
	assert.Len(t, tokens.seen(), 3)
}

// A 401 causes one refresh and one retry with the same body, on routes of class non-idempotent too.
// A second 401 is final.
func TestOAuthRefused(t *testing.T) {
	tokens, config := tokenServer(t, func(url.Values, int) act { return sayToken(secret, "r2") })
	api := guarded(t, fixed("never"))
	c := wireClient(t, api.url, WithOAuth(config, &oauth2.Token{AccessToken: "old", RefreshToken: "r1"}))
	err := c.Do(t.Context(), callOf(RetryClassNonIdempotent), nil)
	got := api.seen()
	require.Len(t, got, 2)
	assert.Equal(t, got[0].body, got[1].body)
	assert.NotEmpty(t, got[0].body)
	assert.Len(t, tokens.seen(), 1)
	require.ErrorIs(t, err, ErrUnauthorized)
	require.ErrorContains(t, err, "Bearer [redacted]")
	assert.Empty(t, reveals(err))
}

// If the refresh after a 401 fails, the error contains both failures.
func TestOAuthRefusedAndNotRenewed(t *testing.T) {
	_, config := tokenServer(t, func(url.Values, int) act { return say(400, `{"error":"invalid_grant"}`, jsonType) })
	api := guarded(t, fixed("new"))
	c := wireClient(t, api.url, WithOAuth(config, &oauth2.Token{AccessToken: "old", RefreshToken: "r1"}))
	err := c.Do(t.Context(), callOf(RetryClassSafe), nil)
	require.ErrorIs(t, err, ErrUnauthorized)
	require.ErrorIs(t, err, ErrNoCredential)
	assert.Len(t, api.seen(), 1)
	c = wireClient(t, api.url, WithOAuth(config, &oauth2.Token{AccessToken: "old"}))
	require.ErrorIs(t, c.Do(t.Context(), callOf(RetryClassSafe), nil), ErrUnauthorized)
	c = wireClient(t, api.url, WithOAuth(config, expired("")))
	require.ErrorContains(t, c.Do(t.Context(), callOf(RetryClassSafe), nil), "expired and there is no refresh token")
}

// After a 401 the caller's token source is queried again; the call is retried only with another
// token. A source that fails is called again if another request to its token endpoint may succeed.
func TestTokenSource(t *testing.T) {
	type answers = func(n int) (*oauth2.Token, error)
	token := func(texts ...string) answers {
		return func(n int) (*oauth2.Token, error) {
			return &oauth2.Token{AccessToken: texts[min(n, len(texts))-1]}, nil
		}
	}
	fails := func(err error) answers { return func(int) (*oauth2.Token, error) { return nil, err } }
	status := func(code int) answers {
		return fails(&oauth2.RetrieveError{Response: &http.Response{StatusCode: code}, Body: []byte(secret), ErrorDescription: secret})
	}
	for _, test := range []struct {
		name            string
		token           answers
		requests, asked int
		is              error
	}{
		{"other token", token("old", "new"), 2, 3, nil},
		{"same token", token("old"), 1, 2, ErrUnauthorized},
		{"no longer any", func(n int) (*oauth2.Token, error) {
			if n > 1 {
				return nil, errors.New("gone")
			}
			return &oauth2.Token{AccessToken: "old"}, nil
		}, 1, 2, ErrNoCredential},
		{"nil", fails(nil), 0, 1, ErrNoCredential},
		{"empty", token(""), 0, 1, ErrNoCredential},
		{"spaces", token("a b"), 0, 1, ErrNoCredential},
		{"refused without a response", fails(&oauth2.RetrieveError{Body: []byte(secret), ErrorCode: "x"}), 0, 1, ErrNoCredential},
		{"200", status(200), 0, 1, ErrNoCredential},
		{"400", status(400), 0, 1, ErrNoCredential},
		{"401", status(401), 0, 1, ErrNoCredential},
		{"501", status(501), 0, 1, ErrNoCredential},
		{"408", status(408), 0, 4, ErrNoCredential},
		{"425", status(425), 0, 4, ErrNoCredential},
		{"429", status(429), 0, 4, ErrNoCredential},
		{"503", status(503), 0, 4, ErrNoCredential},
		{"525", status(525), 0, 4, ErrNoCredential},
		{"lost", fails(&url.Error{Op: "Post", URL: "https://x/" + secret, Err: io.EOF}), 0, 4, ErrNoCredential},
		{"cut", fails(io.ErrUnexpectedEOF), 0, 4, ErrNoCredential},
		{"no token", fails(errors.New("oauth2: server response missing access_token")), 0, 1, ErrNoCredential},
		{"sealed", fails(errors.New("the vault is sealed")), 0, 1, ErrNoCredential},
	} {
		n := 0
		api := guarded(t, fixed("new"))
		c := wireClient(t, api.url, WithTokenSource(tokenSource(func() (*oauth2.Token, error) {
			n++
			return test.token(n)
		})))
		err := c.Do(t.Context(), callOf(RetryClassNonIdempotent), nil)
		assert.Len(t, api.seen(), test.requests, test.name)
		assert.Equal(t, test.asked, n, test.name)
		require.ErrorIs(t, err, test.is, test.name)
		assert.Empty(t, reveals(err), test.name)
		if end, has := map[string]string{"sealed": ": obtaining a token failed", "refused without a response": "the token endpoint responded with an error"}[test.name]; has {
			assert.True(t, strings.HasSuffix(err.Error(), end), err)
		}
	}
}

// A token endpoint that requests a wait, or that does not respond in time, is asked again.
func TestTokenAfterAWait(t *testing.T) {
	const body = `{"access_token":"new","token_type":"bearer"}`
	config := &oauth2.Config{ClientID: "id", Endpoint: oauth2.Endpoint{TokenURL: "https://login.example.com/token", AuthStyle: oauth2.AuthStyleInParams}}
	for name, test := range map[string]struct {
		first func(*http.Request) (*http.Response, error)
		wait  time.Duration
	}{
		"wait": {func(req *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 503, Header: headers("Retry-After", "7"), Body: http.NoBody, Request: req}, nil
		}, 7 * time.Second},
		"silent": {func(req *http.Request) (*http.Response, error) {
			<-req.Context().Done()
			return nil, req.Context().Err()
		}, tokenTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tokens := 0
				c := wireClient(t, "https://forge.example.com", WithOAuth(config, expired("r1")), through(func(req *http.Request) (*http.Response, error) {
					if req.URL.Host == "login.example.com" {
						if tokens++; tokens == 1 {
							return test.first(req)
						}
					}
					return &http.Response{StatusCode: 200, Header: headers("Content-Type", "application/json"), Body: io.NopCloser(strings.NewReader(body)), Request: req}, nil
				}))
				began := time.Now()
				require.NoError(t, c.Do(t.Context(), callOf(RetryClassSafe), nil))
				assert.Equal(t, 2, tokens)
				assert.GreaterOrEqual(t, time.Since(began), test.wait)
				assert.LessOrEqual(t, time.Since(began), test.wait+2*time.Second)
			})
		})
	}
}

// A body that cannot be read again is not sent again after a 401 either.
func TestOAuthUploadOnce(t *testing.T) {
	tokens, config := tokenServer(t, func(url.Values, int) act { return sayToken("new", "r2") })
	for size, file := range map[int]File{1: FileReader(strings.NewReader("content"), 7), 2: FileBytes([]byte("content"))} {
		api := guarded(t, fixed("new"))
		c := wireClient(t, api.url, WithOAuth(config, &oauth2.Token{AccessToken: "old", RefreshToken: "r1"}))
		err := exec(t.Context(), service{c.core}.newPost("/projects/:project_id/secure_files", ID(1)).upload(nil, "file", file), nil)
		got := api.seen()
		require.Len(t, got, size)
		assert.Equal(t, size == 2, err == nil)
		assert.Equal(t, got[0].body, got[size-1].body)
	}
	assert.Len(t, tokens.seen(), 1)
}

// Constructors reject invalid arguments, and their errors do not show credentials.
func TestClientRefusals(t *testing.T) {
	base := "https://forge.example.com"
	for name, option := range map[string]Option{
		"space": WithToken("a " + secret), "newline": WithToken(secret + "\n"), "job": WithJobToken("\x00" + secret),
		"no OAuth": WithOAuth(nil, nil), "empty OAuth": WithOAuth(&oauth2.Config{}, &oauth2.Token{}),
		"OAuth space":    WithOAuth(&oauth2.Config{}, &oauth2.Token{AccessToken: secret + " "}),
		"token endpoint": WithOAuth(&oauth2.Config{Endpoint: oauth2.Endpoint{TokenURL: "https://u:" + secret + "@x"}}, &oauth2.Token{AccessToken: "a", RefreshToken: "b"}),
		"plain endpoint": WithOAuth(&oauth2.Config{Endpoint: oauth2.Endpoint{TokenURL: "http://auth.example.com"}}, &oauth2.Token{AccessToken: "a", RefreshToken: "b"}),
		"source":         WithTokenSource(nil), "agent": WithUserAgent("a\nb"), "policy": WithRetry(RetryPolicy{MaxWait: -1}),
	} {
		_, err := NewClient(base, option)
		require.Error(t, err, name)
		assert.Empty(t, reveals(err), name)
	}
	for address, ok := range map[string]bool{
		"http://forge.example.com": false, "http://localhost:1": true, "http://127.0.0.1": true, "http://[::1]:8080": true,
		"http://localhost.example.com": false, "http://127.0.0.1.example.com": false,
	} {
		_, err := NewClient(address, WithToken(secret))
		assert.Equal(t, ok, err == nil, address)
		_, err = NewClient(address, WithToken(secret), WithPlainHTTP())
		require.NoError(t, err)
		_, err = NewClient(address)
		require.NoError(t, err)
	}
}

// Variables of the two pairs (FORGE_*, CI_*) are never combined.
func TestClientFromEnv(t *testing.T) {
	for _, test := range []struct {
		url, token, ci, job string
		header              string
	}{
		{"U", "t", "", "", "Private-Token"}, {"U", "t", "U", "j", "Private-Token"}, {"", "", "U", "j", "Job-Token"},
	} {
		w := newWire(t, always(sayJSON("{}")))
		address := strings.NewReplacer("U", w.url)
		t.Setenv("FORGE_URL", address.Replace(test.url))
		t.Setenv("FORGE_TOKEN", test.token)
		t.Setenv("CI_API_V4_URL", address.Replace(test.ci))
		t.Setenv("CI_JOB_TOKEN", test.job)
		c, err := NewClientFromEnv(WithHTTPClient(&http.Client{Transport: &http.Transport{}}))
		require.NoError(t, err)
		require.NoError(t, c.Do(t.Context(), callOf(RetryClassSafe), nil))
		got := w.seen()[0].header
		if test.header == "Private-Token" {
			assert.Equal(t, test.token, got.Get("PRIVATE-TOKEN"))
		} else {
			assert.Equal(t, test.job, got.Get("JOB-TOKEN"))
		}
		assert.Equal(t, 1, len(got["Private-Token"])+len(got["Job-Token"]))
		c.CloseIdleConnections()
	}
}

// The end of the context right after the renewal of a refused token is the error of the call. It
// leaves the 401 visible, as other waits that end leave their status.
func TestTokenRenewedAsTheContextEnds(t *testing.T) {
	for range 20 { // whether another attempt began was left to chance
		api := guarded(t, fixed("new"))
		ctx, cancel := context.WithCancel(t.Context())
		n := 0
		c := wireClient(t, api.url, WithTokenSource(tokenSource(func() (*oauth2.Token, error) {
			if n++; n == 1 {
				return &oauth2.Token{AccessToken: "old"}, nil
			}
			cancel()
			return &oauth2.Token{AccessToken: "new"}, nil
		})))
		err := c.Do(ctx, callOf(RetryClassSafe), nil)
		var failed *Error
		require.ErrorAs(t, err, &failed)
		require.ErrorIs(t, err, context.Canceled)
		require.NotErrorIs(t, err, ErrNoCredential)
		assert.Len(t, api.seen(), 1)
		assert.Equal(t, 1, failed.Attempts)
		assert.Equal(t, http.StatusUnauthorized, failed.Status)
	}
}
