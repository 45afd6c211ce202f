package forge

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"strings"
)

// Call is a request to an endpoint for which the package has no method.
type Call struct {
	// Method is the HTTP method: GET, HEAD, POST, PUT, PATCH or DELETE.
	Method string
	// Route is the path below /api/v4, with placeholders: "/projects/:id/jobs/:job_id".
	Route string
	// Args replace the placeholders in order, each escaped as one segment: forge.ID(42),
	// forge.Path("group/app").
	Args []Ref
	// Query holds the query parameters by their wire names: "iids[]".
	Query url.Values
	// Body is sent as JSON; nil sends none.
	Body any
}

// Do sends a call for which the package has no method, and decodes its JSON response into out
// unless out is nil. The rules of the package apply: a POST or PATCH outside the contract is
// retried only if the server did not process it; GET, HEAD, PUT and DELETE may be retried.
func (c *Client) Do(ctx context.Context, call Call, out any, opts ...RequestOption) error {
	if out == nil {
		return exec(ctx, c.customRequest(call), opts)
	}
	return c.customRequest(call).sendAndDecode(ctx, out, opts)
}

// ListAs reads all pages of a list for which the package has no method. The responses must be JSON
// arrays.
func ListAs[T any](ctx context.Context, c *Client, call Call, opts ...RequestOption) iter.Seq2[*T, error] {
	return list[T](ctx, c.customRequest(call), opts)
}

func (c *Client) customRequest(call Call) *request {
	args := make([]any, len(call.Args))
	for i, arg := range call.Args {
		args[i] = arg
	}
	r := c.service().newRequest(call.Method, call.Route, args)
	r.query, r.unmarshalForeign = call.Query, unmarshalForeign
	if call.Body != nil {
		r.body, r.encode = call.Body, encodeJSON
	}
	if r.err == nil {
		r.err = call.check()
	}
	return r
}

// check rejects a malformed call, and a call with a credential in the query, where it would be
// logged.
func (call Call) check() error {
	switch call.Method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete:
	default:
		return &ValidationError{Option: "Call.Method", Reason: "it must be GET, HEAD, POST, PUT, PATCH or DELETE"}
	}
	if len(call.Route) < 2 || call.Route[0] != '/' || strings.ContainsAny(call.Route, "?#") || checkArgument("", strings.TrimSuffix(call.Route[1:], "/")) != nil {
		return &ValidationError{Option: "Call.Route", Reason: "it must begin with a slash, without empty or dotted parts, control bytes or a query: use Args and Query"}
	}
	for name := range call.Query {
		if isCredentialParam(name) {
			return &ValidationError{Option: "Call.Query", Param: name, Reason: "a query must not contain credentials: use a client option, or Sudo"}
		}
	}
	return nil
}
