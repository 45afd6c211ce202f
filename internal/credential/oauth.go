package credential

import (
	"context"
	"errors"
	"sync"

	"golang.org/x/oauth2"
)

// FromSource returns a credential with the tokens of a caller's source. A source has no context and
// may block: one call of it is in progress at a time, and each waiter returns when its own context
// ends. describe converts an error of the source.
func FromSource(source oauth2.TokenSource, describe func(error) error) Credential {
	var shared Singleflight[*oauth2.Token]
	return Bearer(func(ctx context.Context, _ string) (*oauth2.Token, error) {
		return shared.Do(ctx, func(context.Context) (*oauth2.Token, error) {
			token, err := source.Token()
			if err != nil {
				err = describe(err)
			}
			return token, err
		})
	})
}

// OAuth is a token that is refreshed. Its credentials share it: a token that is refreshed for
// one of them is refreshed for all. Only closures may hold it.
type OAuth struct {
	saved  func(*oauth2.Token)
	shared Singleflight[*oauth2.Token]
	last   lastToken

	mu      sync.Mutex
	current *oauth2.Token
}

// NewOAuth returns an OAuth with a copy of token. saved is called with each new token. The text of
// an error is the reason why the token cannot be sent.
func NewOAuth(token *oauth2.Token, saved func(*oauth2.Token)) (*OAuth, error) {
	switch err := checkToken(token.AccessToken); {
	case token.AccessToken == "" && token.RefreshToken == "":
		return nil, err
	case token.AccessToken != "" && err != nil:
		return nil, err
	case !isTokenType(token.Type()):
		return nil, errors.New("the token's type has bytes that no header can have")
	}
	own := *token
	return &OAuth{saved: saved, current: &own}, nil
}

// Credential returns a credential with the token. exchange obtains another one for a refresh token,
// with the client's secret.
func (o *OAuth) Credential(secret string, exchange func(ctx context.Context, refreshToken string) (*oauth2.Token, error)) Credential {
	c := bearer(&o.last, func(ctx context.Context, refused string) (*oauth2.Token, error) {
		token, ok := o.usable(refused)
		switch {
		case ok:
			return token, nil
		case token.RefreshToken == "" && refused != "":
			return token, nil
		case token.RefreshToken == "":
			return nil, &Error{Reason: "the OAuth token has expired and there is no refresh token: authorize the application again, and pass a token with its RefreshToken"}
		}
		return o.shared.Do(ctx, func(ctx context.Context) (*oauth2.Token, error) {
			if token, ok := o.usable(refused); ok {
				return token, nil
			}
			return o.refresh(ctx, exchange)
		})
	})
	c.stored = func() []string {
		token, _ := o.usable("")
		return []string{token.AccessToken, token.RefreshToken, secret}
	}
	return c
}

func (o *OAuth) usable(refused string) (*oauth2.Token, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.current, o.current.Valid() && o.current.AccessToken != refused
}

// refresh obtains a token and stores it. It also stores a refresh token that comes with an unusable
// token, since the old refresh token may no longer be valid.
func (o *OAuth) refresh(ctx context.Context, exchange func(ctx context.Context, refreshToken string) (*oauth2.Token, error)) (*oauth2.Token, error) {
	old, _ := o.usable("")
	fresh, err := exchange(ctx, old.RefreshToken)
	if err != nil {
		return nil, err
	}
	if err = checkBearer(fresh); err != nil {
		if fresh = (&oauth2.Token{RefreshToken: fresh.RefreshToken}); fresh.RefreshToken == old.RefreshToken {
			return nil, err
		}
	}
	o.mu.Lock()
	o.current = fresh
	o.mu.Unlock()
	o.saved(fresh)
	return fresh, err
}
