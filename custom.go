package forge

import (
	"cmp"
	"context"
	"iter"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Call is a request to an endpoint for which the package has no method. Do, ListAs and Open send
// it. All rules of the methods apply: retries, redirects, limits, hooks, logs and errors.
type Call struct {
	// Method is the HTTP method: GET, HEAD, POST, PUT, PATCH or DELETE; empty for GET.
	Method string
	// Route is the path below /api/v4, with placeholders: "/projects/:id/jobs/:job_id". The names of
	// placeholders have lower-case letters and underscores.
	Route string
	// Args replace the placeholders in order, each escaped as one segment: forge.ID(42),
	// forge.Path("group/app"), forge.Text("feature/x").
	Args []Arg
	// Query holds the query parameters by their wire names: "iids[]". It must not have credentials.
	Query url.Values
	// Body is sent as JSON; nil sends none. Body, Form and Multipart exclude each other, and GET and
	// HEAD have none.
	Body any
	// Form is sent as an HTML form (application/x-www-form-urlencoded); nil sends none.
	Form url.Values
	// Multipart is sent as a multipart form with a file; nil sends none.
	Multipart *Multipart
	// Accept is the media type that Open requests; empty for any. "text/html" permits a page, which is
	// an error otherwise: it may be a sign-in page.
	Accept string
	// Class determines whether the call may be retried; empty for that of the method: ClassSafe for
	// GET and HEAD, ClassIdempotent for PUT and DELETE, ClassNonIdempotent for POST and PATCH. A POST
	// or PATCH may be ClassIdempotent, and a POST that only reads may be ClassSafe. Endpoints of the
	// contract have their own class.
	Class RetryClass
	// Pagination is the way in which ListAs requests pages: PaginationOffset, PaginationKeyset, or
	// empty for PaginationOffset. Endpoints of the contract have their own.
	Pagination Pagination
	// Name names the call in logs, and in Route.Service for hooks and traces; empty for "call".
	Name string
}

// Multipart is a multipart form with a file.
type Multipart struct {
	// Fields are the text fields.
	Fields map[string]string
	// FileField is the name of the field with the file; empty for "file".
	FileField string
	// File is the file, which is streamed. Required.
	File File
}

// Do sends a call for which the package has no method, and decodes its JSON response into out. If
// out is nil, any response of a success is accepted, except an HTML page, and its body is not
// decoded.
func (c *Client) Do(ctx context.Context, call Call, out any, opts ...RequestOption) error {
	if out == nil {
		return exec(ctx, c.customRequest(call), opts)
	}
	return c.customRequest(call).sendAndDecode(ctx, out, opts)
}

// Open sends a call for which the package has no method, and returns its response as a stream: the
// trace of a job, an artifact, a raw file. The caller closes it.
func (c *Client) Open(ctx context.Context, call Call, opts ...RequestOption) (*Download, error) {
	return open(ctx, c.customRequest(call), opts)
}

// ListAs reads all pages of a list for which the package has no method. The responses must be JSON
// arrays.
func ListAs[T any](ctx context.Context, c *Client, call Call, opts ...RequestOption) iter.Seq2[*T, error] {
	return list[T](ctx, c.customRequest(call), opts)
}

func (c *Client) customRequest(call Call) *request {
	if call.Method == "" {
		call.Method = http.MethodGet
	}
	args := make([]any, len(call.Args))
	for i, arg := range call.Args {
		args[i] = arg
	}
	r := c.service().newRequest(call.Method, call.Route, args)
	r.query, r.accept, r.unmarshalForeign = call.Query, call.Accept, unmarshalForeign
	if err := firstError(call.check(), call.checkRoute(r.route)); err != nil {
		r.err = err // says more than an error of expanding the template
	}
	r.route = call.describe(r.route)
	switch {
	case call.Body != nil:
		r.body, r.encode = call.Body, encodeJSON
	case call.Form != nil:
		r.encode = func(any) (*payload, error) {
			return bytesPayload("application/x-www-form-urlencoded", []byte(call.Form.Encode())), nil
		}
	case call.Multipart != nil:
		r.upload(call.Multipart.Fields, cmp.Or(call.Multipart.FileField, "file"), call.Multipart.File)
	}
	return r
}

// describe returns the route with the values that the call sets.
func (call Call) describe(known *route) *route {
	own := *known
	own.Service = cmp.Or(call.Name, own.Service)
	own.Class = cmp.Or(call.Class, own.Class)
	own.Pagination = cmp.Or(call.Pagination, own.Pagination)
	own.html = own.html || mediaType(call.Accept) == "text/html"
	return &own
}

// check rejects a malformed call, and a call with a credential in the query, where it would be
// logged.
func (call Call) check() error {
	switch call.Method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete:
	default:
		return &ValidationError{Option: "Call.Method", Reason: "it must be GET, HEAD, POST, PUT, PATCH or DELETE"}
	}
	if reason := templateProblem(call.Route); reason != "" {
		return &ValidationError{Option: "Call.Route", Reason: reason}
	}
	for name := range call.Query {
		if isCredentialParam(name) {
			return &ValidationError{Option: "Call.Query", Param: name, Reason: "a query must not contain credentials: use a client option, or Sudo"}
		}
	}
	if hasControl(call.Accept) {
		return &ValidationError{Option: "Call.Accept", Reason: "it is not a media type"}
	}
	return call.checkBody()
}

// templateProblem returns why a route is not valid; "" if it is.
func templateProblem(template string) string {
	switch {
	case template == "/api/v4" || strings.HasPrefix(template, "/api/v4/"):
		return "it is relative to /api/v4: omit /api/v4"
	case strings.ContainsAny(template, "{}"):
		return "placeholders are written as :id, without braces"
	case strings.ContainsAny(template, "?#"):
		return "it has a query: use Query"
	case len(template) < 2 || template[0] != '/' || checkArgument("", strings.TrimSuffix(template[1:], "/")) != nil:
		return "it must begin with a slash, without empty or dotted parts or control bytes: use Args"
	}
	for part := range strings.SplitSeq(strings.TrimSuffix(template, "[.:format]"), "/") {
		if before, name, found := strings.Cut(part, ":"); found && (before != "" || name == "" || placeholder(name) != name) {
			return strconv.Quote(part) + " is not a placeholder: they have a colon, lower-case letters and underscores"
		}
	}
	return ""
}

// checkBody rejects more than one body, and the body of a method that has none.
func (call Call) checkBody() error {
	bodies := []string{}
	for name, set := range map[string]bool{"Body": call.Body != nil, "Form": call.Form != nil, "Multipart": call.Multipart != nil} {
		if set {
			bodies = append(bodies, name)
		}
	}
	slices.Sort(bodies)
	embedded := ""
	if call.Body != nil {
		embedded = embeddedResponse(reflect.TypeOf(call.Body), map[reflect.Type]bool{})
	}
	switch {
	case embedded != "":
		return &ValidationError{Option: "Call.Body", Reason: "it embeds " + embedded + ", and encoding/json would omit other fields: use a named field"}
	case len(bodies) > 1:
		return &ValidationError{Option: "Call." + bodies[0], Reason: "it cannot be combined with " + bodies[1]}
	case len(bodies) == 1 && (call.Method == http.MethodGet || call.Method == http.MethodHead):
		return &ValidationError{Option: "Call." + bodies[0], Reason: call.Method + " has no body: set Method, or use Query"}
	}
	return nil
}

// checkRoute rejects a class and a pagination that do not fit the method, or that contradict the
// contract.
func (call Call) checkRoute(r *route) error {
	documented := r.Section != ""
	reads := call.Method == http.MethodGet || call.Method == http.MethodHead
	switch call.Class {
	case "", r.Class:
	case ClassSafe, ClassIdempotent, ClassNonIdempotent:
		switch {
		case documented:
			return &ValidationError{Option: "Call.Class", Reason: "the endpoint is in the contract, and its class is " + string(r.Class)}
		case reads, call.Class == ClassSafe && call.Method != http.MethodPost:
			return &ValidationError{Option: "Call.Class", Reason: call.Method + " cannot be " + string(call.Class)}
		}
	default:
		return &ValidationError{Option: "Call.Class", Reason: "it must be ClassSafe, ClassIdempotent or ClassNonIdempotent"}
	}
	return call.checkPagination(r, documented, reads)
}

func (call Call) checkPagination(r *route, documented, reads bool) error {
	switch call.Pagination {
	case "":
		return nil
	case PaginationOffset, PaginationKeyset:
	default:
		return &ValidationError{Option: "Call.Pagination", Reason: "it must be PaginationOffset or PaginationKeyset"}
	}
	switch {
	case !reads:
		return &ValidationError{Option: "Call.Pagination", Reason: call.Method + " has no pages"}
	case documented && r.Pagination != call.Pagination:
		return &ValidationError{Option: "Call.Pagination", Reason: "the endpoint is in the contract, and has " + paginationText(r.Pagination)}
	}
	return nil
}

func paginationText(p Pagination) string {
	if p == "" {
		return "no pages"
	}
	return string(p) + " pagination"
}

// embeddedResponse returns a response type that a struct in t embeds, if encoding/json would not
// write the whole struct: with the methods of one response type it omits the other fields, and
// without them, if it embeds several, their Extra. It is "" if there is none.
func embeddedResponse(t reflect.Type, seen map[reflect.Type]bool) string {
	if seen[t] || isResponseType(t) {
		return ""
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return embeddedResponse(t.Elem(), seen)
	case reflect.Struct:
	default:
		return ""
	}
	method, marshals := t.MethodByName("MarshalJSON")
	layout := foreignTypeOf(t)
	switch alone := len(layout.embedded) == 1 && len(layout.fields) == 0; {
	case marshals && !isGenerated(method):
		return ""
	case len(layout.embedded) > 0 && (!marshals || !alone):
		return t.FieldByIndex(layout.embedded[0].index).Type.String()
	case marshals:
		return ""
	}
	for f := range t.Fields() {
		if found := embeddedResponse(f.Type, seen); found != "" {
			return found
		}
	}
	return ""
}
