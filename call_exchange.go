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
		return afterExchange(wire, &result{delivery: d, err: err, permanent: true})
	}
	d.expects = req.Header["Expect"] != nil
	resp, err = transport.RoundTrip(req)
	uploaded, uploadErr := finishUpload(upload)
	d.bytesSent += uploaded
	if d.sent = wasSent(wire, transport, err); err == nil {
		err = checkResponse(resp, uploadErr)
	} else {
		err = sendError(wire, transport, req, err, uploadErr)
		d.refusedStream = errors.Is(err, conn.ErrNotProcessed) && wire.IsHTTP2()
	}
	if err != nil {
		r = (&result{delivery: d}).failed(err)
		r.permanent = errors.Is(uploadErr, errWrongLength)
		return afterExchange(wire, r)
	}
	redact := a.redactor(d.token)
	resp.Status = redact.redact(resp.Status)
	redact.redactHeader(resp.Header)
	received := s.next.do(wire, a, d, to, resp)
	received.permanent = received.permanent || errors.Is(uploadErr, errWrongLength)
	return afterExchange(wire, received)
}

// afterExchange sets the error of a result whose context has ended. A permanent error stays.
func afterExchange(wire *conn.Context, r *result) *result {
	if r.err != nil && !r.permanent {
		r.err = wire.TimeoutCause(r.err)
	}
	return r
}

// newRequest returns the request for one address. Its upload is nil if it has no body.
func newRequest(wire *conn.Context, a attempt, to hop, auth authorization) (*http.Request, *conn.Upload, error) {
	header := requestHeader(a.call, to.onOrigin, auth)
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
func requestHeader(c *call, onOrigin bool, auth authorization) http.Header {
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
	if !onOrigin {
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

// wasSent reports whether bytes of the request may have reached the server. A caller's transport
// may report no connections: only an error of dialing then means that there was none.
func wasSent(wire *conn.Context, transport http.RoundTripper, err error) bool {
	switch _, network := transport.(*http.Transport); {
	case err == nil:
		return true
	case wire.Replayed() || errors.Is(err, conn.ErrNotProcessed):
		return false
	default:
		return wire.Connected() || !network && !conn.IsDial(err)
	}
}

// sendError returns the error of a request without a response.
func sendError(wire *conn.Context, transport http.RoundTripper, req *http.Request, err, uploadErr error) error {
	if wire.Replayed() || errors.Is(err, conn.ErrNotProcessed) {
		return conn.ErrNotProcessed
	}
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
