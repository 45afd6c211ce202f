package forge

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

// tunnelError is a proxy that did not connect to the server. Nothing was sent.
type tunnelError struct {
	status int
	wait   time.Duration // that the proxy asks for
}

// Error names the proxy: net/http gives the words of its status alone, which read as if the server had refused the call.
func (e *tunnelError) Error() string {
	text := fmt.Sprintf("the proxy answered %d %s", e.status, statusText(e.status))
	if e.status == http.StatusProxyAuthRequired {
		text += ": check the user and password in the address of the proxy"
	}
	return text
}

// lasting reports whether the proxy would answer the same again.
func (e *tunnelError) lasting() bool {
	return e.status < 500 && e.status != http.StatusRequestTimeout &&
		e.status != http.StatusTooEarly && e.status != http.StatusTooManyRequests
}

// tunnelWait is the wait that a proxy asks for which did not connect to the server.
func tunnelWait(err error) time.Duration {
	var tunnel *tunnelError
	if errors.As(err, &tunnel) {
		return tunnel.wait
	}
	return 0
}

// checkTunnel is the OnProxyConnectResponse of a transport that has none.
func checkTunnel(_ context.Context, _ *url.URL, _ *http.Request, answer *http.Response) error {
	if answer.StatusCode == http.StatusOK {
		return nil
	}
	return &tunnelError{answer.StatusCode, readRetryAfter(answer.StatusCode, answer.Header, time.Now())}
}
