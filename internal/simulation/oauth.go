package simulation

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/oauth2"

	forge "github.com/forge-sdk/forge-go"
)

const clientSecret = "simulated-client-secret"

// tokens are the tokens that the token endpoint has issued.
type tokens struct {
	lifetime time.Duration
	rotating bool

	mu       sync.Mutex
	made     int
	access   map[string]time.Time // the time at which it expires
	refresh  map[string]bool      // whether it is valid
	all      []string             // all OAuth tokens
	registry []string
}

func newTokens(plan WorldPlan) *tokens {
	lifetime := plan.Lifetime
	if lifetime == 0 {
		lifetime = 2 * time.Hour
	}
	return &tokens{lifetime: lifetime, rotating: plan.Rotating, access: map[string]time.Time{}, refresh: map[string]bool{}}
}

// grant creates a pair of tokens.
func (t *tokens) grant() *oauth2.Token {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.made++
	fresh := &oauth2.Token{
		AccessToken: token("access", t.made), RefreshToken: token("refresh", t.made), TokenType: "Bearer",
		Expiry: time.Now().Add(t.lifetime),
	}
	t.access[fresh.AccessToken], t.refresh[fresh.RefreshToken] = fresh.Expiry, true
	t.all = append(t.all, fresh.AccessToken, fresh.RefreshToken)
	return fresh
}

// expire ends all issued access tokens.
func (t *tokens) expire() {
	t.mu.Lock()
	defer t.mu.Unlock()
	clear(t.access)
}

func (t *tokens) valid(access string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return time.Now().Before(t.access[access])
}

// use reports whether a refresh token is valid. If refresh tokens rotate, it invalidates the token.
func (t *tokens) use(refresh string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	ok := t.refresh[refresh]
	if t.rotating {
		t.refresh[refresh] = false
	}
	return ok
}

// ServeHTTP is the token endpoint.
func (t *tokens) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if r.ParseForm() != nil || r.PostForm.Get("grant_type") != "refresh_token" || !t.use(r.PostForm.Get("refresh_token")) {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(`{"error":"invalid_grant"}`))
		return
	}
	fresh := t.grant()
	_ = json.NewEncoder(w).Encode(map[string]any{
		"access_token": fresh.AccessToken, "refresh_token": fresh.RefreshToken, "token_type": "Bearer",
		"expires_in": int(t.lifetime.Seconds()),
	})
}

// translate replaces a valid OAuth token of a request by the token that forgetest knows.
func (t *tokens) translate(r *http.Request, own string) {
	access, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if bearer && t.valid(access) {
		r.Header.Set("Authorization", "Bearer "+own)
	}
}

// tokenWriter records the registry tokens that the server issues.
type tokenWriter struct {
	http.ResponseWriter
	tokens *tokens
}

// Unwrap returns the wrapped writer, for http.ResponseController.
func (w *tokenWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Write looks for a token in p: forgetest writes the body in one call.
func (w *tokenWriter) Write(p []byte) (int, error) {
	var body struct{ Token string }
	if json.Unmarshal(p, &body) == nil && body.Token != "" {
		w.tokens.mu.Lock()
		w.tokens.registry = append(w.tokens.registry, body.Token)
		w.tokens.mu.Unlock()
	}
	return w.ResponseWriter.Write(p)
}

// withOAuth returns the option of a client that refreshes its token.
func (w *World) withOAuth() forge.Option {
	host, _ := w.auth()
	config := &oauth2.Config{
		ClientID: "simulation", ClientSecret: clientSecret,
		Endpoint: oauth2.Endpoint{TokenURL: w.scheme() + host + "/oauth/token"},
	}
	return forge.WithOAuth(config, w.tokens.grant())
}

// Secrets returns all credentials used so far. None of them may be sent to another origin, or be in
// an error, a log or a file.
func (w *World) Secrets() []string {
	w.tokens.mu.Lock()
	defer w.tokens.mu.Unlock()
	own := []string{w.Server.Token, w.Server.JobToken, clientSecret, proxyPassword}
	return slices.Concat(w.tokens.all, own, w.tokens.registry)
}
