package forge

import (
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/forge-sdk/forge-go/internal/conn"
)

// sendRaw runs the attempts of a request of HTTPClient. Every status is a response.
func (c *call) sendRaw(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	returned := false
	defer func() {
		if !returned { // an error, or a panic or runtime.Goexit of the caller's code
			c.response.discard()
		}
	}()
	err := c.send(ctx)
	if c.response.resp == nil || c.response.err != nil || endedBy(ctx, err) {
		return nil, err
	}
	returned = true
	return c.rawResponse(req), nil
}

// endedBy reports whether the end of the context has ended the call.
func endedBy(ctx context.Context, err error) bool {
	return ctx.Err() != nil && errors.Is(err, ctx.Err())
}

// rawResponse returns the response for the caller. Its Request is the caller's, with the address
// that responded: the one that was sent has the credential.
func (c *call) rawResponse(req *http.Request) *http.Response {
	resp := c.response.resp // not a copy: net/http sets its Trailer at the end of the body
	final := *req
	if sent := resp.Request; sent != nil && sent.URL != nil {
		address := *sent.URL
		final.URL = &address
	}
	resp.Request, resp.Body = &final, c.download()
	return resp
}

// newStream returns the body of a download. It keeps its state in closures, so that the caller
// cannot reach the request and its credential through it.
func (c *call) newStream(resp *http.Response, body io.Reader) io.ReadCloser {
	s := &stream{progress: c.options.progress, limit: c.options.limits.stream, total: resp.ContentLength}
	attempt, content := c.attempt.conn, resp.Body // a response of HTTPClient gets another Body
	end := func() {
		attempt.Cancel(nil) // its timer and the caller's context would keep the call in memory
		c.attempt.endTimeout()
	}
	attempt.Pause()
	s.read = func(p []byte) (int, error) {
		n, err := body.Read(p)
		if errors.Is(err, io.EOF) {
			c.redactHeader(resp.Trailer)
		} else if err != nil {
			err = c.redactError(attempt.TimeoutCause(conn.UnwrapURLError(err)))
		}
		if attempt.Pause(); err != nil {
			end()
		}
		return n, err
	}
	s.close = func() error {
		err := content.Close()
		end()
		return err
	}
	if content == http.NoBody {
		end()
	}
	return s
}
