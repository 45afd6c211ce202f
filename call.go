package forge

import (
	"context"
	"net/http"
	"net/url"
)

// Decisions about calls:
//
//   - The call is its own RoundTripper. go-retryablehttp passes no request to its policy after a
//     network error, and its hooks share no state. Here one value per call holds the policy and the
//     state. Rejected: a shared retrying client with state in the context; a wrapper around the
//     retry loop, which cannot see a single attempt.
//   - The library opens request bodies itself: go-retryablehttp buffers readers, and opens the body
//     of a function one extra time to measure it.
//   - A failed call closes no connections. go-retryablehttp closes the idle connections of its
//     client when it gives up. Its RoundTripper is the call, which has no method to do so.
//   - A status has one meaning, defined in statuses.go. Rejected: to treat every 2xx as success,
//     which saved a 206 that was not requested as a complete file.
//   - MaybeApplied is set for idempotent writes, too: a PUT whose attempts were all lost may have
//     been applied.
//   - A redirect on the same origin without a query keeps the query of a GET: servers announce a
//     moved project by path only, and without its filters a list would return other items.
//   - A download that has left the origin never gets the credential again, even if a later
//     redirect leads back: another server chose that address.
//   - Downloads request the encoding identity, so that the size is known and the bytes are those
//     of the file.
//   - Sudo is a header, so that it is in no address, link or log. Document 2 §4.3 documents a
//     parameter for one call. Document 1 §5 documents sudo for all calls, but not how it is sent.
//     Deployed servers accept both.
//   - A separate goroutine that may run the caller's code is a task.Task, or the goroutine in
//     upload_reader.go that reads a body. Its panic is raised again in the goroutine of the call,
//     its runtime.Goexit becomes an error, and every wait for it ends with the context. In a plain
//     call a hook, a Limiter, a logger or a transport runs in the caller's goroutine. Rejected: a
//     goroutine for each hook, which every call would pay for.
//   - Only the options WithLogger and DryRun refer to the code of the log and of the dry run. A
//     program that uses neither does not link that code or log/slog, and is 136 KB smaller.
//   - Calls and their headers are not reused: callers' RoundTrippers keep requests, and set
//     headers on them without a copy.

// call is one call: the request, its options, and the record of its attempts. send makes the first
// attempt. For the others, call is the http.RoundTripper below the loop of go-retryablehttp. After
// each of them checkRetry decides whether there is another one. Only the file named after a part
// assigns the fields of that part; other files call its methods.
type call struct {
	request *request
	options *callOptions
	url     url.URL
	query   url.Values // encoded in url; for a list, it is encoded per page with the pagination
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
	ctx = c.attempt.setContext(ctx, c.route(), c.options)
	defer func() {
		if c.response.body == nil { // otherwise the end of the download ends the limit
			c.attempt.endTimeout()
		}
	}()
	c.retry.start()
	c.core().stats.calls.Add(1)
	c.runAttempt(ctx)
	again, err := c.checkRetry(ctx, nil, nil)
	if again {
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
	failed := err != nil && !c.response.unchanged() && !refused
	if failed {
		c.core().stats.failures.Add(1)
	}
	c.core().config.log.done(ctx, c, err, failed)
}
