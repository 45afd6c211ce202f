package forge

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"
)

// tokenCode is a function of the caller that the library calls while it obtains a token.
type tokenCode struct {
	name   string
	after  bool // the token is already in use, so that not all callers wait
	client func(t *testing.T, act func()) *Client
	call   func(context.Context, *Client) error
}

func tokenCodes() []tokenCode {
	callAPI := func(ctx context.Context, c *Client) error { return c.Do(ctx, callOf(RetryClassSafe), nil) }
	callRegistry := func(ctx context.Context, c *Client) error {
		return c.RegistryNative.DeleteManifest(ctx, "a/b", "t", nil)
	}
	config := &oauth2.Config{ClientID: "id", Endpoint: oauth2.Endpoint{TokenURL: "https://login.example.com/token", AuthStyle: oauth2.AuthStyleInParams}}
	transport := func(act func()) Option {
		return through(func(req *http.Request) (*http.Response, error) {
			status, body := 200, `{}`
			switch req.URL.Host {
			case "login.example.com":
				act()
				body = `{"access_token":"new-token","token_type":"bearer","expires_in":7200}`
			case "auth.example.com":
				act()
				body = `{"token":"opaque-token"}`
			case "registry.example.com":
				status = 202
			}
			return &http.Response{StatusCode: status, Header: headers("Content-Type", "application/json"), Body: io.NopCloser(strings.NewReader(body)), Request: req}, nil
		})
	}
	quiet := func() {}
	build := func(t *testing.T, options ...Option) *Client {
		t.Helper()
		c, err := NewClient("https://forge.example.com", options...)
		require.NoError(t, err)
		return c
	}
	registry := []Option{
		WithToken(secret), WithRegistry("https://registry.example.com", "https://auth.example.com"),
		WithRegistryCredentials(registryUser, registryPassword),
	}
	return []tokenCode{
		{"token source", false, func(t *testing.T, act func()) *Client {
			return build(t, transport(quiet), WithoutPacing(), WithTokenSource(tokenSource(func() (*oauth2.Token, error) {
				act()
				return &oauth2.Token{AccessToken: "new-token"}, nil
			})))
		}, callAPI},
		{"OnRefresh", true, func(t *testing.T, act func()) *Client {
			return build(t, transport(quiet), WithOAuth(config, expired("r1")), WithOnRefresh(func(*oauth2.Token) { act() }))
		}, callAPI},
		{"transport of a refresh", false, func(t *testing.T, act func()) *Client {
			return build(t, transport(act), WithOAuth(config, expired("r1")))
		}, callAPI},
		{"transport of a registry token", false, func(t *testing.T, act func()) *Client {
			return build(t, append(registry, transport(act))...)
		}, callRegistry},
		{"hook of a registry token", false, func(t *testing.T, act func()) *Client {
			return build(t, append(registry, transport(quiet), WithOnAttempt(func(_ context.Context, a Attempt) {
				if a.Route == "/jwt/auth" {
					act()
				}
			}))...)
		}, callRegistry},
	}
}

// gate blocks the first call until it is opened, and then lets it act. It lets other calls pass.
type gate struct {
	open  chan struct{}
	calls atomic.Int32
}

func (g *gate) act(how func()) func() {
	return func() {
		if g.calls.Add(1) == 1 {
			<-g.open
			how()
		}
	}
}

// askTogether lets five goroutines wait for one token, opens the gate, and returns the panic of each
// one that panicked. The others have no error.
func askTogether(t *testing.T, c *Client, code tokenCode, g *gate) (panics []any) {
	t.Helper()
	var mu sync.Mutex
	var callers sync.WaitGroup
	for range 5 {
		callers.Go(func() {
			defer func() {
				if value := recover(); value != nil {
					mu.Lock()
					defer mu.Unlock()
					panics = append(panics, value)
				}
			}()
			assert.NoError(t, code.call(t.Context(), c))
		})
	}
	synctest.Wait()
	close(g.open)
	callers.Wait()
	return panics
}

// A panic of the caller's code is raised in each goroutine that waits for the token, and the next
// call requests a token again.
func TestTokenPanics(t *testing.T) {
	for _, code := range tokenCodes() {
		t.Run(code.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				problem := errors.New("a bug of the caller")
				g := &gate{open: make(chan struct{})}
				c := code.client(t, g.act(func() { panic(problem) }))
				panics := askTogether(t, c, code, g)
				assert.NotEmpty(t, panics)
				assert.True(t, code.after || len(panics) == 5, "%d", len(panics))
				for _, value := range panics {
					assert.Equal(t, problem, value)
				}
				require.NoError(t, code.call(t.Context(), c))
			})
		})
	}
}
