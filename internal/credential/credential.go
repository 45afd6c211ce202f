package credential

import (
	"context"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"strings"
	"sync"
	"time"

	"golang.org/x/oauth2"

	"github.com/forge-sdk/forge-go/internal/safetext"
)

// Credential authenticates requests. Requests with the zero Credential are anonymous.
type Credential struct {
	kind      Kind
	header    string
	misplaced string
	authorize func(ctx context.Context) (value string, sent Sent, err error)
	renew     func(ctx context.Context, sent Sent) (bool, error) // nil: the token does not change
	redact    func(text string) string
	stored    func() []string // secrets that no request of the API carries, and tokens not sent yet; nil: none
}

// Sent is the token that a request was sent with. The zero Sent holds no token.
type Sent struct{ token func() string }

// Kind is the kind of a credential.
type Kind uint8

const (
	Anonymous    Kind = iota // none
	AccessToken              // a personal, project or group access token
	JobToken                 // a CI job token
	OAuthToken               // a token that may change: of OAuth, of a token source, or of a registry
	UserPassword             // a user and a password
)

// Kind returns the kind of the credential.
func (c Credential) Kind() Kind { return c.kind }

// Header returns the name of the header that carries the credential; "" for none.
func (c Credential) Header() string { return c.header }

// Misplaced returns what to do about a token whose prefix is that of another kind; "" for others.
func (c Credential) Misplaced() string { return c.misplaced }

func misplaced(kind Kind, token string) string {
	switch {
	case kind == AccessToken && strings.HasPrefix(token, "glcbt-"):
		return "the token is a CI job token (glcbt-): pass it with WithJobToken"
	case strings.HasPrefix(token, "glrt-"):
		return "the token is that of a runner (glrt-), which this API does not accept: use an access token"
	case kind == JobToken && strings.HasPrefix(token, "glpat-"):
		return "the token is an access token (glpat-): pass it with WithToken"
	}
	return ""
}

// Authorize returns the header for one request, and the token in it. The name is empty if there is
// none.
func (c Credential) Authorize(ctx context.Context) (name, value string, sent Sent, err error) {
	if c.authorize == nil {
		return "", "", Sent{}, nil
	}
	if value, sent, err = c.authorize(ctx); err != nil {
		return "", "", Sent{}, err
	}
	return c.header, value, sent, nil
}

// Renew reports whether there is another token than the one that was sent and refused. With an
// error there is none.
func (c Credential) Renew(ctx context.Context, sent Sent) (bool, error) {
	if c.renew == nil {
		return false, nil
	}
	return c.renew(ctx, sent)
}

// Redact removes from text the secret of the credential and the token that was sent.
func (c Credential) Redact(text string, sent Sent) string {
	if sent.token != nil {
		text = safetext.Redact(text, sent.token())
	}
	if c.redact == nil {
		return text
	}
	return c.redact(text)
}

// RedactStored removes from text all secrets of the credential, those that were not sent included.
func (c Credential) RedactStored(text string) string {
	if c.stored != nil {
		for _, secret := range c.stored() {
			text = safetext.Redact(text, secret)
		}
	}
	return c.Redact(text, Sent{})
}

// Same reports whether both send the same token. Tokens that change are not compared.
func (c Credential) Same(other Credential) bool {
	if c.kind != other.kind || c.kind == OAuthToken {
		return false
	}
	name, value, _, _ := c.Authorize(context.Background())
	otherName, otherValue, _, _ := other.Authorize(context.Background())
	return name == otherName && subtle.ConstantTimeCompare([]byte(value), []byte(otherValue)) == 1
}

// Fixed returns a credential that sends the same token with every request. The kind is AccessToken
// or JobToken. The text of an error is the reason why the token cannot be sent.
func Fixed(kind Kind, token string) (Credential, error) {
	header := "Private-Token"
	if kind == JobToken {
		header = "Job-Token"
	}
	c := fixed(kind, header, token, func(text string) string { return safetext.Redact(text, token) })
	c.misplaced = misplaced(kind, token)
	return c, checkToken(token)
}

// Basic returns a credential that sends a user and a password.
func Basic(user, password string) Credential {
	pair := base64.StdEncoding.EncodeToString([]byte(user + ":" + password))
	return fixed(UserPassword, "Authorization", "Basic "+pair, func(text string) string {
		return safetext.Redact(safetext.Redact(text, pair), password)
	})
}

func fixed(kind Kind, header, value string, redact func(text string) string) Credential {
	return Credential{
		kind: kind, header: header, redact: redact,
		authorize: func(context.Context) (string, Sent, error) { return value, Sent{}, nil },
	}
}

// Bearer returns a credential that sends the token that source returns. source is called with the
// token that the server refused, or with "".
func Bearer(source func(ctx context.Context, refused string) (*oauth2.Token, error)) Credential {
	return bearer(new(lastToken), source)
}

func bearer(last *lastToken, source func(ctx context.Context, refused string) (*oauth2.Token, error)) Credential {
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
	return Credential{
		kind: OAuthToken, header: "Authorization",
		authorize: func(ctx context.Context) (string, Sent, error) {
			token, err := get(ctx, "")
			if err != nil {
				return "", Sent{}, err
			}
			return token.Type() + " " + token.AccessToken, Sent{func() string { return token.AccessToken }}, nil
		},
		renew: func(ctx context.Context, sent Sent) (bool, error) {
			refused := ""
			if sent.token != nil {
				refused = sent.token()
			}
			token, err := get(ctx, refused)
			return err == nil && token.AccessToken != refused, err
		},
		redact: func(text string) string { return safetext.Redact(text, last.get()) },
	}
}

// lastToken is the token that a credential has sent most recently. Only closures hold it.
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

// checkToken refuses text that cannot be a token before it is put into a header.
func checkToken(token string) error {
	switch {
	case token == "":
		return errors.New("the token is empty")
	case strings.HasPrefix(strings.ToLower(token), "bearer "):
		return errors.New(`the token begins with "Bearer": pass the token alone`)
	case strings.ContainsAny(token[:1], `"'$`):
		return errors.New("the token is in quotes, or it is the name of a variable: pass its value alone")
	case strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r >= 0x7f }):
		if trimmed := strings.TrimSpace(token); trimmed != token && checkToken(trimmed) == nil {
			return errors.New("the token has spaces, control bytes or bytes outside ASCII: remove the line end with strings.TrimSpace")
		}
		return errors.New("the token has spaces, control bytes or bytes outside ASCII")
	}
	return nil
}

// checkBearer refuses a token that was obtained and cannot be sent.
func checkBearer(token *oauth2.Token) error {
	switch {
	case token == nil:
		return &Error{Reason: "the token source returned no token: it must return a token or an error"}
	case checkToken(token.AccessToken) != nil:
		return &Error{Reason: "the token source returned a token that is empty or has illegal bytes"}
	case !isTokenType(token.Type()):
		return &Error{Reason: "the token source returned a token whose type has illegal bytes"}
	}
	return nil
}

// isTokenType reports whether the type can stand before a token in a header (RFC 9110 §11.1).
func isTokenType(kind string) bool {
	return kind != "" && !strings.ContainsFunc(kind, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
	})
}

// Error is the reason why there is no token. It contains no text from the token endpoint.
type Error struct {
	Reason    string
	Temporary bool          // another attempt may succeed
	Wait      time.Duration // requested by the token endpoint; 0: none
	Cause     error         // nil: none
}

// Error returns the reason.
func (e *Error) Error() string { return e.Reason }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }
