package forge

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/forge-sdk/forge-go/internal/conn"
	"github.com/forge-sdk/forge-go/internal/credential"
	"github.com/forge-sdk/forge-go/internal/safetext"
)

// credentialStep gets the credential of an attempt. The next steps send it to the client's own
// origin only.
type credentialStep struct{ next redirectStep }

// authorization is the header with a credential.
type authorization struct {
	header, value string // empty for an anonymous call
	token         credential.Sent
}

func (s credentialStep) do(ctx context.Context, a attempt) *result {
	start := time.Now()
	name, value, token, err := a.request.auth.Authorize(ctx)
	if err != nil {
		r := (&result{delivery: delivery{start: start}}).failed(credentialError(err))
		permanent, retryAfter := isFinalCredentialError(err)
		r.permanent, r.retryAfter = permanent, max(r.retryAfter, retryAfter)
		return r
	}
	return s.next.do(ctx, a, delivery{start: start, token: token}, authorization{name, value, token})
}

// redactor removes from text the credential of a call, and the token that it sent: another call may
// have renewed it meanwhile.
type redactor struct {
	auth  *credential.Credential
	token credential.Sent
}

func (r redactor) redact(text string) string { return r.auth.Redact(text, r.token) }

// safeText is safetext.Clean for text that may contain the credential. The order matters: remove
// control bytes (which may join the parts of a token), redact, then truncate (which may leave a
// part).
func (r redactor) safeText(text string, limit int) string {
	return safetext.Truncate(r.redact(safetext.Printable(text)), limit)
}

// redactError replaces an error whose text contains the credential: errors quote servers, and a
// server may send the credential back.
func (r redactor) redactError(err error) error {
	if err == nil {
		return nil
	}
	text := safetext.Printable(err.Error())
	if clean := r.redact(text); clean != text {
		return &sentinelError{sentinel: ErrInvalidResponse, text: clean}
	}
	return err
}

// redactHeader redacts the values of a header or trailer in place.
func (r redactor) redactHeader(h http.Header) {
	for _, values := range h {
		for i, value := range values {
			text := safetext.Printable(value)
			if clean := r.redact(text); clean != text {
				values[i] = clean
			}
		}
	}
}

// tokenTimeout limits a request for a token that several calls may wait for.
const tokenTimeout = 30 * time.Second

// errTokenTimeout ends a request for a token that takes too long. The end of a caller's context
// does not end that request.
var errTokenTimeout = &conn.TimeoutError{Text: "the token endpoint did not respond within " + tokenTimeout.String(), Sentinel: ErrTimeout}

// withTokenTimeout returns the context of a request for a token.
func withTokenTimeout(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeoutCause(ctx, tokenTimeout, errTokenTimeout)
	return context.WithValue(ctx, timeLimitKey{}, errTokenTimeout), cancel
}

// credentialError makes an error of internal/credential match ErrNoCredential. Other errors, such
// as the end of a context, are returned unchanged.
func credentialError(err error) error {
	var failed *credential.Error
	if !errors.As(err, &failed) {
		return err
	}
	return &sentinelError{sentinel: ErrNoCredential, text: err.Error(), cause: err}
}

// isFinalCredentialError reports whether the failure to get a credential is final. If it is not,
// wait is the time that the token endpoint requests.
func isFinalCredentialError(err error) (final bool, wait time.Duration) {
	var failed *credential.Error
	if !errors.As(err, &failed) || !failed.Temporary {
		return true, 0
	}
	return false, failed.Wait
}

// isCredentialHeader reports whether a header carries a credential. Such a header is sent to the
// client's own origin only, and no request option may set it.
func isCredentialHeader(name string) bool {
	switch http.CanonicalHeaderKey(name) {
	case "Private-Token", "Job-Token", "Authorization", "Proxy-Authorization", "Cookie", "Sudo", "Deploy-Token":
		return true
	}
	return false
}

// isCredentialParam reports whether a server reads a credential from the query parameter. It
// ignores brackets: servers read private_token[] and private_token[x] as private_token. A semicolon
// in the name separates parameters, as for many servers.
func isCredentialParam(name string) bool {
	for part := range strings.FieldsFuncSeq(unescapeAll(name), isSeparator) {
		part, _, _ = strings.Cut(part, "=")
		switch strings.ToLower(baseParam(part)) {
		case "private_token", "access_token", "job_token", "token", "oauth_token", "authorization", "client_secret",
			"refresh_token", "feed_token", "rss_token", "sudo":
			return true
		}
	}
	return false
}

// isSeparator reports whether servers separate the parameters of a query with c.
func isSeparator(c rune) bool { return c == '&' || c == ';' }

// baseParam returns the name of a parameter without escapes, brackets and the keys in them. Nested
// escapes are decoded too, as a proxy may decode one layer.
func baseParam(name string) string {
	name = strings.TrimLeft(strings.TrimSpace(unescapeAll(name)), "[]")
	name, _, _ = strings.Cut(strings.ReplaceAll(name, "]", "["), "[")
	return strings.TrimSpace(name)
}

// jobAuthorities is the environment variable of a CI job with the path of a file with the
// certificates of its server.
const jobAuthorities = "CI_SERVER_TLS_CA_FILE"
