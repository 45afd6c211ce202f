package forge

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/forge-sdk/forge-go/internal/conn"
	"github.com/forge-sdk/forge-go/internal/credential"
)

// call is one call: the request, the policy, and the record of its attempts. It is the
// http.RoundTripper below the loop of go-retryablehttp, so that one policy evaluates every attempt,
// body included. Only the named file assigns the fields of a part; the others call its methods.
type call struct {
	request *request
	auth    *credential.Credential // of the origin that the request goes to
	options *callOptions
	url     url.URL
	query   url.Values // that url has, or that a list adds its pagination to
	body    *payload
	context routeContext

	started time.Time
	retry   retryState      // call_retry.go
	sent    credential.Sent // the token in the last request
	moved   *url.URL        // where redirects led, on the client's own origin

	keysetOptional bool // a 405 is not a failure: the list goes on by offset

	last       attempt
	data       *workspace
	firstConn  conn.Context // of the first attempt, in the same allocation
	stream     io.ReadCloser
	upload     *conn.Upload
	crash      crash // of the caller's code that a body runs
	mismatches []Mismatch
}

// newCall makes a call of the request, in the given piece of memory.
func newCall(c *call, r *request, options *callOptions, u url.URL, body *payload) *call {
	c.request, c.auth, c.options, c.url, c.body = r, r.auth, options, u, body
	return c
}

func (c *call) core() *core   { return c.request.core }
func (c *call) route() *route { return c.request.route }

// send runs the attempts. Its error is the caller's: an *Error or a *RateLimitError.
func (c *call) send(ctx context.Context) error {
	if plan := c.options.plan; plan != nil {
		return plan(c)
	}
	c.context = routeContext{ctx, c.route()}
	ctx = &c.context
	c.started = time.Now()
	c.core().stats.calls.Add(1)
	var err error
	if c.attempt(ctx); c.last.ok() {
		_, err = c.checkRetry(ctx, nil, nil)
	} else {
		err = c.retryLoop()
	}
	switch {
	case err != nil || !c.last.ok():
		err = c.failed(ctx)
	case c.last.outcome == unchanged:
		err = c.error() // the requested state is there already: an error that is not a failure
	}
	c.end(ctx, err)
	return err
}

// end counts and records the end of the call. ErrNotModified is not a failure: there was nothing
// to change.
func (c *call) end(ctx context.Context, err error) {
	refused := c.keysetOptional && c.last.status == http.StatusMethodNotAllowed
	failed := err != nil && !errors.Is(err, ErrNotModified) && !refused
	if failed {
		c.core().stats.failures.Add(1)
	}
	c.core().config.log.end(ctx, c, err, failed)
}
