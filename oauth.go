package forge

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"golang.org/x/oauth2"
)

// sourceState is what the clients of one WithTokenSource share.
type sourceState struct {
	source oauth2.TokenSource
	shared flight[*oauth2.Token]
	last   lastToken
}

// credential asks a token source of the caller's, which has no context and may hang: one question
// is under way at a time, and everybody who waits for it leaves when their own context ends.
func (s *sourceState) credential(http.RoundTripper) credential {
	return bearerToken(&s.last, func(ctx context.Context, _ string) (*oauth2.Token, error) {
		return s.shared.do(ctx, func(context.Context) (*oauth2.Token, error) {
			token, err := s.source.Token()
			return token, hideTokenBody(err, transportCause(err))
		})
	})
}

// oauthState is what the clients of one WithOAuth share: a token that is refreshed by one of them
// is refreshed for all.
type oauthState struct {
	config oauth2.Config
	saved  func(*oauth2.Token)
	shared flight[*oauth2.Token]
	last   lastToken

	mu      sync.Mutex
	current *oauth2.Token
}

// credential keeps and refreshes the token, over the client's own transport.
func (s *oauthState) credential(transport http.RoundTripper) credential {
	return bearerToken(&s.last, func(ctx context.Context, refused string) (*oauth2.Token, error) {
		token, ok := s.usable(refused)
		switch {
		case ok:
			return token, nil
		case token.RefreshToken == "" && refused != "":
			return token, nil
		case token.RefreshToken == "":
			return nil, &credentialError{reason: "the OAuth token has expired and there is no refresh token"}
		}
		return s.shared.do(ctx, func(ctx context.Context) (*oauth2.Token, error) {
			if token, ok := s.usable(refused); ok {
				return token, nil
			}
			return s.refresh(ctx, transport)
		})
	})
}

func (s *oauthState) usable(refused string) (*oauth2.Token, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current, s.current.Valid() && s.current.AccessToken != refused
}

// refresh makes one request for a token, or two where the endpoint refuses the client's secret in
// the first place. A refresh token that comes with an unusable token is kept: the old one may be
// used up.
func (s *oauthState) refresh(ctx context.Context, transport http.RoundTripper) (*oauth2.Token, error) {
	old, _ := s.usable("")
	client := &http.Client{ // without Timeout, which flight has: it takes a goroutine of net/http
		Transport:     &tokenEndpoint{transport: transport},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	ctx = context.WithValue(&routeContext{ctx, nil}, oauth2.HTTPClient, client)
	fresh, err := s.config.TokenSource(ctx, &oauth2.Token{RefreshToken: old.RefreshToken}).Token()
	if err != nil {
		return nil, exchangeError(ctx, err)
	}
	if err = checkBearer(fresh); err != nil {
		if fresh = (&oauth2.Token{RefreshToken: fresh.RefreshToken}); fresh.RefreshToken == old.RefreshToken {
			return nil, err
		}
	}
	s.mu.Lock()
	s.current = fresh
	s.mu.Unlock()
	s.saved(fresh)
	return fresh, err
}

// networkCause is what of a failure quotes nothing that came: net/http quotes answers that it
// cannot read, and a token endpoint may have put what it was sent into one.
func networkCause(err error) error {
	var network *net.OpError
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.Is(err, errNotProcessed):
		return errNotProcessed
	case errors.As(err, &network):
		return network
	case errors.As(err, &certificate):
		return certificate
	case errors.Is(err, context.DeadlineExceeded):
		return context.DeadlineExceeded
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return io.ErrUnexpectedEOF
	}
	return nil
}

// isTokenErrorCode tells the codes of RFC 6749 from whatever else a token endpoint sends.
func isTokenErrorCode(code string) bool {
	switch code {
	case "invalid_request", "invalid_client", "invalid_grant", "unauthorized_client", "unsupported_grant_type", "invalid_scope":
		return true
	}
	return false
}

// hideTokenBody keeps the token endpoint's answer, which may hold a secret, out of the error.
func hideTokenBody(err, cause error) error {
	if err == nil {
		return nil
	}
	var refused *oauth2.RetrieveError
	if !errors.As(err, &refused) {
		temporary := isConnectionError(err) && !neverRepeat(err)
		return &credentialError{reason: "obtaining a token failed", temporary: temporary, wait: tunnelWait(err), cause: cause}
	}
	status := 0 // a source of the caller's may leave the answer out
	if refused.Response != nil {
		status = refused.Response.StatusCode
	}
	reason := fmt.Sprintf("the token endpoint answered %d", status)
	if isTokenErrorCode(refused.ErrorCode) {
		reason += " " + refused.ErrorCode
	}
	failed := &credentialError{reason: reason, temporary: safe.retriesStatus(status) || isLock(status, string(refused.Body))}
	if failed.temporary && refused.Response != nil {
		failed.wait = readRetryAfter(status, refused.Response.Header, time.Now())
	}
	return failed
}

// isConnectionError reports whether there was no complete response.
func isConnectionError(err error) bool {
	var exchange *url.Error
	var network net.Error
	return errors.As(err, &exchange) || errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}
