package forge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/forge-sdk/forge-go/internal/conn"
	"github.com/forge-sdk/forge-go/internal/throttle"
)

// attempt is the record of one attempt.
type attempt struct {
	start      time.Time // zero until something is about to be sent
	duration   time.Duration
	sent       atomic.Bool   // there was a connection, so bytes may have arrived; not always known of a read, which may be sent again anyway
	conn       *conn.Context // nil until something is about to be sent
	expects    bool          // the last request has the Expect header
	away       bool          // a redirect led to another origin: its responses say nothing about the client's own
	bare       bool          // the last request was sent without the caller's headers
	redirected bool
	outcome    outcome // of the response; 0 without one
	final      bool    // another attempt cannot fix err
	status     int
	partial    bool // the body of an error did not come to its end
	header     http.Header
	answer     *http.Response
	message    string
	fields     map[string][]string
	retryAfter time.Duration
	until      time.Time
	uploaded   int64 // bytes of bodies
	received   int64
	err        error // the error below HTTP, or of the response
	cause      error // why nothing more is tried, when that is an error
}

// ok reports whether the attempt ended the call well. A 304 that is documented or was requested is
// not a failure.
func (a *attempt) ok() bool {
	return a.err == nil && (a.outcome == succeeded || a.outcome == unchanged)
}

// ambiguous reports whether a write may have taken effect although the attempt failed.
func (a *attempt) ambiguous() bool {
	switch {
	case !a.sent.Load():
		return false
	case a.outcome == unexpected:
		return true
	case a.err != nil:
		return a.status < 300 || a.status == http.StatusSeeOther
	}
	return a.status == http.StatusRequestTimeout || a.status >= 500
}

// attempt makes one attempt: it waits, sends the requests and reads the response.
func (c *call) attempt(ctx context.Context) {
	c.last = attempt{}
	answer, err := c.try(ctx) //nolint:bodyclose // take has read and closed it, or keeps it for the Download
	c.last.answer = answer
	if err != nil {
		c.last.err, c.last.retryAfter = err, max(c.last.retryAfter, proxyWait(err))
	}
	c.core().config.log.attempt(ctx, c)
}

func (c *call) try(ctx context.Context) (*http.Response, error) {
	if limiter := c.core().config.limiter; limiter != nil {
		if err := limiter.Wait(ctx); err != nil {
			c.last.final = true
			return nil, limiterError(ctx, err)
		}
	}
	c.core().config.log.held(ctx, c)
	if until, why, err := c.passGate(ctx); err != nil {
		c.last.until, c.last.final = until, true
		return nil, &failure{ErrRateLimited, why, err}
	}
	c.begin(ctx)
	returned := false
	defer func() {
		if !returned { // a panic or runtime.Goexit of the caller's code
			c.last.conn.Cancel(nil)
		}
	}()
	answer, err := c.exchange()
	if err == nil {
		err = c.take(answer)
	}
	if ended := c.crash.raise(); ended != nil && err != nil {
		err, c.last.final = ended, true
	}
	returned = true
	if err != nil {
		if !c.last.final { // what is certain stays, even if the rest of a body did not come
			err = c.last.conn.TimeoutCause(err)
		}
		c.last.conn.Cancel(nil)
		return nil, err
	}
	return answer, nil
}

// limiterError distinguishes the end of the context from a Limiter that refuses the call.
func limiterError(ctx context.Context, err error) error {
	sentinel, text := error(ErrRateLimited), "the Limiter refused the call: "
	if ended := ctx.Err(); ended != nil {
		text, err = "the wait for the Limiter ended: ", ended
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		sentinel = context.Canceled
	}
	return &failure{sentinel, text + err.Error(), err}
}

// hop sends the request to one address. home reports that it is on the client's own origin, which
// no redirect has left.
func (c *call) hop(target *url.URL, home bool) (*http.Response, error) {
	var ctx context.Context = c.last.conn
	if c.last.sent.Load() { // by the request before: a write costs more than a read
		c.last.sent.Store(false)
		if err := ctx.Err(); err != nil { // its body did not come
			return nil, err
		}
	}
	header, err := c.header(ctx, home)
	if err != nil {
		c.last.final, c.last.retryAfter = isFinalCredentialError(err)
		return nil, err
	}
	c.last.bare = !home
	network, _ := c.core().transport.(*http.Transport)
	if network != nil || c.route().class != safe {
		ctx = c.last.conn.Trace(header, &c.last.sent, network)
	}
	req := (&http.Request{Method: c.route().method, URL: target, Host: target.Host, Header: header}).WithContext(ctx)
	if err := c.attach(req); err != nil {
		c.last.final = true
		return nil, err
	}
	answer, err := c.core().transport.RoundTrip(req)
	failed := c.detach()
	switch {
	case err == nil:
	case c.last.conn.Replayed() || errors.Is(err, conn.ErrNotProcessed):
		c.last.sent.Store(false)
		return nil, conn.ErrNotProcessed
	default:
		if network == nil && !conn.IsDial(err) {
			c.last.sent.Store(true)
		}
		return nil, conn.UnwrapURLError(err)
	}
	c.last.sent.Store(true)
	if err := checkAnswer(answer, failed); err != nil {
		return nil, err
	}
	c.scrubHeader(answer.Header)
	return answer, nil
}

// header returns the headers of one request. Those for the client's origin are added only there.
func (c *call) header(ctx context.Context, home bool) (http.Header, error) {
	h, free := c.plainHeader(home)
	if !home {
		return h, nil
	}
	name, value, sent, err := c.auth.Authorize(ctx)
	if name != "" {
		free[0] = value
		h[name] = free
	}
	c.sent = sent
	return h, credentialError(err)
}

// plainHeader returns the headers without a credential, and a spare slot for its value (one
// allocation).
func (c *call) plainHeader(home bool) (h http.Header, free []string) {
	h = make(http.Header, 8)
	values := [...]string{c.core().config.userAgent, "application/json", ""}
	h["User-Agent"], h["Accept"], free = values[:1:1], values[1:2:2], values[2:]
	if c.request.accept != "" {
		h["Accept"] = []string{c.request.accept}
	}
	if c.options.kind == kindOpen {
		// Identity, so that the size is known and the bytes are the file's own.
		h["Accept"], h["Accept-Encoding"] = []string{"*/*"}, []string{"identity"}
	}
	if !home {
		return h, nil
	}
	if c.body != nil {
		h["Content-Type"] = []string{c.body.contentType}
	}
	for name, values := range c.options.header {
		h[name] = values
	}
	return h, free
}

// attach opens the body for this hop.
func (c *call) attach(req *http.Request) error {
	c.last.expects = false
	if c.body == nil {
		c.last.conn.AwaitResponse()
		return nil
	}
	defer c.last.conn.AwaitResponse() // until the transport has a connection and reads the body
	open := func() (io.ReadCloser, error) {
		content, err := openBody(req.Context(), c.body, c.options.progress, &c.crash)
		if err != nil {
			return nil, fmt.Errorf("the body cannot be opened: %w", err)
		}
		_ = c.detach()
		c.upload = &conn.Upload{Body: content, Context: c.last.conn, Size: c.body.size}
		return c.upload, nil
	}
	c.retry.bodyWasOpened()
	content, err := open()
	if err != nil {
		return err
	}
	req.Body, req.ContentLength = content, c.body.size
	if c.body.size == 0 {
		_ = content.Close()
		req.Body = http.NoBody
	}
	req.GetBody = c.getBody()
	if !c.retry.expectRefused {
		c.last.expects = conn.ExpectContinue(req)
	}
	return nil
}

// getBody returns the GetBody of requests. net/http calls it to send a request again by itself,
// which is refused. Other transports, such as recorders, call it to read the body; where net/http
// is below them, a second connection within the request is refused.
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

// lostConnection reports whether the attempt had a connection, and lost it.
func (a *attempt) lostConnection() bool {
	var refused *conn.ProxyError
	return a.err != nil && !conn.IsDial(a.err) && !errors.As(a.err, &refused) &&
		!errors.Is(a.err, ErrTimeout) && !errors.Is(a.err, ErrCredential)
}

// proxyWait returns the wait that a proxy requests which did not connect to the server.
func proxyWait(err error) time.Duration {
	var refused *conn.ProxyError
	if errors.As(err, &refused) {
		return throttle.RetryAfter(refused.Status, refused.Header, time.Now())
	}
	return 0
}

// begin counts an attempt that is about to be sent, and creates its context.
func (c *call) begin(ctx context.Context) {
	retry := c.retry.countAttempt()
	c.last.start = c.started.Add(time.Since(c.started)) // which is cheaper than time.Now
	c.core().stats.attempts.Add(1)
	if retry {
		c.core().stats.retries.Add(1)
	}
	c.last.conn = &c.firstConn
	if retry { // the first one's may still be in use
		c.last.conn = new(conn.Context)
	}
	c.last.conn.Context, c.last.conn.Limits = ctx, &c.options.limits.Limits
	c.last.conn.Counter, c.last.conn.Clock = c, c.last.start
}

// Received counts bytes of a response.
func (c *call) Received(n int) {
	if n > 0 {
		c.last.received += int64(n)
		c.core().stats.received.Add(int64(n))
	}
}

// detach ends the reading of the body that is being sent, if any, and counts what was. It returns
// why the body could not be read.
func (c *call) detach() error {
	if c.upload == nil {
		return nil
	}
	if p, pumped := c.upload.Body.(*bodyPump); pumped {
		p.silence()
	}
	sent, failed := c.upload.Detach()
	c.upload = nil
	c.last.uploaded += sent
	c.core().stats.sent.Add(sent)
	return failed
}
