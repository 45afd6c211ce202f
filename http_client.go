package forge

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/forge-sdk/forge-go/internal/credential"
)

// HTTPClient returns an *http.Client under the policies of c, for code that builds its own
// requests, such as another client of the same API, or a GraphQL query. Its Transport alone has all
// policies, for programs that take an http.RoundTripper:
//
//   - The credential of c is sent to the origin of its base URL only, and never again after a
//     redirect has left that origin. A request to another origin is sent without a credential.
//   - Redirects are followed inside the Transport, with their method and body. To another origin
//     they need https, and must not lead to an API (a path with /api/). A 303 to a write is an
//     error, and so is a redirect of a write to another origin.
//   - A request is retried by the class of the route that it matches, or else of its method: a POST
//     outside the contract is retried only if the server did not process it. Retries end when the
//     headers of a response arrive. A body without GetBody is sent once.
//   - Pacing, the waits that servers request, the retry budget, the Limiter, hooks, log, statistics
//     and limits of time are those of c.
//
// The options apply to all requests: Retry, HeaderTimeout and MaxBytes. Any other option makes each
// request fail with a *ValidationError.
//
// Every final status is a response, not an error: 304, 404, and the 429 or 503 that is left after
// the retries. A 101 is an error. Bodies are streams, without a limit of size. An error of the
// Transport is an *Error, a *RateLimitError or a *ValidationError; http.Client wraps it in a
// *url.Error.
//
// The Transport rejects a request that carries a credential: a header such as PRIVATE-TOKEN,
// Authorization or Cookie, or a parameter such as private_token. Give the other client no token; an
// empty header is omitted. Sudo is accepted for the client's origin. An http.Client with a Jar adds
// a Cookie. A body over 64 KiB is sent with Expect: 100-continue, and one that does not have its
// ContentLength is an error. Request.Cancel has no effect: use the context. CheckRedirect of an
// http.Client is never called. Switch off the retries of the other client: they multiply those of
// c, and send a create again whose outcome is not known.
//
// Only code outside the package needs HTTPClient. It has no vocabulary, no pagination and no checks
// of parameters. CloseIdleConnections of the returned client has no effect, as go-retryablehttp and
// clients that use it call it after each failure. Call that of c.
func (c *Client) HTTPClient(opts ...RequestOption) *http.Client {
	return &http.Client{Transport: &policyTransport{c.service().owner(), slices.Clone(opts)}}
}

// policyTransport sends requests of other code under the policies of a client.
type policyTransport struct {
	core    *core
	options []RequestOption
}

// RoundTrip sends the request. It does not change it.
func (t *policyTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	body := &rawBody{request: req}
	defer body.close()
	c, err := t.newCall(req, body)
	if err != nil {
		return nil, err
	}
	ctx := req.Context()
	s, err := c.send(ctx)
	if s.resp == nil || s.err != nil || endedBy(ctx, err) {
		s.discard()
		return nil, err
	}
	return rawResponse(s, req), nil
}

// endedBy reports whether the end of the context has ended the call.
func endedBy(ctx context.Context, err error) bool {
	return ctx.Err() != nil && errors.Is(err, ctx.Err())
}

// rawResponse returns the response for the caller. Its Request is the caller's, with the address
// that responded: the one that was sent has the credential.
func rawResponse(s *callState, req *http.Request) *http.Response {
	resp := s.resp // not a copy: net/http sets its Trailer at the end of the body
	final := *req
	if sent := resp.Request; sent != nil && sent.URL != nil {
		address := *sent.URL
		final.URL = &address
	}
	resp.Request, resp.Body = &final, s.download()
	return resp
}

func (t *policyTransport) newCall(req *http.Request, body *rawBody) (*call, error) {
	if err := t.core.check(); err != nil {
		return nil, err
	}
	if req.URL == nil {
		return nil, &ValidationError{Option: "Request.URL", Reason: "it is nil"}
	}
	r := t.newRequest(req)
	if err := checkRaw(req, r.route.base == apiBase); err != nil {
		return nil, r.withRoute(err)
	}
	options, err := r.applyOptions(kindRaw, t.options)
	if err != nil {
		return nil, err
	}
	options.header, options.close, options.limits.call = rawHeader(req.Header), req.Close, 0
	u := *req.URL
	u.Fragment, u.RawFragment = "", ""
	return &call{request: r, options: options, url: u, body: body.payload()}, nil
}

// newRequest finds the route of a request.
func (t *policyTransport) newRequest(req *http.Request) *request {
	method := req.Method
	if method == "" {
		method = http.MethodGet
	}
	r := &request{core: t.core, path: req.URL.EscapedPath()}
	base := t.core.config.bases[apiBase]
	if !sameOrigin(base, req.URL) {
		r.route, r.quotaKey, r.auth = rawRoute(method), strings.ToLower(req.URL.Host), new(credential.Credential)
		r.route.base = otherBase
		return r
	}
	r.auth = t.core.credentialFor(apiBase)
	if below, ok := strings.CutPrefix(r.path, base.EscapedPath()); ok && strings.HasPrefix(below, "/") {
		r.path = below
		if route, args := matchRoute(method, below); route != nil {
			r.route, r.quotaKey = route, route.quota.key(args)
			return r
		}
	}
	r.route = rawRoute(method)
	return r
}

// rawRoute returns the route of addresses that no route of the contract matches. It is one for each
// method: the path may have any number of values.
func rawRoute(method string) *route {
	r := undocumentedRoute(method, "/*")
	r.Service, r.Pagination = "http", ""
	return r
}

// checkRaw rejects a request that must not be sent. onOrigin reports whether its address is on the
// client's own origin.
func checkRaw(req *http.Request, onOrigin bool) error {
	u := req.URL
	switch {
	case u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" || u.Opaque != "":
		return &ValidationError{Option: "Request.URL", Reason: "it is not an absolute address with http or https"}
	case u.User != nil:
		return &ValidationError{Option: "Request.URL", Reason: "it contains a user or password: this client adds its own credential"}
	case req.Host != "" && !strings.EqualFold(req.Host, u.Host):
		return &ValidationError{Option: "Request.Host", Reason: "it differs from the host of the address"}
	case req.Method == http.MethodConnect:
		return &ValidationError{Option: "Request.Method", Reason: "CONNECT is not supported"}
	case req.Body == nil && req.ContentLength != 0:
		return &ValidationError{Option: "Request.ContentLength", Reason: "the request has no body"}
	case len(req.Trailer) > 0:
		return &ValidationError{Option: "Request.Trailer", Reason: "trailers are not supported"}
	}
	for name, values := range req.Header {
		switch {
		case !carriesCredential(name) || strings.Join(values, "") == "":
		case onOrigin && http.CanonicalHeaderKey(name) == "Sudo":
		case http.CanonicalHeaderKey(name) == "Cookie":
			return &ValidationError{Option: "Request.Header", Param: "Cookie",
				Reason: "a cookie may carry a credential: use an http.Client without a Jar, and add no cookies"}
		default:
			return &ValidationError{Option: "Request.Header", Param: http.CanonicalHeaderKey(name),
				Reason: "it carries a credential: this client adds its own to requests to its origin, so give the code that builds the request no token"}
		}
	}
	for pair := range strings.FieldsFuncSeq(strings.ReplaceAll(u.RawQuery, "+", " "), isSeparator) {
		if name, _, _ := strings.Cut(pair, "="); isCredentialParam(name) {
			return &ValidationError{Option: "Request.URL", Param: baseParam(name), Reason: "a query must not contain credentials"}
		}
	}
	return nil
}

// carriesCredential reports whether a server reads a credential from the header. Many servers read
// Private_Token as Private-Token.
func carriesCredential(name string) bool {
	return isCredentialHeader(strings.ReplaceAll(name, "_", "-"))
}

// rawHeader returns a copy of the headers without empty credentials, which clients without a token
// send.
func rawHeader(given http.Header) http.Header {
	header := given.Clone()
	for name := range header {
		if carriesCredential(name) && strings.Join(header[name], "") == "" {
			delete(header, name)
		}
	}
	return header
}

// rawBody is the body of a request. The Transport has to close it, even if it was not sent.
type rawBody struct {
	request *http.Request
	opened  atomic.Bool
}

func (b *rawBody) isEmpty() bool { return b.request.Body == nil || b.request.Body == http.NoBody }

// close closes a body that no attempt has opened.
func (b *rawBody) close() {
	if !b.isEmpty() && !b.opened.Swap(true) {
		_ = b.request.Body.Close()
	}
}

// payload returns the body for the attempts; nil if the request has none.
func (b *rawBody) payload() *payload {
	if b.isEmpty() {
		return nil
	}
	size := b.request.ContentLength
	if size <= 0 {
		size = -1 // net/http: not known
	}
	return &payload{size: size, open: b.open, once: b.request.GetBody == nil, codings: b.request.TransferEncoding}
}

// open returns the body for the first attempt, and a copy of it for the others.
func (b *rawBody) open() (io.ReadCloser, error) {
	switch {
	case !b.opened.Swap(true):
		return b.sized(b.request.Body), nil
	case b.request.GetBody == nil:
		return nil, errors.New("the request has no GetBody, so its body can be sent only once")
	}
	content, err := b.request.GetBody()
	switch {
	case err != nil:
		return nil, err
	case isNil(content):
		return nil, errors.New("the request's GetBody returned a nil body and a nil error")
	}
	return b.sized(content), nil
}

// sized returns the body, which must have the length that the request states, if any.
func (b *rawBody) sized(content io.ReadCloser) io.ReadCloser {
	if b.request.ContentLength <= 0 {
		return content
	}
	return &exactReader{content: content, left: b.request.ContentLength, body: true}
}

// matchRoute returns the row of the contract for a request with an escaped path, and the arguments
// in the path that its quota needs. Of several rows it is the one with the fewest placeholders:
// /runners/all is not a runner.
func matchRoute(method, path string) (found *route, args []any) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	for i, part := range parts {
		if parts[i], _ = url.PathUnescape(part); parts[i] == "" { // also if it is malformed
			return nil, nil
		}
	}
	fewest := len(parts) + 1
	for i := range routes {
		r := &routes[i]
		if r.Method != method || r.base != apiBase || !r.matches(parts) {
			continue
		}
		if n := strings.Count(r.Template, "/:"); n < fewest {
			found, fewest = r, n
		}
	}
	if found == nil || found.quota == noQuota {
		return found, nil
	}
	for want := range strings.SplitSeq(strings.Trim(found.Template, "/"), "/") {
		if want[0] == ':' {
			args = append(args, parts[0])
		}
		parts = parts[1:]
	}
	return found, args
}

// matches reports whether a path has the constant parts of the template. The last part may have an
// extension if the template has an optional one.
func (r *route) matches(path []string) bool {
	template, format := strings.CutSuffix(strings.Trim(r.Template, "/"), "[.:format]")
	if strings.Count(template, "/") != len(path)-1 {
		return false
	}
	for want := range strings.SplitSeq(template, "/") {
		part := path[0]
		if path = path[1:]; format && len(path) == 0 {
			part, _, _ = strings.Cut(part, ".")
		}
		if want != part && want[0] != ':' {
			return false
		}
	}
	return true
}
