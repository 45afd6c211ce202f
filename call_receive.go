package forge

import (
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
	"time"

	"github.com/forge-sdk/forge-go/internal/conn"
	"github.com/forge-sdk/forge-go/internal/safetext"
	"github.com/forge-sdk/forge-go/internal/throttle"
)

const (
	drainBytes    = 128<<10 + 1 // bytes read of an unused body, so that its connection stays usable; + 1 for its end
	sniffBytes    = 512         // bytes that show whether a body is an HTML page, as in browsers
	maxWhitespace = 4 << 10     // bytes of white space around a JSON value
	decodedFactor = 4           // decoded items may take this multiple of the response's limit
)

// result is what an attempt has led to. The step that ends the attempt makes it.
type result struct {
	delivery
	outcome    outcome // 0 without a response
	status     int
	header     http.Header
	resp       *http.Response // nil after an error; its body is read, or is that of the stream
	stream     *stream        // the body of a download; the caller must close it
	buffer     *decodeBuffer  // of JSON
	message    string         // the server's error message
	fields     map[string][]string
	partial    bool // the body of an error response was truncated
	retryAfter time.Duration
	retryAt    time.Time
	err        error // an error below HTTP, or in the response
	permanent  bool  // another attempt cannot fix err
}

// ok reports whether the attempt succeeded. A 304 that is documented or was requested is a success.
func (r *result) ok() bool {
	return r.err == nil && (r.outcome == succeeded || r.outcome == unchanged)
}

// unchanged reports whether the response is a 304 that was requested: there was nothing to change.
func (r *result) unchanged() bool { return r.err == nil && r.outcome == unchanged }

// ambiguous reports whether a write that was sent may have taken effect, although the attempt
// failed.
func (r *result) ambiguous() bool {
	switch {
	case r.outcome == unexpected:
		return true
	case r.err != nil:
		return r.status < 300 || r.status == http.StatusSeeOther
	}
	return r.status == http.StatusRequestTimeout || r.status >= 500
}

// failed returns the result with an error.
func (r *result) failed(err error) *result {
	failed := *r
	failed.err, failed.retryAfter = err, max(r.retryAfter, proxyWait(err))
	return &failed
}

// proxyWait returns the wait requested by a proxy that did not connect to the server; 0 for other
// errors.
func proxyWait(err error) time.Duration {
	var refused *conn.ProxyError
	if errors.As(err, &refused) {
		return throttle.RetryAfter(refused.Status, refused.Header, time.Now())
	}
	return 0
}

// lostConnection reports whether the attempt had a connection, and lost it.
func (r *result) lostConnection() bool {
	var refused *conn.ProxyError
	return r.err != nil && !conn.IsDial(r.err) && !errors.As(r.err, &refused) &&
		!errors.Is(r.err, ErrTimeout) && !errors.Is(r.err, ErrNoCredential)
}

// discard closes the body of a result that the caller does not get. The rest of a short body is
// read, so that the connection stays usable.
func (r *result) discard() {
	if r.stream != nil {
		_, _ = io.CopyN(io.Discard, r.stream, drainBytes)
		_ = r.stream.Close()
	}
}

// receiveStep turns a response into a result. The body is read within the attempt: a truncated one
// is retried like a lost connection.
type receiveStep struct{}

func (receiveStep) do(wire *conn.Context, a attempt, d delivery, to hop, resp *http.Response) *result {
	r := &result{delivery: d, status: resp.StatusCode, header: resp.Header}
	in := incoming{wire: wire, call: a.call, resp: resp, body: wire.Reader(resp.Body, math.MaxInt64), redactor: a.redactor(d.token)}
	sent := a.options.header
	if !to.onOrigin {
		sent = nil // the caller's headers
	}
	r.outcome = outcomeOf(a.route(), r.status, sent)
	var err error
	switch {
	case isRedirect(r.status):
		r.outcome = 0
		in.drain()
		err = wire.Err() // of a body that did not arrive
	case a.options.kind == kindRaw:
		err = in.receiveRaw(r)
	case r.outcome == succeeded && a.options.kind == kindStream:
		err = in.receiveFile(r)
	default:
		err = in.receiveBody(r)
	}
	if r.bytesReceived += wire.BytesReceived(); err == nil {
		r.resp = resp
		return r
	}
	_, r.permanent = err.(*sentinelError) //nolint:errorlint // the error of a read may wrap one
	r.err = err
	return r
}

// incoming is a response that is being received.
type incoming struct {
	redactor
	call *call
	wire *conn.Context
	resp *http.Response
	body *conn.Reader
}

// receiveRaw keeps a response whose body the caller reads. A status below 200 or above 599 is an
// error.
func (in incoming) receiveRaw(r *result) error {
	switch {
	case r.status < 200 || r.status > 599:
		_ = in.resp.Body.Close()
		return &sentinelError{sentinel: ErrInvalidResponse, text: unexpectedText(r.status)}
	case r.status < 400:
		r.outcome = succeeded
	default:
		r.outcome = rejected
		r.readRetryAfter()
	}
	r.stream = in.newStream(in.body)
	if r.status == http.StatusConflict || r.status == http.StatusBadRequest { // its meaning depends on the message
		text, whole := peek(readFunc(r.stream.read), maxErrorBody, func([]byte) bool { return false })
		r.readMessage(in, text)
		r.stream.read = whole.Read
	}
	return nil
}

// receiveFile keeps the body of a file as a stream. It rejects a response that is not the file:
// compressed bytes, or an HTML page.
func (in incoming) receiveFile(r *result) error {
	content, err := in.fileContent(r)
	if err != nil {
		_ = in.resp.Body.Close() // it may be long
		return err
	}
	r.stream = in.newStream(content)
	return nil
}

func (in incoming) fileContent(r *result) (io.Reader, error) {
	if err := in.checkEncoding(); err != nil {
		return nil, err
	}
	if in.call.route().html && r.target == nil {
		return in.body, nil
	}
	var content io.Reader = in.body
	media := contentType(r.header)
	page := isHTML(media)
	if media == "" {
		var head []byte
		head, content = peek(in.body, sniffBytes, showsPage)
		page = beginsPage(head)
	}
	if page {
		return nil, pageInsteadOf("the file")
	}
	return content, nil
}

// receiveBody reads the body of a response that is not a stream, and frees its connection.
func (in incoming) receiveBody(r *result) (err error) {
	switch r.outcome {
	case succeeded:
		if err = in.receiveJSON(r); err == nil && r.buffer != nil {
			_ = in.resp.Body.Close() // it was read to its end
			return nil
		}
	case rejected:
		in.receiveError(r)
	case unexpected:
		err = &sentinelError{sentinel: ErrInvalidResponse, text: unexpectedText(r.status)}
	case unchanged:
	}
	in.drain()
	return err
}

// drain reads the rest of a body, so that the connection stays usable, and closes it. The body of a
// 101 is the connection itself, and is closed without reading: the server may never write to it.
func (in incoming) drain() {
	if in.resp.StatusCode >= 200 {
		in.body.Left = drainBytes
		_, _ = io.Copy(io.Discard, in.body)
	}
	_ = in.resp.Body.Close()
}

// receiveJSON reads a JSON response into a buffer.
func (in incoming) receiveJSON(r *result) error {
	media, ignored := contentType(r.header), in.call.options.kind == kindNoResult
	if err := in.checkEncoding(); err != nil {
		return err
	}
	switch {
	case isHTML(media):
		return pageInsteadOf("JSON")
	case media == "" && ignored:
		if head, _ := peek(in.body, sniffBytes, showsPage); beginsPage(head) {
			return pageInsteadOf("JSON")
		}
		return nil
	case ignored && in.call.request.isCustom():
		return nil // any type
	case !isJSON(media):
		text := "the response is " + safetext.Clean(media, 128) + " instead of JSON"
		if in.call.request.isCustom() {
			text += ": use client.Open"
		}
		return &sentinelError{sentinel: ErrInvalidResponse, text: text}
	case ignored:
		return nil
	}
	buffer := in.call.buffers.get()
	buffer.Reset()
	err := in.readJSON(buffer, media)
	if err != nil {
		in.call.buffers.put(buffer)
		return err
	}
	r.buffer = buffer
	return nil
}

func (in incoming) readJSON(buffer *decodeBuffer, media string) error {
	limit := in.call.options.limits.json
	n := in.resp.ContentLength
	var err error
	if n <= limit {
		n, err = buffer.readBody(in.body, n, limit+1)
	}
	switch {
	case n > limit:
		return tooLarge(limit)
	case err == nil && media == "" && beginsPage(buffer.Bytes()):
		return pageInsteadOf("JSON")
	}
	return err
}

// receiveError reads the error that the server returned. A truncated text is shown, too.
func (in incoming) receiveError(r *result) {
	r.readRetryAfter()
	buffer := decodeBuffers.Get()
	buffer.Reset()
	in.body.Left = maxErrorBody
	_, err := buffer.ReadFrom(in.body)
	r.partial = err != nil
	r.readMessage(in, buffer.Bytes())
	freeBuffer(buffer)
}

// readMessage reads the message of an error response.
func (r *result) readMessage(in incoming, text []byte) {
	r.message, r.fields = readMessage(text, contentType(r.header), in.safeText)
	if quota := in.call.route().quota; quota.refuses(r.status, r.message) {
		// The time of the first deletion is not known: this is the latest possible end of that hour.
		r.retryAt = time.Now().Add(quota.limit("").Window)
	}
}

// readRetryAfter reads the wait that the server requests.
func (r *result) readRetryAfter() {
	now := time.Now()
	if r.retryAfter = throttle.RetryAfter(r.status, r.header, now); r.retryAfter > 0 {
		r.retryAt = now.Add(r.retryAfter)
	}
}

// checkEncoding rejects a compression that was not requested. net/http removes the header of a
// compression that it requested itself.
func (in incoming) checkEncoding() error {
	encodings := strings.Join(in.resp.Header["Content-Encoding"], ", ")
	for encoding := range strings.SplitSeq(encodings, ",") {
		if encoding = strings.TrimSpace(encoding); encoding != "" && !strings.EqualFold(encoding, "identity") {
			return &sentinelError{sentinel: ErrInvalidResponse, text: "the response is compressed as " + in.safeText(encodings, 64) + ", which was not requested"}
		}
	}
	return nil
}

func tooLarge(limit int64) error {
	return &sentinelError{sentinel: ErrResponseTooLarge, text: fmt.Sprintf("the response is larger than %d bytes (MaxBytes)", limit)}
}

// pageInsteadOf returns the error for an HTML page.
func pageInsteadOf(wanted string) error {
	return &sentinelError{sentinel: ErrInvalidResponse, text: "the response is an HTML page instead of " + wanted + ", perhaps a sign-in page: check the address and the credential"}
}
