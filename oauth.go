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
	"os"
	"time"

	"github.com/forge-sdk/forge-go/internal/conn"
	"github.com/forge-sdk/forge-go/internal/credential"
	"golang.org/x/oauth2"

	"github.com/forge-sdk/forge-go/internal/throttle"
)

// networkCause returns the cause of a failure without text from the network. net/http quotes
// responses that it cannot read, and a token endpoint may send back the secrets that it received.
func networkCause(err error) error {
	var network *net.OpError
	var certificate *tls.CertificateVerificationError
	var timed net.Error
	switch {
	case errors.Is(err, conn.ErrNotProcessed):
		return conn.ErrNotProcessed
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
	status := 0 // a caller's source may omit the response
	if rejected.Response != nil {
		status = rejected.Response.StatusCode
	}
	reason := fmt.Sprintf("the token endpoint responded with %d", status)
	if isTokenErrorCode(rejected.ErrorCode) {
		reason += " " + rejected.ErrorCode
	}
	reason = joinParts(": ", joinParts(" ", reason, host), tokenRemedy(status, rejected.ErrorCode))
	failed := &credential.Error{Reason: reason, Temporary: RetryClassSafe.retriesStatus(status) || isLock(status, string(rejected.Body))}
	if failed.Temporary && rejected.Response != nil {
		failed.Wait = throttle.RetryAfter(status, rejected.Response.Header, time.Now())
	}
	return failed
}

// isConnectionError reports whether there was no complete response.
func isConnectionError(err error) bool {
	var exchange *url.Error
	var network net.Error
	return errors.As(err, &exchange) || errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}
