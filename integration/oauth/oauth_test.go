// Package oauth tests the client with a real OAuth2 server, and an API that accepts only the tokens
// of this server.
package oauth

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-oauth2/oauth2/v4"
	"github.com/go-oauth2/oauth2/v4/manage"
	"github.com/go-oauth2/oauth2/v4/models"
	"github.com/go-oauth2/oauth2/v4/server"
	"github.com/go-oauth2/oauth2/v4/store"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	xoauth2 "golang.org/x/oauth2"

	"github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/forgetest"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/tidwall/buntdb.(*DB).backgroundManager")) // the store has no Close
}

const (
	clientID     = "report"
	clientSecret = "THE-CLIENT-SECRET"
	addSpent     = "POST /projects/:id/issues/:issue_iid/add_spent_time"
	uploads      = "POST /projects/:project_id/secure_files"
)

var app = forge.Path("group/app")

// seen is a request as a server has parsed it.
type seen struct {
	header http.Header
	body   string
}

// recorder stores the requests to a server.
type recorder struct {
	mu   sync.Mutex
	list []seen
}

func (r *recorder) record(req *http.Request) {
	body, _ := io.ReadAll(req.Body)
	req.Body = io.NopCloser(bytes.NewReader(body))
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = append(r.list, seen{req.Header.Clone(), string(body)})
}

func (r *recorder) requests() []seen {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]seen(nil), r.list...)
}

// platform is an OAuth2 server, and an API that checks each token with it before forgetest
// responds.
type platform struct {
	srv     *forgetest.Server
	tokens  *httptest.Server
	api     *httptest.Server
	manager *manage.Manager
	asked   recorder // requests to the token endpoint
	called  recorder // requests to the API
}

// newPlatform starts both. Tokens of a refresh are valid for the given time.
func newPlatform(t *testing.T, life time.Duration) *platform {
	p := &platform{srv: forgetest.New(t), manager: manage.NewDefaultManager()}
	p.srv.AddProject("group/app").AddIssues(1, nil)
	p.manager.MustTokenStorage(store.NewMemoryTokenStore())
	p.manager.SetPasswordTokenCfg(&manage.Config{AccessTokenExp: time.Hour, RefreshTokenExp: time.Hour, IsGenerateRefresh: true})
	p.manager.SetRefreshTokenCfg(&manage.RefreshingConfig{
		AccessTokenExp: life, RefreshTokenExp: time.Hour, IsGenerateRefresh: true, IsRemoveAccess: true, IsRemoveRefreshing: true,
	})
	clients := store.NewClientStore()
	require.NoError(t, clients.Set(clientID, &models.Client{ID: clientID, Secret: clientSecret}))
	p.manager.MapClientStorage(clients)
	authority := server.NewServer(server.NewConfig(), p.manager)
	authority.SetClientInfoHandler(server.ClientFormHandler)
	p.tokens = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.asked.record(r)
		_ = authority.HandleTokenRequest(w, r)
	}))
	t.Cleanup(p.tokens.Close)
	inner, err := url.Parse(p.srv.URL)
	require.NoError(t, err)
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	forward := &httputil.ReverseProxy{Transport: transport, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(inner)
		r.Out.Header.Del("Authorization")
		r.Out.Header.Set("Private-Token", p.srv.Token)
	}}
	p.api = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.called.record(r)
		token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		if _, err := p.manager.LoadAccessToken(r.Context(), token); err != nil {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprintf(w, `{"error":"invalid_token","error_description":"Token %s was revoked."}`, token)
			return
		}
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(p.api.Close)
	return p
}

// issue returns a token, like a sign-in.
func (p *platform) issue(t *testing.T) *xoauth2.Token {
	t.Helper()
	info, err := p.manager.GenerateAccessToken(t.Context(), oauth2.PasswordCredentials, &oauth2.TokenGenerateRequest{
		ClientID: clientID, ClientSecret: clientSecret, UserID: "maya", Request: httptest.NewRequest(http.MethodPost, "/token", nil),
	})
	require.NoError(t, err)
	return &xoauth2.Token{
		AccessToken: info.GetAccess(), RefreshToken: info.GetRefresh(), TokenType: "Bearer", Expiry: time.Now().Add(info.GetAccessExpiresIn()),
	}
}

// revoke invalidates an access token on the server that the client considers valid.
func (p *platform) revoke(t *testing.T, token *xoauth2.Token) {
	t.Helper()
	require.NoError(t, p.manager.RemoveAccessToken(t.Context(), token.AccessToken))
}

func (p *platform) config() *xoauth2.Config {
	return &xoauth2.Config{ClientID: clientID, ClientSecret: clientSecret, Endpoint: xoauth2.Endpoint{
		TokenURL: p.tokens.URL + "/oauth/token", AuthStyle: xoauth2.AuthStyleInParams,
	}}
}

// connect returns a client of the API, with its own connections.
func (p *platform) connect(t *testing.T, options ...forge.Option) *forge.Client {
	t.Helper()
	client, err := forge.NewClient(p.api.URL, append([]forge.Option{
		forge.WithHTTPClient(&http.Client{Transport: &http.Transport{}}),
		forge.WithRetry(forge.RetryPolicy{MinWait: time.Millisecond, MaxWait: 2 * time.Millisecond}),
	}, options...)...)
	require.NoError(t, err)
	t.Cleanup(client.CloseIdleConnections)
	return client
}

func spend(t *testing.T, c *forge.Client) error {
	_, err := c.Issues.AddSpentTime(t.Context(), app, 1, &forge.AddSpentTimeOptions{Duration: forge.WorkDuration(time.Hour)})
	return err
}
