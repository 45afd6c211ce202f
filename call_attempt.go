package forge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/forge-sdk/forge-go/internal/conn"
	"github.com/forge-sdk/forge-go/internal/credential"
)

// attempt is the sending side of the current attempt. Only this file assigns its fields.
type attempt struct {
	attemptRecord
	context   routeContext       // shared by all attempts of the call
	cancel    context.CancelFunc // ends the limit of Timeout; nil: there is none
	first     conn.Context       // of the first attempt; allocated with the call
	sentToken credential.Sent    // the token in the last request
}

// attemptRecord is the part of attempt that is reset before each attempt.
type attemptRecord struct {
	start           time.Time // zero until something is about to be sent
	duration        time.Duration
	sent            atomic.Bool   // the request got a connection, so bytes may have arrived (see Context.Trace)
	conn            *conn.Context // nil until something is about to be sent
	upload          *conn.Upload  // the body that is being sent
	expects         bool          // the last request has the Expect header
	redirected      bool
	target          *url.URL // of the last redirect
	offOrigin       bool     // a redirect led to another origin: its status and headers are not those of the API
	baseHeadersOnly bool     // the last request was sent without the caller's headers
	bytesSent       int64
	bytesReceived   int64
}

// setContext returns the context of the attempts. It carries the route, and the limit of Timeout.
func (a *attempt) setContext(ctx context.Context, r *route, o *callOptions) context.Context {
	if o.limits.call > 0 {
		ctx, a.cancel = withTimeout(ctx, o.kind.subject(), o.limits.call)
	}
	a.context = routeContext{ctx, r}
	return &a.context
}

// endTimeout ends the limit of Timeout.
func (a *attempt) endTimeout() {
	if a.cancel != nil {
		a.cancel()
	}
}

// followed records that the next request of the attempt goes to the target of a redirect.
func (a *attempt) followed(offOrigin bool, target *url.URL) {
	a.redirected, a.offOrigin, a.target = true, offOrigin, target
}

// measure sets the duration of an attempt that has ended.
func (a *attempt) measure() { a.duration = time.Since(a.start) }

// runAttempt makes one attempt: it waits, sends the requests and reads the response.
func (c *call) runAttempt(ctx context.Context) {
	c.attempt.attemptRecord = attemptRecord{}
	c.response.reset()
	if err := c.sendOnce(ctx); err != nil {
		c.response.fail(err)
	}
	c.core().config.log.afterAttempt(ctx, c)
}

func (c *call) sendOnce(ctx context.Context) error {
	if limiter := c.core().config.limiter; limiter != nil {
		if err := limiter.Wait(ctx); err != nil {
			c.response.setPermanent()
			return limiterError(ctx, err)
		}
	}
	c.core().config.log.throttled(ctx, c)
	if until, why, err := c.passGate(ctx); err != nil {
		c.response.setPermanent()
		c.response.setRetryAt(until)
		return &sentinelError{ErrRateLimited, why, err}
	}
	c.beginAttempt(ctx)
	returned := false
	defer func() {
		if !returned { // a panic or runtime.Goexit of the caller's code
			c.attempt.conn.Cancel(nil)
		}
	}()
	resp, err := c.followRedirects()
	if err == nil {
		err = c.receive(resp)
	}
	if ended := c.body.raiseCrash(); ended != nil && err != nil {
		c.response.setPermanent()
		err = ended
	}
	returned = true
	if err != nil {
		if !c.response.permanent { // a permanent error stays, even if reading the rest of the body timed out
			err = c.attempt.conn.TimeoutCause(err)
		}
		c.attempt.conn.Cancel(nil)
	}
	return err
}

// limiterError returns the error of an attempt that waited for the Limiter: the context ended, or
// the Limiter refused the call.
func limiterError(ctx context.Context, err error) error {
	sentinel, text := error(ErrRateLimited), "the Limiter refused the call: "
	if ended := ctx.Err(); ended != nil {
		text, err = "the wait for the Limiter ended: ", ended
		if cause := context.Cause(ctx); errors.Is(cause, ErrTimeout) {
			err = cause
		}
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		sentinel = context.Canceled
	}
	return &sentinelError{sentinel, text + err.Error(), err}
}

// sendRequest sends the request to one address. onOrigin reports whether the address, and each
// redirect that led to it, is on the client's own origin.
func (c *call) sendRequest(target *url.URL, onOrigin bool) (*http.Response, error) {
	var ctx context.Context = c.attempt.conn
	if c.attempt.sent.Load() { // set by the previous hop; read first, because a write costs more
		c.attempt.sent.Store(false)
		if err := ctx.Err(); err != nil { // the body of the previous hop was not sent completely
			return nil, err
		}
	}
	header, err := c.requestHeaders(ctx, onOrigin)
	if err != nil {
		c.response.credentialFailed(err)
		return nil, credentialError(err)
	}
	c.attempt.baseHeadersOnly = !onOrigin
	network, _ := c.core().transport.(*http.Transport)
	if network != nil || c.route().Class != ClassSafe {
		ctx = c.attempt.conn.Trace(header, &c.attempt.sent, network)
	}
	req := (&http.Request{Method: c.route().Method, URL: target, Host: target.Host, Header: header, Close: c.options.close}).WithContext(ctx)
	if err := c.openBody(req); err != nil {
		c.response.setPermanent()
		return nil, err
	}
	resp, err := c.core().transport.RoundTrip(req)
	failed := c.finishUpload()
	if errors.Is(failed, errWrongLength) {
		c.response.setPermanent()
	}
	switch {
	case err == nil:
	case c.attempt.conn.Replayed() || errors.Is(err, conn.ErrNotProcessed):
		c.attempt.sent.Store(false)
		return nil, conn.ErrNotProcessed
	default:
		if network == nil && !conn.IsDial(err) {
			c.attempt.sent.Store(true)
		}
		if failed != nil && errors.Is(err, failed) {
			err = failed // without the addresses of the connection
		}
		return nil, conn.HideProxy(conn.UnwrapURLError(err), conn.ProxyOf(network, req))
	}
	c.attempt.sent.Store(true)
	if err := checkResponse(resp, failed); err != nil {
		return nil, err
	}
	c.redactResponse(resp)
	return resp, nil
}

// requestHeaders returns the headers of one request. The credential, the content type and the
// caller's headers are sent to the client's own origin only.
func (c *call) requestHeaders(ctx context.Context, onOrigin bool) (http.Header, error) {
	h, spare := c.baseHeaders(onOrigin)
	if !onOrigin {
		return h, nil
	}
	name, value, sent, err := c.request.auth.Authorize(ctx)
	if name != "" {
		spare[0] = value
		h[name] = spare
	}
	c.attempt.sentToken = sent
	return h, err
}

// baseHeaders returns the headers without a credential, and a spare slot for its value (one
// allocation).
func (c *call) baseHeaders(onOrigin bool) (h http.Header, spare []string) {
	h = make(http.Header, 8)
	values := [...]string{c.core().config.userAgent, "application/json", ""}
	h["User-Agent"], h["Accept"], spare = values[:1:1], values[1:2:2], values[2:]
	if c.request.accept != "" {
		h["Accept"] = []string{c.request.accept}
	}
	switch c.options.kind {
	case kindRaw:
		delete(h, "Accept") // the caller sets it
	case kindStream:
		// Identity: the size is known, and the bytes are those of the file.
		h["Accept"], h["Accept-Encoding"] = []string{cmp.Or(c.request.accept, "*/*")}, []string{"identity"}
	}
	if !onOrigin {
		return h, nil
	}
	if c.body != nil && c.body.contentType != "" {
		h["Content-Type"] = []string{c.body.contentType}
	}
	for name, values := range c.options.header {
		h[name] = values
	}
	return h, spare
}

// openBody opens the body for the request.
func (c *call) openBody(req *http.Request) error {
	c.attempt.expects = false
	if c.body == nil {
		c.attempt.conn.AwaitResponse()
		return nil
	}
	defer c.attempt.conn.AwaitResponse() // limits the time until the transport has a connection and reads the body
	open := func() (io.ReadCloser, error) {
		content, err := openBody(req.Context(), c.body, c.options.progress)
		if err != nil {
			return nil, fmt.Errorf("the body cannot be opened: %w", err)
		}
		_ = c.finishUpload()
		c.attempt.upload = &conn.Upload{Body: content, Context: c.attempt.conn, Size: c.body.size}
		return c.attempt.upload, nil
	}
	c.retry.bodyWasOpened()
	content, err := open()
	if err != nil {
		return err
	}
	req.Body, req.ContentLength, req.TransferEncoding = content, c.body.size, c.body.codings
	if c.body.size == 0 {
		_ = content.Close()
		req.Body = http.NoBody
	}
	req.GetBody = c.getBody()
	if !c.retry.expectRefused {
		c.attempt.expects = conn.ExpectContinue(req)
	}
	return nil
}

// getBody returns the GetBody of requests. net/http calls it to send a request again by itself,
// which is refused. Other transports, such as recorders, call it to read the body. If net/http is
// below them, a second connection within the request is refused.
func (c *call) getBody() func() (io.ReadCloser, error) {
	_, network := c.core().transport.(*http.Transport)
	switch {
	case network:
		return func() (io.ReadCloser, error) { return nil, conn.ErrNotProcessed }
	case c.body.once:
		return nil
	}
	return c.body.open
}

// beginAttempt counts an attempt that is about to be sent, and creates its context.
func (c *call) beginAttempt(ctx context.Context) {
	retry := c.retry.countAttempt()
	c.attempt.start = time.Now()
	c.core().stats.attempts.Add(1)
	if retry {
		c.core().stats.retries.Add(1)
	}
	c.attempt.conn = &c.attempt.first
	if retry { // the context of the first attempt may still be in use
		c.attempt.conn = new(conn.Context)
	}
	c.attempt.conn.Context, c.attempt.conn.Limits = ctx, &c.options.limits.Limits
	c.attempt.conn.Counter, c.attempt.conn.Clock = c, c.attempt.start
}

// Received counts bytes of a response.
func (c *call) Received(n int) {
	if n > 0 {
		c.attempt.bytesReceived += int64(n)
		c.core().stats.received.Add(int64(n))
	}
}

// finishUpload detaches the body that is being sent, if any, and counts its bytes. It returns the
// error of reading the body.
func (c *call) finishUpload() error {
	if c.attempt.upload == nil {
		return nil
	}
	if p, pumped := c.attempt.upload.Body.(*bodyPump); pumped {
		p.silence()
	}
	sent, failed := c.attempt.upload.Detach()
	c.attempt.upload = nil
	c.attempt.bytesSent += sent
	c.core().stats.sent.Add(sent)
	return failed
}
