package registry

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/stretchr/testify/require"
)

const (
	service  = "container_registry"
	issuer   = "forge-integration"
	user     = "robot"
	password = "correct-horse-battery"
)

// realm is a token endpoint that accepts basic credentials and issues ES256 tokens with all requested
// actions.
type realm struct {
	*httptest.Server
	signer jose.Signer
	jwks   string // file with the public key, for the registry

	mu       sync.Mutex
	requests []*http.Request
	lifetime time.Duration
	age      time.Duration // age of new tokens according to their claims
}

func newRealm(t *testing.T) *realm {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	own := jose.JSONWebKey{Key: key, KeyID: "k1", Algorithm: string(jose.ES256), Use: "sig"}
	public, err := json.Marshal(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{own.Public()}})
	require.NoError(t, err)
	r := &realm{jwks: filepath.Join(t.TempDir(), "jwks.json"), lifetime: 5 * time.Minute}
	require.NoError(t, os.WriteFile(r.jwks, public, 0o600))
	r.signer, err = jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: own}, (&jose.SignerOptions{}).WithType("JWT"))
	require.NoError(t, err)
	r.Server = httptest.NewServer(http.HandlerFunc(r.serve))
	t.Cleanup(r.Close)
	return r
}

func (r *realm) serve(w http.ResponseWriter, req *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requests = append(r.requests, req)
	w.Header().Set("Content-Type", "application/json")
	name, secret, _ := req.BasicAuth()
	switch {
	case req.URL.Path != "/jwt/auth" || req.FormValue("service") != service:
		http.NotFound(w, req)
	case name != user || secret != password:
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write([]byte(`{"errors":[{"code":"UNAUTHORIZED","message":"HTTP Basic: Access denied for ` + secret + `"}]}`))
	default:
		_ = json.NewEncoder(w).Encode(map[string]string{"token": r.token(req.Form["scope"]...)})
	}
}

// token signs a token for the scopes.
func (r *realm) token(scopes ...string) string {
	type access struct {
		Type    string   `json:"type"`
		Name    string   `json:"name"`
		Actions []string `json:"actions"`
	}
	var granted []access
	for _, scope := range scopes {
		parts := strings.Split(scope, ":")
		granted = append(granted, access{parts[0], parts[1], strings.Split(parts[2], ",")})
	}
	made := time.Now().Add(-r.age)
	text, err := jwt.Signed(r.signer).Claims(jwt.Claims{
		Issuer: issuer, Subject: user, Audience: jwt.Audience{service}, ID: rand.Text(),
		IssuedAt: jwt.NewNumericDate(made), NotBefore: jwt.NewNumericDate(made), Expiry: jwt.NewNumericDate(made.Add(r.lifetime)),
	}).Claims(map[string]any{"access": granted}).Serialize()
	if err != nil {
		panic(err)
	}
	return text
}

// set changes how the realm behaves.
func (r *realm) set(change func(*realm)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(r)
}

// scopes lists the scopes of the requested tokens, in order.
func (r *realm) scopes() (asked []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, req := range r.requests {
		asked = append(asked, strings.Join(req.URL.Query()["scope"], " "))
	}
	return asked
}
