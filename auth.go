package forge

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"golang.org/x/oauth2"
)

// credential proves who calls. It is made of functions so that no secret can be reached by
// printing, encoding or reflecting on anything that holds one.
type credential struct {
	kind credentialKind
	// authorize sets the header for one request and returns the token it used.
	authorize func(ctx context.Context, h http.Header) (used string, err error)
	// renew is asked after a 401 whether another token than used is to be had; nil for fixed tokens.
	renew func(ctx context.Context, used string) (bool, error)
	// scrub removes the secret from text that came from outside.
	scrub func(text string) string
}

type credentialKind uint8

const (
	anonymous credentialKind = iota
	accessToken
	jobToken
	oauthToken
	basicAuth
)

const (
	tokenHeader    = "Private-Token"
	jobTokenHeader = "Job-Token"
	refreshTimeout = 30 * time.Second
)

// credentialHeaders are the headers that carry a credential and therefore never leave the origin, and
// that no request option may set.
func isCredentialHeader(name string) bool {
	switch http.CanonicalHeaderKey(name) {
	case tokenHeader, jobTokenHeader, "Authorization", "Proxy-Authorization", "Cookie", "Sudo", "Deploy-Token":
		return true
	}
	return false
}

// isCredentialParam tells the query parameters that servers take a credential from.
func isCredentialParam(name string) bool {
	switch strings.ToLower(name) {
	case "private_token", "access_token", "job_token", "token", "oauth_token", "authorization", "client_secret",
		"refresh_token", "feed_token", "rss_token", "sudo":
		return true
	}
	return false
}

// noCredential calls without one: public projects only.
func noCredential() credential {
	return credential{
		authorize: func(context.Context, http.Header) (string, error) { return "", nil },
		scrub:     func(text string) string { return text },
	}
}

// fixedToken sends the same header with every request.
func fixedToken(kind credentialKind, header, token string) credential {
	return credential{
		kind: kind,
		authorize: func(_ context.Context, h http.Header) (string, error) {
			h[header] = []string{token}
			return token, nil
		},
		scrub: func(text string) string { return redact(text, token) },
	}
}

// basic sends a user and a password.
func basic(user, password string) credential {
	pair := base64.StdEncoding.EncodeToString([]byte(user + ":" + password))
	return credential{
		kind: basicAuth,
		authorize: func(_ context.Context, h http.Header) (string, error) {
			h["Authorization"] = []string{"Basic " + pair}
			return pair, nil
		},
		scrub: func(text string) string { return redact(redact(text, pair), password) },
	}
}

// redact takes a token out of text. Of a very short one, as tests have, no text is made unreadable.
func redact(text, token string) string {
	if len(token) < 8 {
		return text
	}
	return strings.ReplaceAll(text, token, "[redacted]")
}

// checkToken refuses what cannot be a token before it is put into a header.
func checkToken(option, token string) error {
	var reason string
	switch {
	case token == "":
		reason = "the token is empty"
	case strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r >= 0x7f }):
		reason = "the token has spaces, control bytes or bytes outside ASCII"
	default:
		return nil
	}
	return &ValidationError{Option: option, Reason: reason}
}

// bearerToken sends what source gives. source is called with the token that was refused, or "".
func bearerToken(source func(ctx context.Context, refused string) (*oauth2.Token, error)) credential {
	var mu sync.Mutex
	last := ""
	get := func(ctx context.Context, refused string) (*oauth2.Token, error) {
		token, err := source(ctx, refused)
		if err == nil && token == nil {
			err = &credentialError{reason: "the token source gave no token"}
		}
		if err == nil && checkToken("", token.AccessToken) != nil {
			err = &credentialError{reason: "the token source gave a token that is empty or has illegal bytes"}
		}
		if err != nil {
			return nil, err
		}
		mu.Lock()
		last = token.AccessToken
		mu.Unlock()
		return token, nil
	}
	return credential{
		kind: oauthToken,
		authorize: func(ctx context.Context, h http.Header) (string, error) {
			token, err := get(ctx, "")
			if err != nil {
				return "", err
			}
			h.Set("Authorization", token.Type()+" "+token.AccessToken)
			return token.AccessToken, nil
		},
		renew: func(ctx context.Context, used string) (bool, error) {
			token, err := get(ctx, used)
			return err == nil && token.AccessToken != used, err
		},
		scrub: func(text string) string {
			mu.Lock()
			defer mu.Unlock()
			return redact(text, last)
		},
	}
}

// foreignSource asks a token source of the caller's, which has no context and may hang: one question is
// under way at a time, and everybody who waits for it leaves when their own context ends.
func foreignSource(source oauth2.TokenSource) credential {
	var shared flight[*oauth2.Token]
	return bearerToken(func(ctx context.Context, _ string) (*oauth2.Token, error) {
		return shared.do(ctx, func(context.Context) (*oauth2.Token, error) {
			token, err := source.Token()
			return token, hideTokenBody(err)
		})
	})
}

// ownOAuth keeps and refreshes a token itself.
func ownOAuth(config oauth2.Config, token oauth2.Token, transport http.RoundTripper, saved func(*oauth2.Token)) credential {
	client := &http.Client{
		Transport:     transport,
		Timeout:       refreshTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	var (
		mu      sync.Mutex
		shared  flight[*oauth2.Token]
		current = &token
	)
	usable := func(refused string) (*oauth2.Token, bool) {
		mu.Lock()
		defer mu.Unlock()
		return current, current.Valid() && current.AccessToken != refused
	}
	refresh := func(ctx context.Context) (*oauth2.Token, error) {
		old, _ := usable("")
		ctx = context.WithValue(ctx, oauth2.HTTPClient, client)
		fresh, err := config.TokenSource(ctx, &oauth2.Token{RefreshToken: old.RefreshToken}).Token()
		if err != nil {
			return nil, hideTokenBody(err)
		}
		mu.Lock()
		current = fresh
		mu.Unlock()
		if saved != nil {
			saved(fresh)
		}
		return fresh, nil
	}
	return bearerToken(func(ctx context.Context, refused string) (*oauth2.Token, error) {
		token, ok := usable(refused)
		switch {
		case ok:
			return token, nil
		case token.RefreshToken == "" && refused != "":
			return token, nil
		case token.RefreshToken == "":
			return nil, &credentialError{reason: "the OAuth token has expired and there is no refresh token"}
		}
		return shared.do(ctx, func(ctx context.Context) (*oauth2.Token, error) {
			if token, ok := usable(refused); ok {
				return token, nil
			}
			return refresh(ctx)
		})
	})
}

// flight lets concurrent callers share one question for a token. The question goes on when the caller
// who began it gives up: a refresh that was broken off could lose a rotated refresh token.
type flight[T any] struct {
	mu      sync.Mutex
	running *flightResult[T]
}

type flightResult[T any] struct {
	done  chan struct{}
	token T
	err   error
}

func (f *flight[T]) do(ctx context.Context, ask func(context.Context) (T, error)) (token T, err error) {
	if err := ctx.Err(); err != nil {
		return token, err
	}
	f.mu.Lock()
	result := f.running
	if result == nil {
		result = &flightResult[T]{done: make(chan struct{})}
		f.running = result
		go f.ask(context.WithoutCancel(ctx), result, ask)
	}
	f.mu.Unlock()
	select {
	case <-result.done:
		return result.token, result.err
	case <-ctx.Done():
		return token, ctx.Err()
	}
}

func (f *flight[T]) ask(ctx context.Context, result *flightResult[T], ask func(context.Context) (T, error)) {
	ctx, cancel := context.WithTimeout(ctx, refreshTimeout)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			result.err = &credentialError{reason: "the token source panicked"}
		}
		f.mu.Lock()
		f.running = nil
		f.mu.Unlock()
		close(result.done)
	}()
	result.token, result.err = ask(ctx)
}

// credentialError says why there is no credential, without anything the token endpoint answered.
type credentialError struct {
	reason    string
	temporary bool
	cause     error
}

func (e *credentialError) Error() string { return e.reason }

func (e *credentialError) Unwrap() []error {
	if e.cause == nil {
		return []error{ErrCredential}
	}
	return []error{ErrCredential, e.cause}
}

// hideTokenBody keeps the token endpoint's answer, which may hold a secret, out of the error.
func hideTokenBody(err error) error {
	if err == nil {
		return nil
	}
	var refused *oauth2.RetrieveError
	if !errors.As(err, &refused) {
		return &credentialError{reason: "obtaining a token failed", temporary: true, cause: transportCause(err)}
	}
	status := 0 // a source of the caller's may leave the answer out
	if refused.Response != nil {
		status = refused.Response.StatusCode
	}
	reason := fmt.Sprintf("the token endpoint answered %d", status)
	if code := refused.ErrorCode; len(code) < 64 && code != "" && strings.Trim(code, "abcdefghijklmnopqrstuvwxyz_") == "" {
		reason += " " + code
	}
	return &credentialError{reason: reason, temporary: status >= 500}
}
