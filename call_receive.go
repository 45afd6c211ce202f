package forge

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
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

// receiveStep turns a response into a result. The body is read within the attempt: a truncated one
// is retried like a lost connection. A *sentinelError of the functions below would be the same in
// another attempt; their other errors are those of reading.
type receiveStep struct{}

func (receiveStep) do(wire *conn.Context, a attempt, d delivery, to hop, resp *http.Response) *result {
	r := &result{delivery: d, status: resp.StatusCode, header: resp.Header}
	in := incoming{wire: wire, call: a.call, resp: resp, body: wire.Reader(resp.Body, math.MaxInt64), redactor: a.redactor(d.token)}
	sent := a.options.header
	if to.offOrigin {
		sent = nil // the caller's headers
	}
	r.outcome = outcomeOf(a.route(), r.status, sent)
	var err error
	switch {
	case isRedirect(r.status):
		r.outcome = 0
		drain(in)
		err = wire.Err() // of a body that did not arrive
	case a.options.kind == kindRaw:
		err = receiveRaw(in, r)
	case r.outcome == succeeded && a.options.kind == kindStream:
		err = receiveFile(in, r)
	default:
		err = receiveBody(in, r)
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
func receiveRaw(in incoming, r *result) error {
	switch {
	case r.status < 200 || r.status > 599:
		_ = in.resp.Body.Close()
		return &sentinelError{sentinel: ErrInvalidResponse, text: unexpectedText(r.status)}
	case r.status < 400:
		r.outcome = succeeded
	default:
		r.outcome = rejected
		setRetryAfter(r)
	}
	var content io.Reader = in.body
	if r.status == http.StatusConflict || r.status == http.StatusBadRequest { // its meaning depends on the message
		var text []byte
		text, content = peek(in.body, maxErrorBody, func([]byte) bool { return false })
		setMessage(in, r, text)
	}
	r.stream = newStream(in, content)
	return nil
}

// receiveFile keeps the body of a file as a stream. It rejects a response that is not the file:
// compressed bytes, or an HTML page.
func receiveFile(in incoming, r *result) error {
	content, err := fileContent(in, r)
	if err != nil {
		_ = in.resp.Body.Close() // it may be long
		return err
	}
	r.stream = newStream(in, content)
	return nil
}

func fileContent(in incoming, r *result) (io.Reader, error) {
	if err := checkEncoding(in); err != nil {
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
func receiveBody(in incoming, r *result) (err error) {
	switch r.outcome {
	case succeeded:
		err = receiveJSON(in, r)
	case rejected:
		receiveError(in, r)
	case unexpected:
		err = &sentinelError{sentinel: ErrInvalidResponse, text: unexpectedText(r.status)}
	case unchanged:
	}
	drain(in)
	return err
}

// drain reads the rest of a body, so that the connection stays usable, and closes it. The body of a
// 101 is the connection itself, and is closed without reading: the server may never write to it.
func drain(in incoming) {
	if in.resp.StatusCode >= 200 {
		in.body.Left = drainBytes
		_, _ = io.Copy(io.Discard, in.body)
	}
	_ = in.resp.Body.Close()
}

// receiveJSON reads a JSON response into a buffer.
func receiveJSON(in incoming, r *result) error {
	media, ignored := contentType(r.header), in.call.options.kind == kindNoResult
	if err := checkEncoding(in); err != nil {
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
	case ignored && in.call.request.custom:
		return nil // any type
	case !isJSON(media):
		text := "the response is " + safetext.Clean(media, 128) + " instead of JSON"
		if in.call.request.custom {
			text += ": use client.Open"
		}
		return &sentinelError{sentinel: ErrInvalidResponse, text: text}
	case ignored:
		return nil
	}
	buffer := in.call.buffers.get()
	buffer.Reset()
	err := fillBuffer(in, buffer, media)
	if err != nil {
		in.call.buffers.put(buffer)
		return err
	}
	r.buffer = buffer
	return nil
}

func fillBuffer(in incoming, buffer *decodeBuffer, media string) error {
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
func receiveError(in incoming, r *result) {
	setRetryAfter(r)
	buffer := newBuffer()
	buffer.Reset()
	in.body.Left = maxErrorBody
	_, err := buffer.ReadFrom(in.body)
	r.partial = err != nil
	setMessage(in, r, buffer.Bytes())
	freeBuffer(buffer)
}

// setMessage reads the message of an error response.
func setMessage(in incoming, r *result, text []byte) {
	r.message, r.fields = readMessage(text, contentType(r.header), in.safeText)
	if quota := in.call.route().quota; quota.refuses(r.status, r.message) {
		// The time of the first deletion is not known: this is the latest possible end of that hour.
		r.retryAt = time.Now().Add(quota.limit("").Window)
	}
}

// setRetryAfter reads the wait that the server requests.
func setRetryAfter(r *result) {
	now := time.Now()
	if r.retryAfter = throttle.RetryAfter(r.status, r.header, now); r.retryAfter > 0 {
		r.retryAt = now.Add(r.retryAfter)
	}
}

// checkEncoding rejects a compression that was not requested. net/http removes the header of a
// compression that it requested itself.
func checkEncoding(in incoming) error {
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

// contentType returns the Content-Type of a response; several are separated by commas. One that has
// only parameters does not count.
func contentType(h http.Header) string {
	media := strings.Trim(strings.Join(h["Content-Type"], ", "), " ,")
	if strings.HasPrefix(media, ";") {
		return ""
	}
	return media
}

func mediaType(contentType string) string {
	media, _, _ := strings.Cut(contentType, ";")
	media, _, _ = strings.Cut(media, ",") // the first one of several
	return strings.ToLower(strings.TrimSpace(media))
}

// isHTML reports whether a media type, or one of several, is that of a page.
func isHTML(contentType string) bool {
	for one := range strings.SplitSeq(contentType, ",") {
		if media := mediaType(one); media == "text/html" || media == "application/xhtml+xml" {
			return true
		}
	}
	return false
}

// beginsPage reports whether a body without a media type begins as an HTML page does.
func beginsPage(body []byte) bool {
	return strings.HasPrefix(http.DetectContentType(withoutMark(body)), "text/html")
}

// showsPage reports whether head shows if a body is an HTML page. A page begins with white space
// and a tag.
func showsPage(head []byte) bool {
	text := bytes.TrimLeft(withoutMark(head), "\t\n\f\r ")
	return len(text) > 0 && text[0] != '<' || beginsPage(head)
}

// withoutMark removes a byte order mark.
func withoutMark(text []byte) []byte { return bytes.TrimPrefix(text, []byte("\ufeff")) }

// isJSON reports whether a media type is JSON or missing: a response without a body has none.
func isJSON(contentType string) bool {
	media := mediaType(contentType)
	return media == "" || media == "application/json" || media == "text/json" || strings.HasSuffix(media, "+json")
}

// decodeBuffer is the buffer of a response, with the reader that decodes it.
type decodeBuffer struct {
	bytes.Buffer
	reader jsonread.Reader
}

// readBody reads at most limit bytes of body. length is the Content-Length, or -1.
func (w *decodeBuffer) readBody(body *conn.Reader, length, limit int64) (n int64, err error) {
	for n < limit {
		size := bufferSize(n, length, limit)
		if needed, has := size+bytes.MinRead, int64(w.Cap()); needed > has && (length > 0 || n > 0) {
			larger := bytes.NewBuffer(make([]byte, 0, max(needed, min(2*has, firstRead)))) // for the next response, too
			_, _ = larger.Write(w.Bytes())
			w.Buffer = *larger
		}
		body.Left = size - n
		var more int64
		more, err = w.ReadFrom(body)
		if n += more; err != nil || n < size {
			break
		}
	}
	return n, err
}

// bufferSize returns the size of the buffer after n bytes have come. A Content-Length is trusted up
// to 64 times of what has come, so that a large document needs no second buffer, and a server
// cannot make the client allocate without sending. Without it the buffer grows fourfold, up to the
// limit.
func bufferSize(n, length, limit int64) int64 {
	if length >= n {
		return min(length+1, max(64*n, firstRead), limit) // with one more byte, the last read reaches the end
	}
	if size := max(4*n, firstRead); size < limit-firstRead {
		return size
	}
	return limit // a last step of a few bytes would need another buffer
}

const (
	firstRead     = 1 << 20 // bytes that may be read before the buffer has their size
	largestPooled = 4 << 20 // bytes; a larger buffer is left to the garbage collector
)

var decodeBuffers = sync.Pool{New: func() any { return new(decodeBuffer) }}

// newBuffer returns a buffer of the pool. Its content is undefined.
func newBuffer() *decodeBuffer {
	b, _ := decodeBuffers.Get().(*decodeBuffer)
	return b
}

// freeBuffer returns a buffer to the pool.
func freeBuffer(b *decodeBuffer) {
	if b.Cap() <= largestPooled {
		decodeBuffers.Put(b)
	}
}

// bufferCache keeps a buffer of a list from page to page. With the pool alone, buffers were a fifth
// of the bytes that a list allocates: its pages come on changing processors, and the garbage
// collector empties the pool. A nil cache is the pool.
type bufferCache struct{ kept atomic.Pointer[decodeBuffer] }

func (c *bufferCache) get() *decodeBuffer {
	if c != nil {
		if b := c.kept.Swap(nil); b != nil {
			return b
		}
	}
	return newBuffer()
}

func (c *bufferCache) put(b *decodeBuffer) {
	if c == nil || b.Cap() > largestPooled || !c.kept.CompareAndSwap(nil, b) {
		freeBuffer(b)
	}
}

// close returns the buffer to the pool.
func (c *bufferCache) close() {
	if b := c.kept.Swap(nil); b != nil {
		freeBuffer(b)
	}
}

// peek reads the first n bytes of a body, or as many as are enough, and returns a reader of the
// whole body. An error is returned by that reader, after the bytes before it.
func peek(body io.Reader, n int, enough func(head []byte) bool) (head []byte, whole io.Reader) {
	for len(head) < n && !enough(head) {
		head = slices.Grow(head, min(512, n-len(head)))
		more, err := body.Read(head[len(head):min(cap(head), n)])
		head = head[:len(head)+more]
		if err != nil {
			body = failedReader{err}
			break
		}
	}
	return head, io.MultiReader(bytes.NewReader(head), body)
}

// failedReader returns the error of an earlier read.
type failedReader struct{ err error }

func (r failedReader) Read([]byte) (int, error) { return 0, r.err }
