package forge

import (
	"context"
	"errors"
	"net/http"
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
