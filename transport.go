package forge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-retryablehttp"

	"github.com/forge-sdk/forge-go/internal/bufpool"
	"github.com/forge-sdk/forge-go/internal/jsonread"
)

// call is one call on its way: the request, the policy, and the record of its attempts. It is the http.RoundTripper below
// go-retryablehttp, whose loop takes over where the first attempt did not end well, so that every attempt, body included, is
// judged by one policy.
type call struct {
	request *request
	cred    *credential // of the origin that the request goes to
	options *callOptions
	url     url.URL
	query   url.Values // that url has, or that a list adds its pagination to
	body    *payload
	context routeContext

	started   time.Time
	attempts  int
	ambiguous bool // an attempt may have taken effect
	bodyUsed  bool // the body was opened
	noExpect  bool // the server refused the Expect header
	renewed   bool // a refused token was renewed
	made      bool // the first attempt was made before the loop, which takes it over
	used      func() string
	wait      time.Duration // before the next attempt
	note      string        // why there is no further attempt
	moved     *url.URL      // where redirects led, on the client's own origin

	keysetOptional bool // a 405 is not a failure: the list goes on by offset

	last       attempt
	data       *workspace
	watch      watchdog
	life       lifetime // of the first attempt
	stream     io.ReadCloser
	upload     *uploadReader
	crash      crash // of the caller's code that a body runs
	mismatches []Mismatch
}

// attempt is the record of one attempt.
type attempt struct {
	start      time.Time // zero until something is about to be sent
	duration   time.Duration
	sent       atomic.Bool // there was a connection, so bytes may have arrived; not always known of a read, which may be sent again anyway
	replay     atomic.Bool // net/http was about to send the request again
	conn       net.Conn    // of the last request, where net/http is the transport
	away       bool        // a redirect led to another origin, whose answers say nothing of the client's own
	bare       bool        // the last request had no headers of the caller's
	redirected bool
	outcome    outcome // of the response; 0 without one
	final      bool    // err is nothing that another attempt could mend
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
	err        error // what went wrong below HTTP, or with the answer
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

// failure is something that went wrong outside net/http, with the sentinel that callers test for.
type failure struct {
	sentinel error
	text     string
	cause    error
}

// Error gives the text.
func (f *failure) Error() string { return f.text }

// Unwrap gives the sentinel and the cause.
func (f *failure) Unwrap() []error {
	if f.cause == nil {
		return []error{f.sentinel}
	}
	return []error{f.sentinel, f.cause}
}

// newCall makes a call of the request, in the given piece of memory.
func newCall(c *call, r *request, options *callOptions, u url.URL, body *payload) *call {
	c.request, c.cred, c.options, c.url, c.body = r, r.credential(), options, u, body
	c.used = noToken
	return c
}

// loop goes on with a call whose first attempt was made. Most calls end well with that one, and need no loop.
func (c *call) loop() error {
	outer := retryablehttp.Request{Request: (&http.Request{Method: c.route().method, URL: &c.url, Header: c.client().bare, Body: http.NoBody}).WithContext(&c.context)}
	client := retryablehttp.Client{
		HTTPClient: &http.Client{
			Transport:     c,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		RetryMax:   1 << 20, // checkRetry counts
		CheckRetry: c.checkRetry,
		Backoff:    func(_, _ time.Duration, _ int, _ *http.Response) time.Duration { return c.wait },
		ErrorHandler: func(answer *http.Response, err error, _ int) (*http.Response, error) {
			return answer, err
		},
	}
	_, err := client.Do(&outer) //nolint:bodyclose // take has read and closed it, or keeps it for the Download
	return err
}

func (c *call) client() *Client { return c.request.client }
func (c *call) guard() *guard   { return c.client().guardOf(c.route().base) }
func (c *call) route() *route   { return c.request.route }

// send runs the attempts. Its error is the caller's: an *Error or a *RateLimitError.
func (c *call) send(ctx context.Context) error {
	if plan := c.options.plan; plan != nil {
		return plan(c)
	}
	c.context = routeContext{ctx, c.route()}
	ctx = &c.context
	c.started = time.Now()
	c.client().stats.calls.Add(1)
	var err error
	if c.attempt(ctx); c.last.ok() {
		_, err = c.checkRetry(ctx, nil, nil)
	} else {
		c.made = true
		err = c.loop()
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
		c.client().stats.failures.Add(1)
	}
	c.client().config.log.end(ctx, c, err, failed)
}

// report fills the caller's Response. A list does it when the caller reaches the page.
func (c *call) report() {
	if c.options.into != nil && c.last.answer != nil && c.options.kind != kindList {
		*c.options.into = c.response()
	}
}

func (c *call) response() Response {
	r := newResponse(c.last.answer, c.attempts)
	r.Mismatches = c.mismatches
	return r
}

// RoundTrip is one attempt, for the loop.
func (c *call) RoundTrip(req *http.Request) (*http.Response, error) {
	if !c.made {
		c.attempt(req.Context())
	}
	c.made = false
	if c.last.err != nil {
		return nil, c.last.err
	}
	return &http.Response{StatusCode: c.last.answer.StatusCode, Header: c.last.answer.Header, Body: http.NoBody, Request: req}, nil
}

// attempt makes one: waits, hops, and the reading of the answer.
func (c *call) attempt(ctx context.Context) {
	c.last = attempt{}
	answer, err := c.try(ctx) //nolint:bodyclose // take has read and closed it, or keeps it for the Download
	c.last.answer = answer
	if err != nil {
		c.last.err, c.last.retryAfter = err, max(c.last.retryAfter, tunnelWait(err))
	}
	c.client().config.log.attempt(ctx, c)
}

func (c *call) try(ctx context.Context) (*http.Response, error) {
	if limiter := c.client().config.limiter; limiter != nil {
		if err := limiter.Wait(ctx); err != nil {
			c.last.final = true
			return nil, limiterError(ctx, err)
		}
	}
	c.client().config.log.held(ctx, c)
	if until, why, err := c.guard().pass(ctx, c.request, c.options); err != nil {
		c.last.until, c.last.final = until, true
		return nil, &failure{ErrRateLimited, why, err}
	}
	c.begin()
	life := &c.life
	if c.attempts > 1 { // the first one's may still be in use
		life = new(lifetime)
	}
	life.Context = ctx
	c.watch.begin(life, &c.options.limits, &c.started)
	returned := false
	defer func() {
		if !returned { // a panic or runtime.Goexit of the caller's code
			c.watch.stop()
			life.end(nil)
		}
	}()
	answer, err := c.exchange(life)
	if err == nil {
		err = c.take(life, answer)
	}
	if ended := c.crash.raise(); ended != nil && err != nil {
		err, c.last.final = ended, true
	}
	returned = true
	if err != nil {
		if !c.last.final { // what is certain stays, even if the rest of a body did not come
			err = life.timeout(err)
		}
		c.watch.stop()
		life.end(nil)
		return nil, err
	}
	return answer, nil
}

// limiterError tells the end of the caller's context from a Limiter that refuses the call.
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

// hop sends the request to one address. home says that it is the client's own origin and was never left.
func (c *call) hop(ctx context.Context, target *url.URL, home bool) (*http.Response, error) {
	if c.last.sent.Load() { // on the hop before: a write costs more than a look
		c.last.sent.Store(false)
		if err := ctx.Err(); err != nil { // its body did not come
			return nil, err
		}
	}
	header, err := c.header(ctx, home)
	if err != nil {
		c.last.final, c.last.retryAfter = mayHaveLater(err)
		return nil, err
	}
	c.last.bare = !home
	_, network := c.client().transport.(*http.Transport)
	if network || c.route().class != safe {
		ctx = c.traced(ctx, header, network)
	}
	req := (&http.Request{Method: c.route().method, URL: target, Host: target.Host, Header: header}).WithContext(ctx)
	if err := c.attach(req); err != nil {
		c.last.final = true
		return nil, err
	}
	answer, err := c.client().transport.RoundTrip(req)
	failed := c.detach()
	switch {
	case err == nil:
	case c.last.replay.Load() || errors.Is(err, errNotProcessed):
		c.last.sent.Store(false)
		return nil, errNotProcessed
	default:
		if !network && !isDial(err) {
			c.last.sent.Store(true)
		}
		return nil, transportCause(err)
	}
	c.last.sent.Store(true)
	if err := checkAnswer(answer, failed); err != nil {
		return nil, err
	}
	c.scrubHeader(answer.Header)
	return answer, nil
}

// header makes the headers of one hop. What belongs to the client's origin is added there and nowhere else.
func (c *call) header(ctx context.Context, home bool) (http.Header, error) {
	h, free := c.plainHeader(home)
	if !home {
		return h, nil
	}
	name, value, used, err := c.cred.authorize(ctx)
	if name != "" {
		free[0] = value
		h[name] = free
	}
	c.used = used
	return h, err
}

// plainHeader makes those that need no credential, and the room for one more value: all are one allocation.
func (c *call) plainHeader(home bool) (h http.Header, free []string) {
	h = make(http.Header, 8)
	values := [...]string{c.client().config.userAgent, "application/json", ""}
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
	w := &c.watch
	if c.body == nil {
		w.expectHeader()
		return nil
	}
	defer w.expectHeader() // until the transport has a connection and reads the body
	open := func() (io.ReadCloser, error) {
		content, err := openBody(req.Context(), c.body, c.options.progress, &c.crash)
		if err != nil {
			return nil, fmt.Errorf("the body cannot be opened: %w", err)
		}
		_ = c.detach()
		c.upload = &uploadReader{body: content, watch: w, total: c.body.size}
		return c.upload, nil
	}
	c.bodyUsed = true
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
	if !c.noExpect {
		expect(req)
	}
	return nil
}

// getBody returns the GetBody of requests. net/http calls it to send a request again by itself, which
// is refused. Other transports, such as recorders, call it to look at the body; where net/http is
// below them, a second connection within the request is refused.
func (c *call) getBody() func() (io.ReadCloser, error) {
	_, network := c.client().transport.(*http.Transport)
	switch {
	case network:
		return func() (io.ReadCloser, error) { return nil, errNotProcessed }
	case c.body.once:
		return nil
	}
	return c.body.open
}

// errNotProcessed: net/http has found that the server did not process the request, and would send
// it again by itself. The call's own loop does instead, which counts attempts and keeps to the policy.
var errNotProcessed = &failure{sentinel: io.ErrUnexpectedEOF, text: "the connection was lost before the server processed the request"}

// release gives the workspace back.
func (c *call) release() {
	switch {
	case c.data == nil:
	case c.data.Cap() <= largestPooled:
		workspaces.Put(c.data, (*workspace).memory)
	default:
		workspaces.Drop(c.data)
	}
	c.data = nil
}

// workspace is what an answer is read into, and what decodes it.
type workspace struct {
	bytes.Buffer
	reader jsonread.Reader
}

var workspaces bufpool.Pool[workspace]

const largestPooled = 4 << 20 // bytes; a larger workspace is left to the garbage collector

// memory is all that the buffer can hold.
func (w *workspace) memory() []byte {
	w.Reset()
	return w.AvailableBuffer()[:w.Available()]
}

// mayHaveLater reports whether the failure to get a credential is final, and else the wait that the
// token endpoint asks for.
func mayHaveLater(err error) (final bool, wait time.Duration) {
	var c *credentialError
	if !errors.As(err, &c) || !c.temporary {
		return true, 0
	}
	return false, c.wait
}

// isDial tells errors from before there was a connection, for transports that do not report connections.
func isDial(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// transportCause drops the *url.Error, whose text holds the whole address, and the bare io.EOF, which would tell a reader
// that all is well.
func transportCause(err error) error {
	var wrapped *url.Error
	for errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	if errors.Is(err, io.EOF) {
		return &failure{sentinel: io.ErrUnexpectedEOF, text: "the connection was closed before an answer came"}
	}
	return err
}
