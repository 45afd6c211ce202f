package forge

import (
	"context"
	"net/http"
	"time"

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
