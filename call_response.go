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

	"github.com/forge-sdk/forge-go/internal/bufpool"
	"github.com/forge-sdk/forge-go/internal/jsonread"
	"github.com/forge-sdk/forge-go/internal/safetext"
	"github.com/forge-sdk/forge-go/internal/throttle"
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
func (c *call) take(answer *http.Response) error {
	a := &c.last
	a.status, a.header = answer.StatusCode, answer.Header
	a.outcome = outcomeOf(c.route(), a.status, c.sentHeader())
	body := a.conn.Reader(answer.Body, math.MaxInt64)
	if a.outcome == succeeded && c.options.kind == kindOpen {
		if err := c.checkStream(answer); err != nil {
			_ = answer.Body.Close() // it may be long
			return err
		}
		c.stream = c.newStream(answer, body)
		return nil
	}
	err := c.receiveBody(answer, body)
	if err == nil && a.outcome == succeeded && c.options.kind != kindExec {
		_ = answer.Body.Close() // it was read to its end
	} else {
		c.drain(body, answer)
	}
	if err == nil {
		a.conn.Cancel(nil)
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
func (c *call) receiveBody(answer *http.Response, body *conn.Reader) error {
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
func (c *call) drain(body *conn.Reader, answer *http.Response) {
	if answer.StatusCode >= 200 {
		body.Left = drainBytes
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
	if a.retryAfter = throttle.RetryAfter(a.status, a.header, now); a.retryAfter > 0 {
		a.until = now.Add(a.retryAfter)
	}
	// What can be read of it is shown: a cut error is still the server's answer.
	text, err := io.ReadAll(io.LimitReader(body, maxErrorBody))
	a.partial = err != nil
	a.message, a.fields = readMessage(text, contentType(answer.Header), c.clean)
	if c.deletedRecently() {
		// The time of the first deletion is not known: this is the latest possible end of its hour.
		a.until = now.Add(c.route().quota.limit("").Window)
	}
}

// takeValue reads a JSON answer into the call's buffer.
func (c *call) takeValue(answer *http.Response, body *conn.Reader) error {
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
		return &failure{sentinel: ErrAnswer, text: "the answer is " + safetext.Clean(media, 128) + " instead of JSON"}
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
func (c *call) fill(body *conn.Reader, most int64) (int64, error) {
	half := max(most/2, largestPooled) - bytes.MinRead
	body.Left = min(half, most)
	n, err := c.data.ReadFrom(body)
	if err != nil || n < half || n == most {
		return n, err
	}
	whole := bytes.NewBuffer(make([]byte, 0, most+bytes.MinRead))
	_, _ = whole.Write(c.data.Bytes())
	c.data.Buffer = *whole
	body.Left = most - n
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
	r.Strict, r.Limit = c.core().config.strict, decodedFactor*min(max(c.options.limits.json, defaultLimits.json), 1<<40)
	r.Foreign = c.request.foreign
	r.Watch = c.core().config.drift.watch(c.request.route)
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

// report fills the caller's Response. A list does it when the caller reaches the page.
func (c *call) report() {
	if c.options.into != nil && c.last.answer != nil && c.options.kind != kindList {
		*c.options.into = c.response()
	}
}

func (c *call) response() Response {
	r := newResponse(c.last.answer, c.retry.attempts)
	r.Mismatches = c.mismatches
	return r
}

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

// newStream is the body of a download. It holds what it needs in functions, so that nothing which a caller
// is handed leads to the request and its credential.
func (c *call) newStream(answer *http.Response, body *conn.Reader) io.ReadCloser {
	s := &stream{progress: c.options.progress, limit: c.options.limits.stream, total: answer.ContentLength}
	attempt := c.last.conn
	attempt.Pause()
	s.read = func(p []byte) (int, error) {
		n, err := body.Read(p)
		if err != nil && !errors.Is(err, io.EOF) {
			err = c.scrubbed(attempt.TimeoutCause(conn.UnwrapURLError(err)))
		}
		attempt.Pause()
		return n, err
	}
	s.close = func() error {
		err := answer.Body.Close()
		attempt.Cancel(nil) // its timer would keep the call for another minute
		return err
	}
	return s
}

// download hands the stream over.
func (c *call) download() *Download {
	d := &Download{
		Name:        c.scrub(fileName(c.last.header)), // which may join the parts of a parameter
		Size:        c.last.answer.ContentLength,
		ContentType: c.clean(mediaType(contentType(c.last.header)), 256),
		body:        c.options.sum.over(c.request.sum.over(c.stream)),
		private:     isSecret(c.route().template),
	}
	d.call = c.error()
	return d
}

// isSecret reports whether a route serves secure files, under whatever names a Call has for its
// placeholders.
func isSecret(template string) bool {
	return strings.Contains(template, "/secure_files/") && strings.HasSuffix(template, "/download")
}

// cuttable is implemented by responses that a server may cut. cut says what is missing, "" for a
// response that is whole, and how to get it; raw reports that the request had raw diffs already.
type cuttable interface {
	cut(raw bool) (missing, remedy string)
}

// whole refuses a cut answer where the caller wants all or nothing. The answer is final: the server would cut it again.
func (c *call) whole(out any) error {
	answer, may := out.(cuttable)
	if !may || !c.options.complete {
		return nil
	}
	if missing, remedy := answer.cut(c.query.Get("access_raw_diffs") == "true"); missing != "" {
		c.last.err = &failure{sentinel: ErrIncomplete, text: "the answer is not whole: " + missing + ": " + remedy}
		return c.error()
	}
	return nil
}
