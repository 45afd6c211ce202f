package forge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
	"time"

	"github.com/forge-sdk/forge-go/internal/jsonread"
)

const (
	drainBytes    = 64 << 10 // bytes read of a body that is not used, so that the connection stays usable
	maxWhitespace = 4 << 10  // bytes of white space around a JSON value
	decodedFactor = 4        // items may take so many times the memory that the answer may have
)

// checkAnswer refuses what no transport may return. It also refuses a success for a body that could
// not be read to its end, which net/http returns when a server takes half of a body for the whole.
func checkAnswer(answer *http.Response, failed error) error {
	switch {
	case answer == nil:
		return &failure{sentinel: ErrAnswer, text: "the transport returned neither a response nor an error"}
	case answer.Body == nil && answer.ContentLength > 0:
		return &failure{sentinel: ErrAnswer, text: "the transport returned a response without its Body"}
	case answer.Body == nil: // only a transport of the caller does this
		answer.Body = http.NoBody
	}
	if failed != nil && answer.StatusCode < 400 {
		_ = answer.Body.Close()
		return failed
	}
	return nil
}

// take deals with an answer inside the attempt, so that a body that is cut short is judged like a connection that breaks.
func (c *call) take(life *lifetime, answer *http.Response) error {
	a := &c.last
	a.status, a.header = answer.StatusCode, answer.Header
	a.outcome = outcomeOf(c.route(), a.status, c.sentHeader())
	body := &c.watch.reader
	*body = answerReader{body: answer.Body, call: c, left: math.MaxInt64}
	if a.outcome == succeeded && c.options.kind == kindOpen {
		if err := c.checkStream(answer); err != nil {
			_ = answer.Body.Close() // it may be long
			return err
		}
		c.stream = c.newStream(life, answer, body)
		return nil
	}
	err := c.receiveBody(answer, body)
	if err == nil && a.outcome == succeeded && c.options.kind != kindExec {
		_ = answer.Body.Close() // it was read to its end
	} else {
		c.drain(body, answer)
	}
	if err == nil {
		c.watch.stop()
		life.end(nil)
	}
	return err
}

// sentHeader returns the caller's headers that were on the request.
func (c *call) sentHeader() http.Header {
	if c.last.bare {
		return nil
	}
	return c.options.header
}

// receiveBody reads the body of a response that is not a stream.
func (c *call) receiveBody(answer *http.Response, body *answerReader) error {
	switch c.last.outcome {
	case succeeded:
		return c.takeValue(answer, body)
	case rejected:
		c.takeError(answer, body)
	case unexpected:
		c.last.final = true
		return &failure{sentinel: ErrAnswer, text: unexpectedText(answer.StatusCode)}
	case unchanged:
	}
	return nil
}

// unexpectedText explains a status that the endpoint does not return.
func unexpectedText(status int) string {
	switch {
	case status < 100 || status > 599:
		return fmt.Sprintf("%03d is not an HTTP status", status)
	case status == http.StatusSwitchingProtocols:
		return "the server switches to another protocol, which was not requested"
	case status == http.StatusPartialContent:
		return "the server returns a part, which was not requested"
	case status == http.StatusNotModified:
		return "the server returns no content, although the request had no condition"
	}
	return "the endpoint does not return this status: a proxy or a cache may have changed the response"
}

// drain reads what is left of a body, so that the connection stays usable, and closes it. Of a 101
// the body is the connection itself: nobody may ever write to it.
func (c *call) drain(body *answerReader, answer *http.Response) {
	if answer.StatusCode >= 200 {
		body.left = drainBytes
		_, _ = io.Copy(io.Discard, body)
	}
	_ = answer.Body.Close()
}

// checkStream refuses what is not the file: compressed bytes, and a page in its place.
func (c *call) checkStream(answer *http.Response) error {
	if err := c.checkEncoding(answer); err != nil {
		return err
	}
	if isHTML(contentType(answer.Header)) && (c.last.redirected || !c.route().html) {
		c.last.final = true
		return &failure{sentinel: ErrAnswer, text: "the response is an HTML page instead of the file: a sign-in page? Check the address and the credential"}
	}
	return nil
}

// checkEncoding refuses a compression that was not requested. net/http removes the header of the one
// that it has requested itself.
func (c *call) checkEncoding(answer *http.Response) error {
	if len(answer.Header["Content-Encoding"]) == 0 {
		return nil
	}
	encoding := answer.Header.Get("Content-Encoding")
	if encoding == "" || strings.EqualFold(encoding, "identity") {
		return nil
	}
	c.last.final = true
	return &failure{sentinel: ErrAnswer, text: "the response is compressed as " + c.clean(encoding, 64) + ", which was not requested"}
}

// takeError reads what the server says of a failure.
func (c *call) takeError(answer *http.Response, body io.Reader) {
	a := &c.last
	now := time.Now()
	if a.retryAfter = readRetryAfter(a.status, a.header, now); a.retryAfter > 0 {
		a.until = now.Add(a.retryAfter)
	}
	// What can be read of it is shown: a cut error is still the server's answer.
	text, err := io.ReadAll(io.LimitReader(body, maxErrorBody))
	a.partial = err != nil
	a.message, a.fields = readMessage(text, contentType(answer.Header), c.clean)
	if c.deletedRecently() {
		// The time of the first deletion is not known: this is the latest possible end of its hour.
		_, window := c.route().budget.rate()
		a.until = now.Add(window)
	}
}

// takeValue reads a JSON answer into the call's buffer.
func (c *call) takeValue(answer *http.Response, body *answerReader) error {
	media := contentType(answer.Header)
	if err := c.checkEncoding(answer); err != nil {
		return err
	}
	switch {
	case isHTML(media):
		c.last.final = true
		return &failure{sentinel: ErrAnswer, text: "the answer is an HTML page instead of JSON: a sign-in page? Check the address and the credential"}
	case !isJSON(media):
		c.last.final = true
		return &failure{sentinel: ErrAnswer, text: "the answer is " + cleanText(media, 128) + " instead of JSON"}
	case c.options.kind == kindExec:
		return nil
	}
	limit := c.options.limits.json
	if answer.ContentLength > limit {
		return c.tooLarge(limit)
	}
	if c.data == nil {
		c.data = workspaces.Get()
	}
	c.data.Reset()
	if answer.ContentLength > 0 {
		// What is announced is not trusted beyond what is kept anyway.
		c.data.Grow(int(min(answer.ContentLength, largestPooled-bytes.MinRead)) + bytes.MinRead)
	}
	n, err := c.fill(body, limit+1)
	if n > limit {
		return c.tooLarge(limit)
	}
	return err
}

// fill reads most bytes of body at most. A large one goes into a buffer of that size once half of it has come: doubling would end at
// twice as much.
func (c *call) fill(body *answerReader, most int64) (int64, error) {
	half := max(most/2, largestPooled) - bytes.MinRead
	body.left = min(half, most)
	n, err := c.data.ReadFrom(body)
	if err != nil || n < half || n == most {
		return n, err
	}
	whole := bytes.NewBuffer(make([]byte, 0, most+bytes.MinRead))
	_, _ = whole.Write(c.data.Bytes())
	c.data.Buffer = *whole
	body.left = most - n
	more, err := c.data.ReadFrom(body)
	return n + more, err
}

func (c *call) tooLarge(limit int64) error {
	c.last.final = true
	return &failure{sentinel: ErrTooLarge, text: fmt.Sprintf("the answer is larger than %d bytes (MaxBytes)", limit)}
}

// decode reads the buffered answer into out.
func (c *call) decode(out any) error {
	return c.decodeWith(func(r *jsonread.Reader) error { return decodeValue(r, out) })
}

// decodeWith runs a decoder over the buffered answer. A failure is final: the answer was complete.
func (c *call) decodeWith(decode func(*jsonread.Reader) error) error {
	data := c.data.Bytes()
	value := bytes.TrimSpace(data)
	switch {
	case len(value) == 0:
		return c.unusable("the answer has no body", nil)
	case len(data)-len(value) > maxWhitespace:
		return c.unusable("the answer has more than 4 KiB of white space around its value", nil)
	case string(value) == "null":
		return c.unusable("the answer is null", nil)
	}
	if translate := c.request.translate; translate != nil {
		var err error
		if data, err = translate(data); err != nil {
			return c.unusable(err.Error(), nil)
		}
	}
	r := &c.data.reader
	defer r.Reset(nil)
	r.Strict, r.Limit = c.client().config.strict, decodedFactor*min(max(c.options.limits.json, defaultLimits.json), 1<<40)
	r.Foreign = c.request.foreign
	r.Watch = c.client().config.drift.watch(c.request.route)
	r.Reset(data)
	if err := decode(r); err != nil {
		return c.undecodable(err, len(data))
	}
	for _, m := range r.Mismatches() {
		if m.Pointer == "" {
			return c.unusable("the answer is a JSON "+m.Got+", which is not what this endpoint answers", nil)
		}
		c.mismatches = append(c.mismatches, Mismatch(m))
	}
	return nil
}

// undecodable says where an answer is not what it should be.
func (c *call) undecodable(err error, size int) error {
	var syntax *jsonread.SyntaxError
	var strict *jsonread.StrictError
	var large *jsonread.LimitError
	switch {
	case errors.As(err, &large):
		c.last.err, c.ambiguous = &failure{sentinel: ErrTooLarge, text: "the answer has too many items: " + large.Error()}, true
		return c.error()
	case errors.As(err, &syntax):
		return c.unusable(fmt.Sprintf("the answer is not valid JSON: %s of %d", syntax, size), nil)
	case errors.As(err, &strict):
		return c.unusable("strict decoding: "+cleanText(strict.Error(), 512), nil)
	}
	return c.unusable("the answer cannot be decoded: "+err.Error(), err)
}

func (c *call) unusable(text string, cause error) error {
	c.last.err = &failure{ErrAnswer, text, cause}
	c.ambiguous = true
	return c.error()
}

// failed makes the error of a call that did not end well.
func (c *call) failed(ctx context.Context) error {
	if cause := context.Cause(ctx); errors.Is(cause, ErrTimeout) {
		c.last.err, c.last.cause = cause, nil
	} else if err := ctx.Err(); err != nil && (c.last.err != nil || c.last.partial || c.mayRepeat(&c.last)) {
		if c.note == "" {
			c.note = endedByCaller(err)
		}
		if !errors.Is(c.last.err, err) {
			c.last.cause = err
		}
	}
	err := c.error()
	if c.limited() {
		return &RateLimitError{Until: c.last.until, Err: err}
	}
	return err
}

// endedByCaller explains the end of the caller's context.
func endedByCaller(err error) string {
	if errors.Is(err, context.Canceled) {
		return "the caller canceled the context"
	}
	return "the deadline of the caller's context has passed"
}

// limited reports whether the call failed because the server holds it back. Of its bulk deletions it says so with a 400.
func (c *call) limited() bool {
	a := &c.last
	switch a.status {
	case http.StatusTooManyRequests:
		return true
	case http.StatusBadRequest:
		return c.deletedRecently()
	}
	return errors.Is(a.err, ErrRateLimited) && !a.until.IsZero()
}

// deletedRecently reports whether the server refused a second bulk deletion within an hour.
func (c *call) deletedRecently() bool {
	return c.route().budget == deletionBudget && c.last.status == http.StatusBadRequest &&
		strings.Contains(c.last.message, "at most once an hour")
}

// error makes the *Error of the last attempt.
func (c *call) error() *Error {
	a, r := &c.last, c.route()
	e := &Error{
		Method: r.method, Route: r.template, Path: c.scrub(c.request.path), Status: a.status, Message: a.message, Fields: a.fields,
		RequestID: requestID(a.header), Attempts: c.attempts,
		MaybeApplied: c.ambiguous && r.class != safe,
		sentinel:     sentinelFor(a.status), cause: c.scrubbed(a.err),
	}
	if a.err != nil && a.status < 400 {
		e.sentinel = nil
	}
	if a.cause != nil {
		e.cause = errors.Join(e.cause, a.cause)
	}
	e.hint = hintFor(r, a.status, c.cred.kind == jobToken)
	if e.hint == "" {
		e.hint = strings.Trim(c.hintBase()+"; "+hintDecoded(c.request.path, a.status, a.message), "; ")
	}
	e.hint = orDefault(e.hint, hintTLS(a.err))
	if c.deletedRecently() {
		e.hint = "a repository takes one bulk deletion an hour: wait, or delete single tags with DeleteTag"
	}
	if c.note != "" {
		e.hint = c.note
	}
	return e
}

// scrubbed replaces an error whose text holds the credential, as one does that quotes a server which sent it back.
func (c *call) scrubbed(err error) error {
	if err == nil {
		return nil
	}
	text := printable(err.Error())
	if clean := c.scrub(text); clean != text {
		return &failure{sentinel: ErrAnswer, text: clean}
	}
	return err
}

// clean is cleanText for what a server may have put the credential into. It is taken out of what will be shown, and before that is cut:
// cleaning can join the parts of a token, and cutting leaves a part.
func (c *call) clean(text string, limit int) string { return cutText(c.scrub(printable(text)), limit) }

// scrub takes the client's secret out of text from outside, and the token that this call sent, which another call may have
// renewed meanwhile.
func (c *call) scrub(text string) string {
	if c.cred.renew != nil {
		text = redact(text, c.used())
	}
	return c.cred.scrub(text)
}

// scrubHeader does so where a server sends it back, in place.
func (c *call) scrubHeader(h http.Header) {
	for _, values := range h {
		for i, value := range values {
			text := printable(value)
			if clean := c.scrub(text); clean != text {
				values[i] = clean
			}
		}
	}
}
