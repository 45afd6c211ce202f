package forge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/forge-sdk/forge-go/internal/conn"
	"github.com/forge-sdk/forge-go/internal/task"
)

// exchangeStep sends one request on the wire, and has its connection, limits and upload.
type exchangeStep struct{ next receiveStep }

func (s exchangeStep) do(ctx context.Context, a attempt, d delivery, to hop, auth authorization) (r *result) {
	wire := &conn.Context{Context: ctx, Limits: &a.options.limits.Limits, Counter: a.core().stats, Clock: time.Now()}
	var resp *http.Response
	defer func() { // also if the caller's code panics
		if r == nil || r.stream == nil {
			wire.Cancel(nil)
		}
		if r == nil && resp != nil {
			_ = resp.Body.Close()
		}
	}()
	transport := a.core().transport
	req, upload, err := newRequest(wire, a, to, auth)
	d.sent, d.bodyOpened = false, a.body != nil
	if err != nil {
		return &result{delivery: d, err: err, permanent: true}
	}
	d.expects = req.Header["Expect"] != nil
	resp, err = transport.RoundTrip(req)
	uploaded, uploadErr := finishUpload(upload)
	d.bytesSent += uploaded
	switch {
	case err == nil:
		d.sent, err = true, checkResponse(resp, uploadErr)
	case wire.Replayed() || errors.Is(err, conn.ErrNotProcessed):
		d.refusedStream, err = wire.IsHTTP2(), conn.ErrNotProcessed
	default:
		d.sent, err = wasSent(wire, transport, err), sendError(transport, req, err, uploadErr)
	}
	if err != nil {
		r = (&result{delivery: d}).failed(err)
		r.permanent = errors.Is(uploadErr, errWrongLength)
		return withTimeoutCause(wire, r)
	}
	redact := a.redactor(d.token)
	resp.Status = redact.redact(resp.Status)
	redact.redactHeader(resp.Header)
	received := s.next.do(wire, a, d, to, resp)
	received.permanent = received.permanent || errors.Is(uploadErr, errWrongLength)
	return withTimeoutCause(wire, received)
}

// withTimeoutCause replaces an error that one of the library's time limits has caused by that
// limit. conclude does the same for the context of the call. A permanent error stays.
func withTimeoutCause(wire *conn.Context, r *result) *result {
	if r.err != nil && !r.permanent {
		r.err = wire.TimeoutCause(r.err)
	}
	return r
}

// newRequest returns the request for one address. Its upload is nil if it has no body.
func newRequest(wire *conn.Context, a attempt, to hop, auth authorization) (*http.Request, *conn.Upload, error) {
	header := requestHeader(a.call, to.offOrigin, auth)
	var ctx context.Context = wire
	network, _ := a.core().transport.(*http.Transport)
	if network != nil || a.route().Class != RetryClassSafe {
		ctx = wire.Trace(header, network)
	}
	req := (&http.Request{Method: a.route().Method, URL: to.url, Host: to.url.Host, Header: header, Close: a.options.close}).WithContext(ctx)
	if a.body == nil {
		wire.AwaitResponse()
		return req, nil, nil
	}
	defer wire.AwaitResponse() // limits the time until the transport has a connection and reads the body
	content, err := openBody(ctx, a.body, a.options.progress)
	if err != nil {
		return nil, nil, fmt.Errorf("the body cannot be opened: %w", err)
	}
	upload := &conn.Upload{Body: content, Context: wire, Size: a.body.size}
	req.Body, req.ContentLength, req.TransferEncoding = upload, a.body.size, a.body.codings
	if a.body.size == 0 {
		_ = upload.Close()
		req.Body = http.NoBody
	}
	req.GetBody = getBody(a.body, network != nil)
	if !a.withoutExpect {
		conn.ExpectContinue(req)
	}
	return req, upload, nil
}

// getBody returns the GetBody of requests. net/http calls it to send a request again by itself,
// which is refused. Other transports, such as recorders, call it to read the body. If net/http is
// below them, a second connection within the request is refused.
func getBody(b *payload, network bool) func() (io.ReadCloser, error) {
	switch {
	case network:
		return func() (io.ReadCloser, error) { return nil, conn.ErrNotProcessed }
	case b.once:
		return nil
	}
	return b.open
}

// requestHeader returns the headers of one request. The credential, the content type and the
// caller's headers are sent to the client's own origin only.
func requestHeader(c *call, offOrigin bool, auth authorization) http.Header {
	h := make(http.Header, 8)
	// One allocation: a list with nil options may cost 1.4 of client-go's.
	own := []string{c.core().config.userAgent, cmp.Or(c.request.accept, "application/json"), ""}
	h["User-Agent"], h["Accept"] = own[:1:1], own[1:2:2]
	switch c.options.kind {
	case kindRaw:
		delete(h, "Accept") // the caller sets it
	case kindStream:
		// Identity: the size is known, and the bytes are those of the file.
		h["Accept"], h["Accept-Encoding"] = []string{cmp.Or(c.request.accept, "*/*")}, []string{"identity"}
	}
	if offOrigin {
		return h
	}
	if c.body != nil && c.body.contentType != "" {
		h["Content-Type"] = []string{c.body.contentType}
	}
	for name, values := range c.options.header {
		h[name] = values
	}
	if auth.header != "" {
		own[2] = auth.value
		h[auth.header] = own[2:]
	}
	return h
}

// finishUpload detaches the body that was sent, if any. It returns the number of its bytes, and the
// error of reading it.
func finishUpload(upload *conn.Upload) (sent int64, err error) {
	if upload == nil {
		return 0, nil
	}
	sent, err = upload.Detach()
	if p, pumped := upload.Body.(*bodyPump); pumped {
		p.finish(err)
	}
	return sent, err
}

// wasSent reports whether bytes of a request that failed may have reached the server. A caller's
// transport may report no connections: only an error of dialing then means that there was none.
func wasSent(wire *conn.Context, transport http.RoundTripper, err error) bool {
	_, network := transport.(*http.Transport)
	return wire.Connected() || !network && !conn.IsDial(err)
}

// sendError returns the error of a request without a response.
func sendError(transport http.RoundTripper, req *http.Request, err, uploadErr error) error {
	if uploadErr != nil && errors.Is(err, uploadErr) {
		err = uploadErr // without the addresses of the connection
	}
	network, _ := transport.(*http.Transport)
	return conn.HideProxy(conn.UnwrapURLError(err), conn.ProxyOf(network, req))
}

// checkResponse rejects results that a transport must not return. It also rejects a success for a
// body that could not be read to its end: net/http returns such a success if the server responds
// before it has the complete body.
func checkResponse(resp *http.Response, uploadErr error) error {
	switch {
	case resp == nil:
		return &sentinelError{sentinel: ErrInvalidResponse, text: "the transport returned neither a response nor an error"}
	case resp.Body == nil && resp.ContentLength > 0:
		return &sentinelError{sentinel: ErrInvalidResponse, text: "the transport returned a response without its Body"}
	case resp.Body == nil: // only a caller's transport does this
		resp.Body = http.NoBody
	}
	if uploadErr != nil && resp.StatusCode < 400 {
		_ = resp.Body.Close()
		return uploadErr
	}
	return nil
}

// bodyPump reads a request body that runs the caller's code, a reader or Progress, in a separate
// goroutine: net/http waits for a read of the body, even if the attempt has ended. A panic in that
// code is raised again in the goroutine of the call. In a goroutine of net/http it would end the
// process.
type bodyPump struct {
	*io.PipeReader
	ctx      context.Context //nolint:containedctx // of the attempt; the pump is its body
	source   *task.Task[struct{}]
	progress func(done, total int64)
	done     int64
	total    int64
	// reporting has a value while progress runs, and at the end, so that it is not called anymore.
	reporting chan struct{}
}

// errBodyCrashed is what the transport reads after a panic in the caller's code.
var errBodyCrashed = errors.New("the reader of the body, or Progress, did not return")

// openBody opens a body for one attempt, whose context is ctx. The transport itself reads the
// library's own readers, which do not block, and no others.
func openBody(ctx context.Context, b *payload, progress func(done, total int64)) (io.ReadCloser, error) {
	body, err := b.open()
	if _, own := body.(ownContent); err != nil || own && progress == nil {
		return body, err
	}
	read, write := io.Pipe()
	p := &bodyPump{PipeReader: read, ctx: ctx, progress: progress, total: b.size, reporting: make(chan struct{}, 1)}
	p.source = task.Go(func() (struct{}, error) { return struct{}{}, p.run(body, write) })
	return p, nil
}

// run copies the body to the transport until the attempt ends.
func (p *bodyPump) run(body io.ReadCloser, to *io.PipeWriter) error {
	stop := context.AfterFunc(p.ctx, func() { _ = to.CloseWithError(p.ctx.Err()) })
	defer stop()
	defer to.CloseWithError(errBodyCrashed) // the first error of a pipe stays
	defer body.Close()
	buffer, _ := copyBuffers.Get().(*copyBuffer)
	defer copyBuffers.Put(buffer)
	for {
		n, err := body.Read(buffer[:])
		if n < 0 || n > len(buffer) {
			n, err = 0, errors.New("the reader of the body returned an impossible number of bytes")
		}
		p.report(n)
		if _, closed := to.Write(buffer[:n]); err != nil || closed != nil {
			return to.CloseWithError(err) // io.EOF is the end
		}
	}
}

// report calls progress before the transport gets the bytes, so that the last report comes before
// the response.
func (p *bodyPump) report(n int) {
	if n == 0 || p.progress == nil {
		return
	}
	select {
	case p.reporting <- struct{}{}:
		defer func() { <-p.reporting }()
		p.done += int64(n)
		p.progress(p.done, p.total)
	default: // silenced
	}
}

// finish ends the reports at the end of the exchange. It waits for one that is running, but not
// beyond the end of the attempt. It raises the panic that crashed is the error of.
func (p *bodyPump) finish(readErr error) {
	select {
	case p.reporting <- struct{}{}:
	default:
		select {
		case p.reporting <- struct{}{}:
		case <-p.ctx.Done():
		}
	}
	if errors.Is(readErr, errBodyCrashed) {
		p.source.Wait(context.Background())
		_, _ = p.source.Result()
	}
}
