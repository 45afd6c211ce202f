package forge

import (
	"net/http"
	"strings"

	"github.com/forge-sdk/forge-go/internal/conn"
)

// outcome is the meaning of a response's status for its call.
type outcome uint8

const (
	// succeeded: the endpoint did what was requested.
	succeeded outcome = iota + 1
	// unchanged: a 304 that the endpoint documents, or that the caller's condition requested.
	unchanged
	// rejected: a 4xx or 5xx.
	rejected
	// unexpected: the endpoint does not return this status, so the result is not known.
	unexpected
)

// outcomeOf implements the table in docs/errors-and-retries.md, "What each status means". sent
// holds the headers that the caller added to the request.
func outcomeOf(r *route, status int, sent http.Header) outcome {
	switch {
	case status >= 400 && status < 600:
		return rejected
	case status == http.StatusNotModified:
		if r.notModified || hasCondition(sent) {
			return unchanged
		}
	case status == http.StatusPartialContent:
		if r.Class == ClassSafe && sent.Get("Range") != "" {
			return succeeded
		}
	case status == http.StatusOK:
		return succeeded
	case status == http.StatusCreated, status == http.StatusAccepted, status == http.StatusNoContent:
		if r.Class != ClassSafe {
			return succeeded
		}
	}
	return unexpected
}

func hasCondition(sent http.Header) bool {
	return sent.Get("If-None-Match") != "" || sent.Get("If-Modified-Since") != ""
}

// retriesStatus reports whether calls of the class are sent again after the status. The server did
// not act before a 425 or a 429; before the others it may have.
func (c RetryClass) retriesStatus(status int) bool {
	switch status {
	case http.StatusTooEarly, http.StatusTooManyRequests:
		return true
	case http.StatusRequestTimeout, http.StatusInternalServerError, http.StatusBadGateway,
		http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return c != ClassNonIdempotent
	}
	return c != ClassNonIdempotent && conn.ProxyStatusText(status) != ""
}

// isLock reports whether the server did not act because another request holds a lock. Deployed
// servers report a lock with a 409; other conflicts persist.
func isLock(status int, message string) bool {
	return status == http.StatusConflict && strings.Contains(message, "Resource lock")
}

// statusText is http.StatusText with the additional statuses of proxies.
func statusText(status int) string {
	if text := http.StatusText(status); text != "" {
		return text
	}
	return conn.ProxyStatusText(status)
}
