package forge

import (
	"context"
	"errors"
	"net/http"
	"net/url"
)

// call is one call: the request, the policy, and the record of its attempts. It is the
// http.RoundTripper below the loop of go-retryablehttp, so that one policy evaluates every attempt,
// body included. Only the named file assigns the fields of a part; the others call its methods.
type call struct {
	request *request
	options *callOptions
	url     url.URL
	query   url.Values // encoded in url, except for a list, which adds its pagination
	body    *payload

	keysetOptional bool // a 405 is not a failure, as the list continues by offset

	attempt      attempt       // call_attempt.go
	response     responseState // call_response.go
	retry        retryState    // call_retry.go
	redirectedTo *url.URL      // call_redirect.go: on the client's own origin
}

// init sets up a call of the request.
func (c *call) init(r *request, options *callOptions, u url.URL, body *payload) *call {
	c.request, c.options, c.url, c.body = r, options, u, body
	return c
}

func (c *call) core() *core   { return c.request.core }
func (c *call) route() *route { return c.request.route }

// send runs the attempts. Its error, an *Error or a *RateLimitError, is returned to the caller.
func (c *call) send(ctx context.Context) error {
	if plan := c.options.plan; plan != nil {
		return plan(c)
	}
	ctx = c.attempt.setContext(ctx, c.route())
	c.retry.start()
	c.core().stats.calls.Add(1)
	var err error
	if c.runAttempt(ctx); c.response.ok() {
		_, err = c.checkRetry(ctx, nil, nil)
	} else {
		err = c.retryLoop(ctx)
	}
	switch {
	case err != nil || !c.response.ok():
		err = c.finalError(ctx)
	case c.response.outcome == unchanged:
		err = c.newError() // nothing to change: returned as an error, not counted as a failure
	}
	c.finish(ctx, err)
	return err
}

// finish counts and records the end of the call. ErrNotModified is not a failure: there was nothing
// to change.
func (c *call) finish(ctx context.Context, err error) {
	refused := c.keysetOptional && c.response.status == http.StatusMethodNotAllowed
	failed := err != nil && !errors.Is(err, ErrNotModified) && !refused
	if failed {
		c.core().stats.failures.Add(1)
	}
	c.core().config.log.done(ctx, c, err, failed)
}
