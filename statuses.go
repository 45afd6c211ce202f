package forge

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/forge-sdk/forge-go/internal/conn"
)

// outcome is the meaning of a status for a call.
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
		if r.Class == RetryClassSafe && sent.Get("Range") != "" {
			return succeeded
		}
	case status == http.StatusOK:
		return succeeded
	case status == http.StatusCreated, status == http.StatusAccepted, status == http.StatusNoContent:
		if r.Class != RetryClassSafe {
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
		return c != RetryClassNonIdempotent
	}
	return c != RetryClassNonIdempotent && conn.ProxyStatusText(status) != ""
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

// unexpectedText explains a status that the endpoint does not return.
func unexpectedText(status int) string {
	switch {
	case status < 100 || status > 599:
		return fmt.Sprintf("%03d is not an HTTP status", status)
	case status == http.StatusSwitchingProtocols:
		return "the server switched to another protocol, which was not requested"
	case status == http.StatusPartialContent:
		return "the server returned a part of the content, which was not requested"
	case status == http.StatusNotModified:
		return "the server returned no content, although the request had no condition"
	}
	return "the endpoint does not return this status: a proxy or a cache may have changed the response"
}
