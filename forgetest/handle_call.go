package forgetest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"runtime/debug"
	"slices"
)

// maxBuffered is the size up to which the response of a handler is complete before it is sent.
const maxBuffered = 1 << 20

// errFinished is the result of a write after the response has ended.
var errFinished = errors.New("forgetest: the response has ended")

// handled is the http.ResponseWriter of a handler. The handler runs as a coroutine of the request:
// it pauses when the buffer is full, until the response is sent or dropped. So faults act on a
// stream as on any other response.
type handled struct {
	call    *call
	request *http.Request
	header  http.Header
	status  int
	buffer  bytes.Buffer
	yield   func(*handled) bool // passes the buffer on; false when nothing more can be sent
	ended   bool                // yield has returned false

	panicked any // of the handler
	stack    []byte
}

// Header implements http.ResponseWriter.
func (h *handled) Header() http.Header { return h.header }

// WriteHeader implements http.ResponseWriter. The first status counts; interim ones are not sent.
func (h *handled) WriteHeader(status int) {
	if status < 100 || status > 999 {
		panic(fmt.Sprintf("invalid status %d", status))
	}
	if h.status == 0 && status >= http.StatusOK {
		h.status = status
	}
}

// Write implements http.ResponseWriter.
func (h *handled) Write(p []byte) (written int, err error) {
	h.WriteHeader(http.StatusOK)
	for len(p) > 0 {
		n := min(len(p), maxBuffered-h.buffer.Len())
		h.buffer.Write(p[:n])
		written, p = written+n, p[n:]
		if len(p) > 0 && !h.pass() {
			return written, errFinished
		}
	}
	return written, nil
}

// FlushError implements the method that http.ResponseController calls.
func (h *handled) FlushError() error {
	h.WriteHeader(http.StatusOK)
	if !h.pass() {
		return errFinished
	}
	return nil
}

// Flush implements http.Flusher.
func (h *handled) Flush() { _ = h.FlushError() }

// pass pauses the handler until the buffer was sent or dropped.
func (h *handled) pass() bool {
	h.ended = h.ended || !h.yield(h)
	h.buffer.Reset()
	return !h.ended
}

// run runs the handler. yield receives h whenever its buffer is to be sent.
func (h *handled) run(yield func(*handled) bool) {
	h.yield = yield
	defer func() {
		if h.panicked = recover(); h.panicked != nil {
			h.stack = debug.Stack()
		}
	}()
	h.call.route.handler(h, h.request)
}

// callKey is the key of a request's context under which handlers find the call.
type callKey struct{}

// respondHandled runs the checks of a route that Handle added, then its handler.
func (s *Server) respondHandled(c *call, body []byte) response {
	if a := c.checkHandled(body); a != nil {
		return s.encoded(c.r, *a)
	}
	r := c.r.WithContext(context.WithValue(c.r.Context(), callKey{}, c))
	r.Body, r.ContentLength, r.Pattern = io.NopCloser(bytes.NewReader(body)), int64(len(body)), c.route.name
	r.Header = r.Header.Clone() // the log has its own, but middleware may change this one
	for name, value := range c.args {
		r.SetPathValue(name, value)
	}
	h := &handled{call: c, request: r, header: http.Header{}}
	next, stop := iter.Pull(h.run)
	_, paused := next()
	if !paused {
		return s.finish(h)
	}
	a := response{status: h.status, header: h.header.Clone(), size: -1}
	c.sent = slices.Clone(h.buffer.Bytes()[:min(h.buffer.Len(), loggedBody)])
	a.stop = func() { stop(); s.reportPanic(h) }
	a.stream = func(w io.Writer) error {
		for ; paused; _, paused = next() {
			if _, err := w.Write(h.buffer.Bytes()); err != nil {
				return err
			}
			if f, can := w.(http.ResponseWriter); can {
				_ = http.NewResponseController(f).Flush()
			}
		}
		_, err := w.Write(h.buffer.Bytes())
		if h.panicked != nil {
			return errFinished
		}
		return err
	}
	return a
}

// checkHandled executes the steps that precede the handler. The response of the first step that
// fails is returned.
func (c *call) checkHandled(body []byte) *response {
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	c.server.runDue(c.server.now())
	for _, step := range []func() *response{
		c.authenticate,
		func() *response { return c.readHandled(body) },
		c.impersonate,
		func() *response { return c.server.checkRate(c.route.name) },
		c.resolveOwner,
		c.authorize,
	} {
		if a := step(); a != nil {
			return a
		}
	}
	return nil
}

// readHandled is readParams, but accepts bodies of any other type.
func (c *call) readHandled(body []byte) *response {
	a := c.readParams(body)
	if a != nil && a.status == http.StatusUnsupportedMediaType {
		return nil
	}
	return a
}

// finish returns the response of a handler that has returned.
func (s *Server) finish(h *handled) response {
	c := h.call
	if h.panicked != nil {
		s.reportPanic(h)
		if h.panicked == http.ErrAbortHandler { //nolint:errorlint // net/http compares it too
			s.countApplied(c, 0)
			panic(http.ErrAbortHandler)
		}
		return s.encoded(c.r, failure(http.StatusInternalServerError, "forgetest: the handler of %s panicked: %v", c.route.name, h.panicked))
	}
	a := response{status: cmp.Or(h.status, http.StatusOK), header: h.header, body: h.buffer.Bytes()}
	a.checkCondition(c.r)
	c.sent = slices.Clone(a.body[:min(len(a.body), loggedBody)])
	if a.header.Get("Content-Length") == "" && a.header.Get("Content-Encoding") == "" {
		a.compress(c.r.Header.Get("Accept-Encoding"))
	}
	return a
}

// reportPanic fails the test if the handler panicked.
func (s *Server) reportPanic(h *handled) {
	if h.panicked == nil || h.panicked == http.ErrAbortHandler || s.test == nil { //nolint:errorlint // net/http compares it too
		return
	}
	s.test.Errorf("forgetest: the handler of %s panicked: %v\n%s", h.call.route.name, h.panicked, h.stack)
}

// encoded encodes the document of a response.
func (s *Server) encoded(r *http.Request, a response) response {
	s.mu.Lock()
	defer s.mu.Unlock()
	a.encode(s.encoder(r))
	return a
}

// countApplied records whether a call took effect.
func (s *Server) countApplied(c *call, status int) {
	applied := status >= http.StatusOK && status < http.StatusMultipleChoices && c.r.Method != http.MethodGet
	if c.applied != nil {
		applied = *c.applied
	}
	if applied {
		s.log.update(func() {
			s.log.effects[c.route.name]++
			c.entry.Applied = true
		})
	}
}
