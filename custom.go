package forge

import (
	"cmp"
	"context"
	"encoding"
	"encoding/json"
	"fmt"
	"io"
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
	// Options is a pointer to your struct with url tags (as in ListIssuesOptions), whose fields are
	// added to Query. Times, filters and invalid values are treated as in options of the package.
	Options any
	// Body is sent as JSON; nil sends none, and a nil pointer to a struct its zero value. Body, Form
	// and Multipart exclude each other. HEAD has none of them, and GET only a Form.
	Body any
	// Form is sent as an HTML form (application/x-www-form-urlencoded); nil sends none. The Form of a
	// GET holds parameters that are too long for a query; proxies may drop it.
	Form url.Values
	// Multipart is sent as a multipart form with a file; nil sends none.
	Multipart *Multipart
	// Accept is the media type that Open requests; empty for any. "text/html" permits a page, which is
	// an error otherwise: it may be a sign-in page.
	Accept string
	// Class determines whether the call may be retried; empty for that of the method: RetryClassSafe
	// for GET and HEAD, RetryClassIdempotent for PUT and DELETE, RetryClassNonIdempotent for POST and
	// PATCH. A POST or PATCH may be RetryClassIdempotent, a POST that only reads may be
	// RetryClassSafe, and a PUT or DELETE that takes effect again may be RetryClassNonIdempotent.
	// Endpoints of the contract have their own class.
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
	// Options is a pointer to your struct with url tags, whose fields are added to Fields.
	Options any
	// FileField is the name of the field with the file; empty for "file".
	FileField string
	// File is the file, which is streamed. Required.
	File File
}

// Do sends a call for which the package has no method, and decodes its JSON response into out, a
// pointer to a response type or to your own type. If out is nil, any response of a success is
// accepted, except an HTML page, and its body is not decoded.
//
// Your own types are decoded as encoding/json does. All values that fit are decoded; if one does
// not, the error names its place and both types, and MaybeApplied is set for a write. If the struct
// around the value has the field Extra map[string]json.RawMessage with the tag json:"-", it is as
// tolerant as a response type: numbers and booleans may be text, timestamps may have other forms,
// and Extra keeps a value that does not fit, and those of unknown keys. A struct that embeds a
// response type is refused: name the field.
func (c *Client) Do(ctx context.Context, call Call, out any, opts ...RequestOption) error {
	r := c.customRequest(call)
	if out == nil {
		return exec(ctx, r, opts)
	}
	if v := reflect.ValueOf(out); v.Kind() != reflect.Pointer || v.IsNil() {
		r.err = firstError(r.err, &ValidationError{Option: "out", Reason: fmt.Sprintf("it is a %T that a response cannot be decoded into: pass a pointer that is not nil", out)})
	} else {
		r.err = firstError(r.err, checkOut(v.Type().Elem()))
	}
	return r.sendAndDecode(ctx, out, opts)
}

// DoAs is Do for a result that it allocates: DoAs[Project](ctx, client, call).
func DoAs[T any](ctx context.Context, c *Client, call Call, opts ...RequestOption) (*T, error) {
	out := new(T)
	if err := c.Do(ctx, call, out, opts...); err != nil {
		return nil, err
	}
	return out, nil
}

// checkOut rejects a type that encoding/json would decode in part.
func checkOut(t reflect.Type) error {
	if reason := cmp.Or(refuseEmbedded(t, decodesItself), undecodable(t)); reason != "" {
		return &ValidationError{Option: "out", Reason: reason}
	}
	return nil
}

// undecodable returns why nothing would be decoded into a type: a struct with unexported fields
// only, a function or a channel, or a list of them.
func undecodable(t reflect.Type) string {
	for range 10 { // a type can be a list of itself
		switch t.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
			if !decodesItself(t) {
				t = t.Elem()
			}
		}
	}
	switch t.Kind() {
	case reflect.Chan, reflect.Func, reflect.Complex64, reflect.Complex128, reflect.UnsafePointer:
		return fmt.Sprintf("JSON has no value of type %s", t)
	}
	if t.Kind() != reflect.Struct || t.NumField() == 0 || decodesItself(t) {
		return ""
	}
	for i := range t.NumField() {
		if field := t.Field(i); field.IsExported() || field.Anonymous {
			return ""
		}
	}
	return fmt.Sprintf("no field of %s is exported, so that nothing would be decoded: begin the names with capital letters", t)
}

// Open sends a call for which the package has no method, and returns its response as a stream: the
// trace of a job, an artifact, a raw file. The caller closes it.
func (c *Client) Open(ctx context.Context, call Call, opts ...RequestOption) (*Download, error) {
	return open(ctx, c.customRequest(call), opts)
}

// ListAs reads all pages of a list for which the package has no method. The responses must be JSON
// arrays. Items are decoded as by Do. The error of an item that does not fit its type comes with
// the item, which has the values that fit; it ends the list.
func ListAs[T any](ctx context.Context, c *Client, call Call, opts ...RequestOption) iter.Seq2[*T, error] {
	r := c.customRequest(call)
	r.err = firstError(r.err, checkOut(reflect.TypeFor[T]()))
	return list[T](ctx, r, opts)
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
	r.query, r.queryOptions, r.accept, r.custom = call.Query, call.Options, call.Accept, true
	if known, args := matchRoute(call.Method, r.path); known != nil {
		r.route, r.quotaKey = known, known.quota.key(args) // the placeholders of the call may have other names
	}
	if err := firstError(call.check(), call.checkRoute(r.route)); err != nil {
		r.err = err // says more than an error of expanding the template
	}
	r.route = call.describe(r.route)
	switch {
	case call.Body != nil:
		r.json(call.Body)
	case call.Form != nil:
		r.body = call.Form
		r.encode = func(any) (*payload, error) {
			return bytesPayload("application/x-www-form-urlencoded", []byte(call.Form.Encode())), nil
		}
	case call.Multipart != nil:
		r.body, r.uploads, r.encode = call.Multipart.Options, true, call.Multipart.encode
	}
	return r
}

// encode returns the body, with the options as text fields.
func (m *Multipart) encode(options any) (*payload, error) {
	fields, err := encodeQuery(options)
	if err != nil {
		return nil, err
	}
	if fields == nil {
		fields = url.Values{}
	}
	for name, value := range m.Fields {
		fields[name] = append(fields[name], value)
	}
	return encodeMultipart(fields, cmp.Or(m.FileField, "file"), m.File)
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
	if err := withoutCredentials("Call.Query", call.Query); err != nil {
		return err
	}
	if hasControl(call.Accept) {
		return &ValidationError{Option: "Call.Accept", Reason: "it is not a media type"}
	}
	if call.Multipart != nil && !isOptions(call.Multipart.Options) {
		return &ValidationError{Option: "Multipart.Options", Reason: "it must be a pointer to a struct with url tags: use Fields"}
	}
	if !isOptions(call.Options) {
		return &ValidationError{Option: "Call.Options", Reason: "it must be a pointer to a struct with url tags: use Query"}
	}
	return call.checkBody()
}

// isOptions reports whether a query can be made of options; nil options have none.
func isOptions(options any) bool {
	t := reflect.TypeOf(options)
	return t == nil || t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Struct
}

// templateProblem returns why a route is not valid; "" if it is.
func templateProblem(template string) string {
	switch {
	case template == "":
		return "it is empty: it must begin with a slash, such as /projects/:id"
	case strings.Contains(template, "://"):
		return "it is an address: use its path below /api/v4"
	case strings.Contains(template, " /"):
		return "it has a method: use Method"
	case strings.HasPrefix(template+"/", "/api/v4/"):
		return "it is relative to /api/v4: omit /api/v4"
	case strings.ContainsAny(template, "{}"):
		return "placeholders are written as :id, without braces"
	case strings.ContainsAny(template, "?#"):
		return "it has a query: use Query"
	case template[0] != '/' || checkArgument("", strings.TrimSuffix(template[1:], "/")) != nil:
		return "it must begin with a slash, without empty or dotted parts or control bytes: use Args"
	}
	if _, err := url.PathUnescape(template); err != nil {
		return "it has a % that is not an escape: use a placeholder and Args"
	}
	if strings.Contains(template, "%") {
		return `it has an escape: use /projects/:id with Args: forge.Path("acme/app")`
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
	if call.Body != nil {
		if reason := cmp.Or(refuseEmbedded(reflect.TypeOf(call.Body), encodesItself), bodyProblem(call.Body)); reason != "" {
			return &ValidationError{Option: "Call.Body", Reason: reason}
		}
	}
	switch {
	case len(bodies) > 1:
		return &ValidationError{Option: "Call." + bodies[0], Reason: "it cannot be combined with " + bodies[1]}
	case len(bodies) == 1 && call.Method == http.MethodGet && bodies[0] != "Form":
		return &ValidationError{Option: "Call." + bodies[0], Reason: "GET has no such body: set Method, or use Query, or Form if the query is too long"}
	case len(bodies) == 1 && call.Method == http.MethodHead:
		return &ValidationError{Option: "Call." + bodies[0], Reason: "HEAD has no body: set Method, or use Query"}
	}
	return nil
}

// bodyProblem returns why encoding/json would send other JSON than a caller expects of the type; ""
// if it does not.
func bodyProblem(body any) string {
	switch v := body.(type) {
	case json.Marshaler, encoding.TextMarshaler:
	case []byte:
		return "JSON has []byte as base64: use a json.RawMessage"
	case string:
		return "a string is sent as a JSON string: use a json.RawMessage for a document"
	case url.Values:
		return "url.Values are not sent as JSON: use Form"
	case io.Reader:
		return fmt.Sprintf("the content of a %T is not sent: use a json.RawMessage, or Multipart for a file", v)
	}
	return ""
}

// checkRoute rejects a class and a pagination that do not fit the method, or that contradict the
// contract.
func (call Call) checkRoute(r *route) error {
	documented := r.Docs != ""
	reads := call.Method == http.MethodGet || call.Method == http.MethodHead
	switch call.Class {
	case "", r.Class:
	case RetryClassSafe, RetryClassIdempotent, RetryClassNonIdempotent:
		switch {
		case documented:
			return &ValidationError{Option: "Call.Class", Reason: "the endpoint is in the contract, and its class is " + string(r.Class)}
		case reads, call.Class == RetryClassSafe && call.Method != http.MethodPost:
			return &ValidationError{Option: "Call.Class", Reason: call.Method + " cannot be " + string(call.Class)}
		}
	default:
		return &ValidationError{Option: "Call.Class", Reason: "it must be RetryClassSafe, RetryClassIdempotent or RetryClassNonIdempotent"}
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
