package forge

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
)

// newStream is the body of a download. It holds what it needs in functions, so that nothing which a caller
// is handed leads to the request and its credential.
func (c *call) newStream(life *lifetime, answer *http.Response, body *answerReader) io.ReadCloser {
	s := &stream{progress: c.options.progress, limit: c.options.limits.stream, total: answer.ContentLength}
	c.watch.rest()
	s.read = func(p []byte) (int, error) {
		n, err := body.Read(p)
		if err != nil && !errors.Is(err, io.EOF) {
			err = c.scrubbed(life.timeout(transportCause(err)))
		}
		c.watch.rest()
		return n, err
	}
	s.close = func() error {
		err := answer.Body.Close()
		c.watch.stop() // its timer would hold the call for another minute
		life.end(nil)
		return err
	}
	return s
}

// stream reads a download.
type stream struct {
	read     func([]byte) (int, error)
	close    func() error
	closed   atomic.Bool
	progress func(done, total int64)
	done     int64
	total    int64
	limit    int64
}

// Read counts what it reads.
func (s *stream) Read(p []byte) (int, error) {
	if s.closed.Load() {
		return 0, errors.New("the download is closed")
	}
	n, err := s.read(p)
	s.done += int64(n)
	if s.limit > 0 && s.done > s.limit {
		return n, &failure{sentinel: ErrTooLarge, text: fmt.Sprintf("the download is larger than %d bytes (MaxBytes)", s.limit)}
	}
	if s.progress != nil && (n > 0 || errors.Is(err, io.EOF)) {
		s.progress(s.done, s.total)
	}
	return n, err
}

// Close ends the attempt and frees its connection.
func (s *stream) Close() error {
	if s.closed.Swap(true) {
		return nil
	}
	return s.close()
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
