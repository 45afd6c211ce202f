package forge

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"strings"
	"sync"
	"time"

	"github.com/forge-sdk/forge-go/internal/credential"
	"golang.org/x/oauth2"
)

// registryTokens returns a token for the scopes that the request names, but not the one that was
// refused. It is a function so that no token can be reached through a client.
type registryTokens func(ctx context.Context, r *request, refused string, opts []RequestOption) (*RegistryToken, error)

const (
	standardLifetime = time.Minute    // of a token without a stated lifetime, as registries assume
	longestLifetime  = 24 * time.Hour // whatever a token states
	expiryMargin     = 10 * time.Second
)

// newRegistryTokens returns an empty store of tokens.
func newRegistryTokens() registryTokens {
	store := tokenStore{byScopes: map[string]*scopeTokens{}}
	return store.get
}

// tokenStore keeps a token for each set of scopes.
type tokenStore struct {
	mu       sync.Mutex
	byScopes map[string]*scopeTokens
}

func (s *tokenStore) of(scopes string) *scopeTokens {
	s.mu.Lock()
	defer s.mu.Unlock()
	for other, tokens := range s.byScopes {
		if tokens.expired() {
			delete(s.byScopes, other)
		}
	}
	if s.byScopes[scopes] == nil {
		s.byScopes[scopes] = &scopeTokens{}
	}
	return s.byScopes[scopes]
}

func (s *tokenStore) get(ctx context.Context, r *request, refused string, opts []RequestOption) (*RegistryToken, error) {
	if err := r.ready(ctx); err != nil {
		return nil, err
	}
	c, err := r.prepare(kindJSON, opts)
	if err != nil {
		return nil, err
	}
	tokens := s.of(c.url.RawQuery)
	if len(opts) > 0 {
		return tokens.exchange(ctx, r, opts)
	}
	if token := tokens.usable(refused); token != nil {
		return token, nil
	}
	token, err := tokens.shared.Do(ctx, func(ctx context.Context) (*RegistryToken, error) {
		if token := tokens.usable(refused); token != nil {
			return token, nil
		}
		ctx, cancel := withTokenTimeout(ctx)
		defer cancel()
		return tokens.exchange(ctx, r, nil)
	})
	if err != nil {
		return nil, r.withError(err)
	}
	return token.copy(), nil
}

// scopeTokens holds the token of one set of scopes.
type scopeTokens struct {
	shared credential.Singleflight[*RegistryToken]

	mu      sync.Mutex
	current *RegistryToken
	until   time.Time
}

// usable returns a copy of the token, or nil if there is none or it was refused. tokenStore.of has
// dropped one that is about to expire.
func (s *scopeTokens) usable(refused string) *RegistryToken {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current == nil || s.current.Token == refused {
		return nil
	}
	return s.current.copy()
}

func (s *scopeTokens) expired() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current != nil && !time.Now().Before(s.until)
}

// exchange requests a token and keeps it.
func (s *scopeTokens) exchange(ctx context.Context, r *request, opts []RequestOption) (*RegistryToken, error) {
	asked := time.Now()
	token, err := do[RegistryToken](ctx, r, opts)
	if err != nil {
		return nil, err
	}
	lifetime := token.lifetime(asked)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.current, s.until = token, asked.Add(lifetime-min(expiryMargin, lifetime/2))
	return token.copy(), nil
}

// copy returns a token that its caller may modify.
func (t *RegistryToken) copy() *RegistryToken {
	if t == nil {
		return nil
	}
	own := *t
	return &own
}

// lifetime returns how long the token is valid: by its own claims, or else by the response that
// contained it. The claims are not verified: a server that forges them could as well send another
// token.
func (t *RegistryToken) lifetime(now time.Time) time.Duration {
	var claims struct {
		Expires float64 `json:"exp"`
		Issued  float64 `json:"iat"`
	}
	seconds := float64(t.ExpiresIn)
	if parts := strings.Split(t.Token, "."); len(parts) == 3 {
		text, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(parts[1], "="))
		if err == nil && json.Unmarshal(text, &claims) == nil && claims.Expires > 0 {
			// The difference of two claims does not depend on the clock.
			seconds = claims.Expires - cmp.Or(claims.Issued, float64(now.Unix()))
		}
	}
	if seconds == 0 {
		return standardLifetime
	}
	return time.Duration(max(0, min(seconds, longestLifetime.Seconds())) * float64(time.Second))
}

// bearerFor returns a credential for calls of the registry: a token for the scope.
func (s *RegistryNativeService) bearerFor(scope RegistryScope) *credential.Credential {
	bearer := credential.Bearer(func(ctx context.Context, refused string) (*oauth2.Token, error) {
		r := s.newGet("/jwt/auth").queryParam("service", registryName).params(&GetRegistryTokenOptions{Scopes: []RegistryScope{scope}})
		token, err := s.fetchToken(ctx, r, refused, nil)
		if err != nil {
			return nil, &credential.Error{Reason: "no registry token could be obtained: " + err.Error(), Cause: err}
		}
		return &oauth2.Token{AccessToken: token.Token}, nil
	})
	return &bearer
}

// fetchToken returns a token for the scopes that the request names, but not the one that was
// refused.
func (s *RegistryNativeService) fetchToken(ctx context.Context, r *request, refused string, opts []RequestOption) (*RegistryToken, error) {
	if s.shared == nil {
		return newRegistryTokens()(ctx, r, refused, opts)
	}
	return s.shared(ctx, r, refused, opts)
}
