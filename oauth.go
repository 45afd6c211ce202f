package forge

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/forge-sdk/forge-go/internal/conn"
	"github.com/forge-sdk/forge-go/internal/credential"
	"github.com/forge-sdk/forge-go/internal/throttle"
	"golang.org/x/oauth2"
)

// networkCause returns the cause of a failure without text from the network. net/http quotes
// responses that it cannot read, and a token endpoint may send back the secrets that it received.
func networkCause(err error) error {
	var network *net.OpError
	var certificate *tls.CertificateVerificationError
	var timed net.Error
	switch {
	case errors.As(err, &network):
		return network
	case errors.As(err, &certificate):
		return certificate
	case errors.Is(err, context.DeadlineExceeded):
		return context.DeadlineExceeded
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return io.ErrUnexpectedEOF
	case errors.Is(err, http.ErrSchemeMismatch):
		return http.ErrSchemeMismatch
	case errors.As(err, &timed) && timed.Timeout():
		return os.ErrDeadlineExceeded
	}
	return nil
}

// isTokenErrorCode reports whether code is one of RFC 6749. A token endpoint may send anything.
func isTokenErrorCode(code string) bool {
	switch code {
	case "invalid_request", "invalid_client", "invalid_grant", "unauthorized_client", "unsupported_grant_type", "invalid_scope":
		return true
	}
	return false
}

// tokenRemedy returns what to do about a refusal of the token endpoint; "" if that is not known.
func tokenRemedy(status int, code string) string {
	switch {
	case code == "invalid_grant":
		return "the refresh token is wrong, expired, revoked or used already: authorize the application again"
	case code == "invalid_client", code == "unauthorized_client":
		return "check ClientID and ClientSecret of the config"
	case status == http.StatusNotFound, status == http.StatusMethodNotAllowed:
		return "check TokenURL of the config: for GitLab its path is /oauth/token"
	}
	return ""
}

// withoutTokenResponse returns the error of a token request without the endpoint's response, which
// may contain a secret.
func withoutTokenResponse(host string, err, cause error) error {
	var rejected *oauth2.RetrieveError
	if !errors.As(err, &rejected) {
		temporary := isConnectionError(err) && !isPermanent(err) && !errors.Is(err, http.ErrSchemeMismatch)
		return &credential.Error{Reason: joinParts(" ", "obtaining a token failed", host), Temporary: temporary, Wait: proxyWait(err), Cause: cause}
	}
	var status int
	answer := "an error" // a caller's source may omit the response
	if rejected.Response != nil {
		status = rejected.Response.StatusCode
		answer = strconv.Itoa(status)
	}
	reason := "the token endpoint responded with " + answer
	if isTokenErrorCode(rejected.ErrorCode) {
		reason += " " + rejected.ErrorCode
	}
	reason = joinParts(": ", joinParts(" ", reason, host), tokenRemedy(status, rejected.ErrorCode))
	failed := &credential.Error{Reason: reason, Temporary: RetryClassSafe.retriesStatus(status) || isLock(status, string(rejected.Body))}
	if failed.Temporary { // there is a response
		failed.Wait = throttle.RetryAfter(status, rejected.Response.Header, time.Now())
	}
	return failed
}

// isConnectionError reports whether there was no complete response.
func isConnectionError(err error) bool {
	var network net.Error // a *url.Error, too
	return errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// maxTokenResponse is the limit of x/oauth2.
const maxTokenResponse = 1 << 20 // bytes

// exchangeToken requests a token. If the endpoint rejects the client's secret in one place (header
// or body), it makes a second request with the secret in the other.
func exchangeToken(ctx context.Context, config *oauth2.Config, transport http.RoundTripper, refreshToken string) (*oauth2.Token, error) {
	ctx, cancel := withTokenTimeout(ctx)
	defer cancel()
	client := &http.Client{Transport: &tokenEndpoint{transport: transport}} // no Timeout: it costs a goroutine of net/http, and ctx has a deadline
	ctx = context.WithValue(&routeContext{ctx, nil}, oauth2.HTTPClient, client)
	token, err := config.TokenSource(ctx, &oauth2.Token{RefreshToken: refreshToken}).Token()
	if err != nil {
		return nil, exchangeError(ctx, "("+hostOf(config.Endpoint.TokenURL)+")", err)
	}
	return token, nil
}

// tokenEndpoint is the transport of one OAuth exchange. x/oauth2 accepts every 2xx as a token, and
// reads the body of a 101, which the end of the context does not interrupt. net/http would follow a
// redirect; it sends a POST again by itself only if the server did not process it. The body is read
// here, to distinguish a lost response from one that cannot be used.
//
// After any failure, x/oauth2 makes a second request, with the client's secret in another place.
// That request is sent only if the first one was rejected. Otherwise x/oauth2 gets the first
// response again, as the first request may have used up the refresh token.
type tokenEndpoint struct {
	transport http.RoundTripper
	sent      bool
	response  *http.Response
	body      []byte
	err       error
}

func (t *tokenEndpoint) RoundTrip(req *http.Request) (*http.Response, error) {
	if !t.sent || t.rejected() {
		t.sent = true
		t.response, t.body, t.err = t.exchange(req)
	}
	if t.err != nil {
		return nil, t.err
	}
	whole := *t.response
	whole.Body = io.NopCloser(bytes.NewReader(t.body))
	return &whole, nil
}

// rejected reports whether the endpoint refused the request without processing it.
func (t *tokenEndpoint) rejected() bool {
	if t.err != nil || t.response.StatusCode < 400 || t.response.StatusCode >= 500 {
		return false
	}
	return !RetryClassSafe.retriesStatus(t.response.StatusCode) && !isLock(t.response.StatusCode, string(t.body))
}

func (t *tokenEndpoint) exchange(req *http.Request) (*http.Response, []byte, error) {
	response, err := t.transport.RoundTrip(req)
	if err == nil {
		err = checkResponse(response, nil)
	}
	if err != nil {
		network, _ := t.transport.(*http.Transport)
		return nil, nil, conn.HideProxy(err, conn.ProxyOf(network, req))
	}
	defer response.Body.Close()
	if outcome := outcomeOf(&route{}, response.StatusCode, nil); outcome != succeeded && outcome != rejected {
		return nil, nil, &tokenStatusError{response.StatusCode}
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxTokenResponse))
	return response, body, err
}

// tokenStatusError is a response of the token endpoint that is neither a token nor a refusal.
type tokenStatusError struct{ status int }

func (e *tokenStatusError) Error() string {
	return fmt.Sprintf("the token endpoint responded with %d %s", e.status, statusText(e.status))
}

// exchangeError returns the error of an exchange, without anything that the endpoint sent. A
// complete response that cannot be used is final: it may have used up the refresh token.
func exchangeError(ctx context.Context, host string, err error) error {
	var network *url.Error
	var status *tokenStatusError
	var refused *oauth2.RetrieveError
	switch {
	case errors.Is(context.Cause(ctx), ErrTimeout):
		return &credential.Error{Reason: context.Cause(ctx).Error(), Temporary: true, Cause: context.Cause(ctx)}
	case errors.As(err, &status):
		return &credential.Error{Reason: strings.TrimSpace(status.Error()) + " " + host + ": check TokenURL of the config"}
	case errors.As(err, &refused), errors.As(err, &network):
		return withoutTokenResponse(host, err, networkCause(err))
	}
	return &credential.Error{Reason: "the token endpoint's response has no usable token " + host + ": check TokenURL of the config"}
}

// hostOf returns the host of an address that parseBase accepts.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host
}
