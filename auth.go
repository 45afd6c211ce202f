package forge

import (
	"context"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"golang.org/x/oauth2"

	"github.com/forge-sdk/forge-go/internal/task"
)

// credential proves who calls. It is made of functions so that no secret can be reached by
// printing, encoding or reflecting on anything that holds one.
type credential struct {
	kind credentialKind
	// authorize gives the header for one request, and the token that is in it as a function, for the reason above.
	authorize func(ctx context.Context) (header, value string, used func() string, err error)
	// renew is asked after a 401 whether another token than used is to be had; nil for fixed tokens.
	renew func(ctx context.Context, used string) (bool, error)
	// scrub removes the secret from text that came from outside.
	scrub func(text string) string
}

// same reports whether both send the same token, whatever made them. Tokens that change are not
// compared.
func (c credential) same(other credential) bool {
	if c.kind != other.kind || c.kind == oauthToken {
		return false
	}
	name, value, _, _ := c.authorize(context.Background())
	otherName, otherValue, _, _ := other.authorize(context.Background())
	return name == otherName && subtle.ConstantTimeCompare([]byte(value), []byte(otherValue)) == 1
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

// isCredentialParam reports whether a server takes a credential from the query parameter, also as
// an element of an array or of a hash: servers read private_token[] and private_token[x] as
// private_token.
func isCredentialParam(name string) bool {
	switch strings.ToLower(baseParam(name)) {
	case "private_token", "access_token", "job_token", "token", "oauth_token", "authorization", "client_secret",
		"refresh_token", "feed_token", "rss_token", "sudo":
		return true
	}
	return false
}

// baseParam is the name of a parameter without escapes, brackets and the keys in them. Escapes of
// escapes are resolved too, as a proxy may resolve one layer.
func baseParam(name string) string {
	name = strings.TrimLeft(strings.TrimSpace(unescapeAll(name)), "[]")
	if end := strings.IndexAny(name, "[]"); end >= 0 {
		name = name[:end]
	}
	return strings.TrimSpace(name)
}

// noCredential calls without one: public projects only.
func noCredential() credential {
	return credential{
		authorize: func(context.Context) (string, string, func() string, error) { return "", "", noToken, nil },
		scrub:     func(text string) string { return text },
	}
}

func noToken() string { return "" }

// fixedToken sends the same header with every request.
func fixedToken(kind credentialKind, header, token string) credential {
	used := func() string { return token }
	return credential{
		kind:      kind,
		authorize: func(context.Context) (string, string, func() string, error) { return header, token, used, nil },
		scrub:     func(text string) string { return redact(text, token) },
	}
}

// basic sends a user and a password.
func basic(user, password string) credential {
	pair := base64.StdEncoding.EncodeToString([]byte(user + ":" + password))
	return credential{
		kind: basicAuth,
		authorize: func(context.Context) (string, string, func() string, error) {
			return "Authorization", "Basic " + pair, func() string { return pair }, nil
		},
		scrub: func(text string) string { return redact(redact(text, pair), password) },
	}
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

// bearerToken sends what source returns. source is called with the token that was refused, or "".
// last remembers the latest token for scrub.
func bearerToken(last *lastToken, source func(ctx context.Context, refused string) (*oauth2.Token, error)) credential {
	get := func(ctx context.Context, refused string) (*oauth2.Token, error) {
		token, err := source(ctx, refused)
		if err == nil {
			err = checkBearer(token)
		}
		if err != nil {
			return nil, err
		}
		last.set(token.AccessToken)
		return token, nil
	}
	return credential{
		kind: oauthToken,
		authorize: func(ctx context.Context) (string, string, func() string, error) {
			token, err := get(ctx, "")
			if err != nil {
				return "", "", noToken, err
			}
			return "Authorization", token.Type() + " " + token.AccessToken, func() string { return token.AccessToken }, nil
		},
		renew: func(ctx context.Context, used string) (bool, error) {
			token, err := get(ctx, used)
			return err == nil && token.AccessToken != used, err
		},
		scrub: func(text string) string { return redact(text, last.get()) },
	}
}

// lastToken is the token that a credential has sent most recently. It is held in closures only.
type lastToken struct {
	mu    sync.Mutex
	token string
}

func (l *lastToken) set(token string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.token = token
}

func (l *lastToken) get() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.token
}

// checkBearer refuses a token that was obtained and cannot be sent.
func checkBearer(token *oauth2.Token) error {
	switch {
	case token == nil:
		return &credentialError{reason: "the token source gave no token"}
	case checkToken("", token.AccessToken) != nil:
		return &credentialError{reason: "the token source gave a token that is empty or has illegal bytes"}
	case !isTokenType(token.Type()):
		return &credentialError{reason: "the token source gave a token whose type has illegal bytes"}
	}
	return nil
}

// isTokenType reports whether the type can stand before a token in a header (RFC 9110 §11.1).
func isTokenType(kind string) bool {
	return kind != "" && !strings.ContainsFunc(kind, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
	})
}

// flight lets concurrent callers share one request for a token. The request continues when the
// caller that began it leaves: an interrupted refresh could lose a rotated refresh token.
type flight[T any] struct {
	mu      sync.Mutex
	running *task.Task[T]
}

// do returns the token, or an error when ctx ends before. A panic of ask is raised in each caller. Where
// the request of another caller ended its goroutine, this one asks by itself.
func (f *flight[T]) do(ctx context.Context, ask func(context.Context) (T, error)) (token T, err error) {
	for {
		if err := ctx.Err(); err != nil {
			return token, err
		}
		running, joined := f.join(ctx, ask)
		if !running.Wait(ctx) {
			return token, ctx.Err()
		}
		token, err = running.Result()
		if !errors.Is(err, task.ErrGoexit) {
			return token, err
		}
		if !joined {
			return token, &credentialError{reason: "no token was obtained: " + err.Error(), cause: err}
		}
	}
}

// join returns the request that is in progress, or starts one.
func (f *flight[T]) join(ctx context.Context, ask func(context.Context) (T, error)) (running *task.Task[T], joined bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	joined = f.running != nil
	if !joined {
		f.running = task.Go(func() (T, error) {
			defer f.leave()
			ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), refreshTimeout, errTokenTimeout)
			defer cancel()
			return ask(context.WithValue(ctx, limitKey{}, errTokenTimeout))
		})
	}
	return f.running, joined
}

// errTokenTimeout is the end of a request for a token that no caller's context has ended.
var errTokenTimeout = &failure{sentinel: ErrTimeout, text: "the token endpoint did not respond within " + refreshTimeout.String()}

type limitKey struct{}

// pastDeadline is the error of a wait that ctx does not allow: its deadline is the caller's, or that
// of a request for a token.
func pastDeadline(ctx context.Context) error {
	if own, limited := ctx.Value(limitKey{}).(error); limited {
		return own
	}
	return context.DeadlineExceeded
}

func (f *flight[T]) leave() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.running = nil
}

// credentialError says why there is no credential, without anything the token endpoint answered.
type credentialError struct {
	reason    string
	temporary bool
	wait      time.Duration // that the token endpoint asks for
	cause     error
}

func (e *credentialError) Error() string { return e.reason }

func (e *credentialError) Unwrap() []error {
	if e.cause == nil {
		return []error{ErrCredential}
	}
	return []error{ErrCredential, e.cause}
}
