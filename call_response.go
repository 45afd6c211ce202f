package forge

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
	"time"

	"github.com/forge-sdk/forge-go/internal/conn"

	"github.com/forge-sdk/forge-go/internal/jsonread"
	"github.com/forge-sdk/forge-go/internal/safetext"
	"github.com/forge-sdk/forge-go/internal/throttle"
)

const (
	drainBytes    = 128<<10 + 1 // bytes read of an unused body, so that its connection stays usable; + 1 for its end
	sniffBytes    = 512         // bytes that show whether a body is an HTML page, as in browsers
	maxWhitespace = 4 << 10     // bytes of white space around a JSON value
	decodedFactor = 4           // decoded items may take this multiple of the response's limit
)

// responseState is the response of the current attempt, or the error in its place. Only this file
// assigns its fields.
type responseState struct {
	outcome    outcome // 0 without a response
	status     int
	header     http.Header
	resp       *http.Response // after an attempt without err; its body is read, or is that of a download
	body       io.ReadCloser  // of a download
	buffer     *decodeBuffer  // of JSON; the attempts share it
	buffers    *bufferCache   // of the list; nil: none
	mismatches []Mismatch
	message    string // the server's error message
	fields     map[string][]string
	partial    bool // the body of an error response was truncated
	retryAfter time.Duration
	retryAt    time.Time
	err        error // an error below HTTP, or in the response
	permanent  bool  // another attempt cannot fix err
}

// reset prepares for the next attempt.
func (s *responseState) reset() {
	s.discard()
	*s = responseState{buffer: s.buffer, buffers: s.buffers}
}

// useBuffers sets the buffers of a list.
func (s *responseState) useBuffers(buffers *bufferCache) { s.buffers = buffers }

// ok reports whether the attempt succeeded. A 304 that is documented or was requested is a success.
func (s *responseState) ok() bool {
	return s.err == nil && (s.outcome == succeeded || s.outcome == unchanged)
}

// unchanged reports whether the response is a 304 that was requested: there was nothing to change.
func (s *responseState) unchanged() bool { return s.err == nil && s.outcome == unchanged }

// ambiguous reports whether a write that was sent may have taken effect, although the attempt
// failed.
func (s *responseState) ambiguous() bool {
	switch {
	case s.outcome == unexpected:
		return true
	case s.err != nil:
		return s.status < 300 || s.status == http.StatusSeeOther
	}
	return s.status == http.StatusRequestTimeout || s.status >= 500
}

// fail sets the error of the attempt.
func (s *responseState) fail(err error) {
	s.err, s.retryAfter = err, max(s.retryAfter, proxyWait(err))
}

// credentialFailed records that there is no token to send.
func (s *responseState) credentialFailed(err error) {
	s.permanent, s.retryAfter = isFinalCredentialError(err)
}

// setPermanent records that another attempt cannot fix the error.
func (s *responseState) setPermanent() { s.permanent = true }

// setRetryAt sets the time until which the call is delayed.
func (s *responseState) setRetryAt(until time.Time) { s.retryAt = until }

// setRedirect sets the status of a redirect. It becomes 0 when the redirect is followed.
func (s *responseState) setRedirect(status int) { s.status = status }

// lostConnection reports whether the attempt had a connection, and lost it.
func (s *responseState) lostConnection() bool {
	var refused *conn.ProxyError
	return s.err != nil && !conn.IsDial(s.err) && !errors.As(s.err, &refused) &&
		!errors.Is(s.err, ErrTimeout) && !errors.Is(s.err, ErrNoCredential)
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

// checkResponse rejects results that a transport must not return. It also rejects a success for a
// body that could not be read to its end: net/http returns such a success if the server responds
// before it has the complete body.
func checkResponse(resp *http.Response, failed error) error {
	switch {
	case resp == nil:
		return &sentinelError{sentinel: ErrInvalidResponse, text: "the transport returned neither a response nor an error"}
	case resp.Body == nil && resp.ContentLength > 0:
		return &sentinelError{sentinel: ErrInvalidResponse, text: "the transport returned a response without its Body"}
	case resp.Body == nil: // only a caller's transport does this
		resp.Body = http.NoBody
	}
	if failed != nil && resp.StatusCode < 400 {
		_ = resp.Body.Close()
		return failed
	}
	return nil
}

// receive reads a response within the attempt: a truncated body is retried like a lost connection.
func (c *call) receive(resp *http.Response) error {
	s := &c.response
	s.status, s.header = resp.StatusCode, resp.Header
	s.outcome = outcomeOf(c.route(), s.status, c.sentHeader())
	body := c.attempt.conn.Reader(resp.Body, math.MaxInt64)
	if receive := c.request.receive; receive != nil {
		return receive(c, resp, body)
	}
	if s.outcome == succeeded && c.options.kind == kindStream {
		content, err := c.checkStream(resp, body)
		if err != nil {
			_ = resp.Body.Close() // it may be long
			return err
		}
		s.resp, s.body = resp, c.newStream(resp, content)
		return nil
	}
	err := c.receiveBody(resp, body)
	if err == nil && s.outcome == succeeded && c.options.kind != kindNoResult {
		_ = resp.Body.Close() // it was read to its end
	} else {
		c.drain(body, resp)
	}
	if err == nil {
		s.resp = resp
		c.attempt.conn.Cancel(nil)
	}
	return err
}

// receiveRaw keeps a response whose body the caller reads. A status below 200 or above 599 is an
// error.
func (c *call) receiveRaw(resp *http.Response, body *conn.Reader) error {
	s := &c.response
	switch {
	case s.status < 200 || s.status > 599:
		s.permanent = true
		_ = resp.Body.Close()
		return &sentinelError{sentinel: ErrInvalidResponse, text: unexpectedText(s.status)}
	case s.status < 400:
		s.outcome = succeeded
	default:
		s.outcome = rejected
		s.readRetryAfter()
	}
	s.resp, s.body = resp, c.newStream(resp, body)
	if s.status == http.StatusConflict || s.status == http.StatusBadRequest {
		c.peekError()
	}
	return nil
}

// peekError reads the message of a status whose meaning depends on it, and leaves the body
// complete.
func (c *call) peekError() {
	s := &c.response
	text, whole := peek(s.body, maxErrorBody, func([]byte) bool { return false })
	s.message, s.fields = readMessage(text, contentType(s.header), c.safeText)
	if c.deletedRecently() {
		s.retryAt = time.Now().Add(c.route().quota.limit("").Window)
	}
	s.body = struct {
		io.Reader
		io.Closer
	}{whole, s.body}
}

// discard closes the body of a response that the caller does not get. The rest of a short body is
// read, so that the connection stays usable.
func (s *responseState) discard() {
	if s.body == nil {
		return
	}
	_, _ = io.CopyN(io.Discard, s.body, drainBytes)
	_ = s.body.Close()
	s.body = nil
}

// sentHeader returns the caller's headers that the request had.
func (c *call) sentHeader() http.Header {
	if c.attempt.baseHeadersOnly {
		return nil
	}
	return c.options.header
}

// receiveBody reads the body of a response that is not a stream.
func (c *call) receiveBody(resp *http.Response, body *conn.Reader) error {
	switch c.response.outcome {
	case succeeded:
		return c.receiveJSON(resp, body)
	case rejected:
		c.receiveError(resp, body)
	case unexpected:
		c.response.permanent = true
		return &sentinelError{sentinel: ErrInvalidResponse, text: unexpectedText(resp.StatusCode)}
	case unchanged:
	}
	return nil
}

// drain reads the rest of a body, so that the connection stays usable, and closes it. The body of a
// 101 is the connection itself, and is closed without reading: the server may never write to it.
func (c *call) drain(body *conn.Reader, resp *http.Response) {
	if resp.StatusCode >= 200 {
		body.Left = drainBytes
		_, _ = io.Copy(io.Discard, body)
	}
	_ = resp.Body.Close()
}

// checkStream returns the content of a file. It rejects a response that is not the file:
// compressed bytes, or an HTML page.
func (c *call) checkStream(resp *http.Response, body io.Reader) (content io.Reader, err error) {
	if err := c.checkEncoding(resp); err != nil {
		return nil, err
	}
	if c.route().html && !c.attempt.redirected {
		return body, nil
	}
	media := contentType(resp.Header)
	page := isHTML(media)
	if media == "" {
		var head []byte
		head, body = peek(body, sniffBytes, showsPage)
		page = beginsPage(head)
	}
	if page {
		return nil, c.pageInsteadOf("the file")
	}
	return body, nil
}

// pageInsteadOf returns the error for an HTML page.
func (c *call) pageInsteadOf(wanted string) error {
	c.response.permanent = true
	return &sentinelError{sentinel: ErrInvalidResponse, text: "the response is an HTML page instead of " + wanted + ", perhaps a sign-in page: check the address and the credential"}
}

// checkEncoding rejects a compression that was not requested. net/http removes the header of a
// compression that it requested itself.
func (c *call) checkEncoding(resp *http.Response) error {
	given := resp.Header["Content-Encoding"]
	if len(given) == 0 {
		return nil
	}
	encodings := strings.Join(given, ", ")
	for encoding := range strings.SplitSeq(encodings, ",") {
		if encoding = strings.TrimSpace(encoding); encoding != "" && !strings.EqualFold(encoding, "identity") {
			c.response.permanent = true
			return &sentinelError{sentinel: ErrInvalidResponse, text: "the response is compressed as " + c.safeText(encodings, 64) + ", which was not requested"}
		}
	}
	return nil
}

// receiveError reads the error that the server returned.
func (c *call) receiveError(resp *http.Response, body *conn.Reader) {
	r := &c.response
	r.readRetryAfter()
	// A truncated error text is shown, too.
	buffer := decodeBuffers.Get()
	buffer.Reset()
	body.Left = maxErrorBody
	_, err := buffer.ReadFrom(body)
	r.partial = err != nil
	r.message, r.fields = readMessage(buffer.Bytes(), contentType(resp.Header), c.safeText)
	freeBuffer(buffer)
	if c.deletedRecently() {
		// The time of the first deletion is not known: this is the latest possible end of that hour.
		r.retryAt = time.Now().Add(c.route().quota.limit("").Window)
	}
}

// readRetryAfter reads the wait that the server requests.
func (s *responseState) readRetryAfter() {
	now := time.Now()
	if s.retryAfter = throttle.RetryAfter(s.status, s.header, now); s.retryAfter > 0 {
		s.retryAt = now.Add(s.retryAfter)
	}
}

// receiveJSON reads a JSON response into the call's buffer.
func (c *call) receiveJSON(resp *http.Response, body *conn.Reader) error {
	media := contentType(resp.Header)
	if err := c.checkEncoding(resp); err != nil {
		return err
	}
	switch {
	case isHTML(media):
		return c.pageInsteadOf("JSON")
	case media == "" && c.options.kind == kindNoResult:
		if head, _ := peek(body, sniffBytes, showsPage); beginsPage(head) {
			return c.pageInsteadOf("JSON")
		}
		return nil
	case c.options.kind == kindNoResult && c.request.isCustom():
		return nil // any type
	case !isJSON(media):
		c.response.permanent = true
		return &sentinelError{sentinel: ErrInvalidResponse, text: "the response is " + safetext.Clean(media, 128) + " instead of JSON" + c.hintOpen()}
	case c.options.kind == kindNoResult:
		return nil
	}
	limit := c.options.limits.json
	if resp.ContentLength > limit {
		return c.tooLarge(limit)
	}
	if c.response.buffer == nil {
		c.response.buffer = c.response.buffers.get()
	}
	c.response.buffer.Reset()
	n, err := c.response.buffer.readBody(body, resp.ContentLength, limit+1)
	switch {
	case n > limit:
		return c.tooLarge(limit)
	case err == nil && media == "" && beginsPage(c.response.buffer.Bytes()):
		return c.pageInsteadOf("JSON")
	}
	return err
}

func (c *call) tooLarge(limit int64) error {
	c.response.permanent = true
	return &sentinelError{sentinel: ErrResponseTooLarge, text: fmt.Sprintf("the response is larger than %d bytes (MaxBytes)", limit)}
}

// decode decodes the buffered response into out.
func (c *call) decode(out any) error {
	return c.decodeWith(func(r *jsonread.Reader) error { return decodeValue(r, out) })
}

// decodeWith runs a decoder over the buffered response. An error is permanent: the response was
// complete.
func (c *call) decodeWith(decode func(*jsonread.Reader) error) error {
	data := c.response.buffer.Bytes()
	value := bytes.TrimSpace(data)
	switch {
	case len(value) == 0 && c.request.isCustom() && (c.response.status == http.StatusNoContent || c.route().Method != http.MethodGet):
		return c.badResponse("the call succeeded and there is no body to decode: pass nil for out", nil)
	case len(value) == 0:
		return c.badResponse("the response has no body", nil)
	case len(data)-len(value) > maxWhitespace:
		return c.badResponse("the response has more than 4 KiB of white space around its value", nil)
	case string(value) == "null":
		return c.badResponse("the response is null", nil)
	}
	if translate := c.request.translate; translate != nil {
		var err error
		if data, err = translate(data); err != nil {
			return c.badResponse(err.Error(), nil)
		}
	}
	r := &c.response.buffer.reader
	defer r.Reset(nil)
	r.Strict, r.Limit = c.core().config.strict, decodedFactor*min(max(c.options.limits.json, defaultLimits.json), 1<<40)
	r.Foreign = c.request.unmarshalForeign
	if r.Watch = nil; c.core().config.drift != nil { // the method value is an allocation
		r.Watch = c.core().config.drift.watch(c.request.route, c.safeText)
	}
	r.Reset(data)
	err := decode(r)
	for _, m := range r.Mismatches() {
		if m.Pointer == "" && err == nil {
			return c.badResponse("the response is a JSON "+m.Got+c.otherType(m), nil)
		}
		m.Pointer = c.redact(m.Pointer) // keys of maps are data
		c.response.mismatches = append(c.response.mismatches, Mismatch(m))
	}
	if err != nil {
		return c.decodeError(err, len(data))
	}
	return nil
}

// hintOpen ends the error for a response that is not JSON.
func (c *call) hintOpen() string {
	if c.request.isCustom() {
		return ": use client.Open"
	}
	return ""
}

// otherType ends the error for a response of another type: Do and ListAs have the caller's type.
func (c *call) otherType(m jsonread.Mismatch) string {
	switch {
	case !c.request.isCustom():
		return ", which is not what this endpoint returns"
	case c.options.kind == kindList:
		return ", and ListAs reads arrays: use Do"
	case m.Got == "array":
		return ", and out is of type " + m.Want + ": use ListAs, or a slice"
	case m.Got == "object":
		return ", and out is of type " + m.Want + ": pass a pointer to a struct or a map"
	}
	return ", and out is of type " + m.Want
}

// fillInto fills the caller's Response. A list does it when the caller reaches the page.
func (c *call) fillInto() {
	if c.options.into != nil && c.response.resp != nil && c.options.kind != kindList {
		*c.options.into = c.publicResponse()
	}
}

func (c *call) publicResponse() Response {
	r := newResponse(c.response.resp, c.retry.attempts)
	r.Mismatches = c.response.mismatches
	return r
}

// freeBuffer returns the buffer to the list or to the pool.
func (c *call) freeBuffer() {
	if c.response.buffer != nil {
		c.response.buffers.put(c.response.buffer)
		c.response.buffer = nil
	}
}

// download returns the Download of a successful call.
func (c *call) download() *Download {
	d := &Download{
		Name:        c.redact(fileName(c.response.header)), // fileName may join the parts of a parameter
		Size:        c.response.resp.ContentLength,
		ContentType: c.safeText(mediaType(contentType(c.response.header)), 256),
		source:      c.options.checksum.verified(c.request.checksum.verified(c.response.body)),
		private:     isSecret(c.route().Template),
	}
	if c.response.status < 400 || c.response.ambiguous() { // d.failure is the error of a body that ends early
		c.retry.setMaybeApplied()
	}
	d.failure = c.newError()
	return d
}

// isSecret reports whether a route serves secure files. In a Call, its placeholders may have any
// names.
func isSecret(template string) bool {
	return strings.Contains(template, "/secure_files/") && strings.HasSuffix(template, "/download")
}

// truncatable is implemented by responses that a server may truncate. truncation returns what is
// missing ("" for a complete response) and how to get it. raw reports whether the request already
// had AccessRawDiffs.
type truncatable interface {
	truncation(raw bool) (missing, remedy string)
}

// checkComplete returns an error for a truncated response if the option RequireComplete is set. The
// call is not retried: the server would truncate the response again.
func (c *call) checkComplete(out any) error {
	response, ok := out.(truncatable)
	if !ok || !c.options.complete {
		return nil
	}
	if missing, remedy := response.truncation(c.query.Get("access_raw_diffs") == "true"); missing != "" {
		c.response.fail(&sentinelError{sentinel: ErrIncomplete, text: "the response is truncated: " + missing + ": " + remedy})
		return c.newError()
	}
	return nil
}
