package forge

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"net/url"

	"github.com/forge-sdk/forge-go/internal/credential"
)

// request is a call as a value: building it does no I/O, sending never changes it. An invalid
// argument is stored in err, which do, exec, open and list return.
type request struct {
	core         *core
	auth         *credential.Credential // of the address; sent nowhere else
	route        *route
	fullPath     wirePath   // full escaped path, with the prefix of the base URL
	path         string     // escaped, relative to the route's base
	quotaKey     string     // the object that the quota of the route is counted for
	query        url.Values // set directly, by Call
	queryOptions any        // of the endpoint, for the query
	body         any        // argument of encode
	encode       func(any) (*payload, error)
	accept       string // the requested media type; empty: JSON
	pages        pageShape
	checksum     checksum // of the stream
	uploads      bool     // the body is a file
	err          error

	custom   bool // of Do, ListAs or Open: the caller's types are sent and decoded
	settings bool // the body and the response are settings
}

func (s service) newGet(template string, args ...any) *request {
	return s.newRequest(http.MethodGet, template, args)
}

func (s service) newPost(template string, args ...any) *request {
	return s.newRequest(http.MethodPost, template, args)
}

func (s service) newPut(template string, args ...any) *request {
	return s.newRequest(http.MethodPut, template, args)
}

func (s service) newDelete(template string, args ...any) *request {
	return s.newRequest(http.MethodDelete, template, args)
}

// newRequest looks up the route and expands its template. TestRoutes checks that each route exists.
func (s service) newRequest(method, template string, args []any) *request {
	route, known := findRoute(method, template)
	if !known {
		route = undocumentedRoute(method, template)
	}
	core := s.owner()
	r := &request{core: core, route: route, auth: core.credentialFor(route.base)}
	var prefix wirePath
	if base := core.config.bases[route.base]; base != nil {
		prefix = wirePath{base.EscapedPath(), base.Path}
	}
	if r.fullPath, r.err = expandTemplate(prefix, template, args); r.err == nil {
		r.path, r.quotaKey = r.fullPath.escaped[len(prefix.escaped):], route.quota.key(args)
	}
	return r
}

// params sends the url-tagged options as the query.
func (r *request) params(options any) *request {
	r.queryOptions = options
	return r
}

// json sends the json-tagged options as a JSON body.
func (r *request) json(options any) *request {
	r.body, r.encode = zeroIfNil(options), encodeJSON
	return r
}

// form sends the url-tagged options as a form body.
func (r *request) form(options any) *request {
	r.body, r.encode = options, encodeForm
	return r
}

// upload sends the text fields and the file as a multipart body.
func (r *request) upload(fields url.Values, fileField string, file File) *request {
	r.uploads, r.encode = true, func(any) (*payload, error) { return encodeMultipart(fields, fileField, file) }
	return r
}

// checked checks the rules of options that are encoded in another way.
func (r *request) checked(options any) *request {
	r.body = options
	return r
}

// argument checks an argument that the route has no placeholder for.
func (r *request) argument(name string, value any) *request {
	if r.err == nil {
		_, r.err = argumentText(name, value)
	}
	return r
}

// queryParam adds a query parameter that is constant for the endpoint.
func (r *request) queryParam(name, value string) *request {
	r.query = url.Values{name: {value}}
	return r
}

// do sends the request and decodes one JSON value.
func do[T any](ctx context.Context, r *request, opts []RequestOption) (*T, error) {
	var out T
	if err := r.sendAndDecode(ctx, &out, opts); err != nil {
		return nil, err
	}
	return &out, nil
}

// exec sends the request and ignores the value.
func exec(ctx context.Context, r *request, opts []RequestOption) error {
	c, err := r.prepare(kindNoResult, opts)
	if err != nil {
		return err
	}
	s, err := c.send(ctx)
	s.fillInto(nil)
	return err
}

// open sends the request and returns its response as a stream.
func open(ctx context.Context, r *request, opts []RequestOption) (*Download, error) {
	c, err := r.prepare(kindStream, opts)
	if err != nil {
		return nil, err
	}
	s, err := c.send(ctx)
	s.fillInto(nil)
	if err != nil {
		return nil, err
	}
	return s.download(), nil
}

// sendAndDecode is do without the type parameter.
func (r *request) sendAndDecode(ctx context.Context, out any, opts []RequestOption) error {
	c, err := r.prepare(kindJSON, opts)
	if err != nil {
		return err
	}
	s, err := c.send(ctx)
	if err != nil {
		s.fillInto(nil)
		return err
	}
	mismatches, err := s.decode(out)
	s.fillInto(mismatches)
	if err != nil {
		s.finish(err)
	}
	return err
}

// prepare checks the request, encodes it and applies the request options.
func (r *request) prepare(kind callKind, opts []RequestOption) (*call, error) {
	if err := r.core.check(); err != nil {
		return nil, r.withRoute(err)
	}
	options, err := r.applyOptions(kind, opts)
	if err != nil {
		return nil, err
	}
	return r.newCall(options)
}

// ready rejects a client or a context that would cause a panic before the first call of a method.
func (r *request) ready(ctx context.Context) error {
	if err := r.core.check(); err != nil {
		return r.withRoute(err)
	}
	if ctx == nil {
		return r.withRoute(errNilContext)
	}
	return nil
}

// applyOptions applies the request options.
func (r *request) applyOptions(kind callKind, opts []RequestOption) (*callOptions, error) {
	s := &callOptions{kind: kind, retry: r.core.config.retry, limits: r.core.config.limits, header: r.core.config.header.Clone()}
	for _, opt := range opts {
		if opt == nil {
			continue
		}
		opt(s)
	}
	if s.err != nil {
		return nil, r.withRoute(s.err)
	}
	s.retry = s.retry.withDefaults()
	return s, nil
}

// newCall returns the call. Everything is checked and encoded here, before the first attempt.
func (r *request) newCall(s *callOptions) (*call, error) {
	if r.err != nil {
		return nil, r.withRoute(r.err)
	}
	switch {
	case r.route.base != apiBase && s.header["Sudo"] != nil:
		return nil, r.withRoute(&ValidationError{Option: "Sudo", Reason: "the registry has no users: use it for API calls only"})
	case s.progress != nil && s.kind != kindStream && !r.uploads:
		return nil, r.withRoute(&ValidationError{Option: "Progress", Reason: "it applies to downloads and uploads of files only"})
	}
	query, err := encodeQuery(r.queryOptions)
	if err = firstError(r.check(s, query), err); err != nil { // a rule explains more than an encoder
		return nil, r.withRoute(err)
	}
	var body *payload
	if r.encode != nil {
		if body, err = r.encode(r.body); err != nil {
			return nil, r.withRoute(err)
		}
	}
	base := r.core.config.bases[r.route.base]
	if base == nil {
		return nil, r.withRoute(&ValidationError{Option: "WithRegistry", Reason: "the client has no address of the registry: set it with WithRegistry"})
	}
	u, values := joinURL(base, r.fullPath), r.values(s, query)
	if s.kind != kindList { // each page of a list has its own query
		u.RawQuery = values.Encode()
	}
	return &call{request: r, options: s, url: u, query: values, body: body}, nil
}

// check checks the options by their own rules. query is what the route receives of them.
func (r *request) check(s *callOptions, query url.Values) error {
	if s.skipValidation {
		return nil
	}
	if err := r.checkWords(s); err != nil {
		return err
	}
	documented := query
	if r.custom { // a Call may have other parameters
		if err := withoutCredentials("Call.Options", query); err != nil {
			return err
		}
		documented = nil
	}
	if err := firstError(checkFields(r.queryOptions), r.route.checkDocumented(documented), r.route.checkDropped(query, r.core.config.vocabulary), checkRules(r.queryOptions)); err != nil {
		return nameOption(r.queryOptions, err)
	}
	if !r.custom || r.uploads { // the fields of a Call's JSON body have no rules
		if err := checkFields(r.body); err != nil {
			return nameOption(r.body, err)
		}
	}
	if err := checkRules(r.body); err != nil {
		return nameOption(r.body, err)
	}
	return nil
}

// withoutCredentials rejects a credential in a query.
func withoutCredentials(option string, query url.Values) error {
	for name := range query {
		if isCredentialParam(name) {
			return &ValidationError{Option: option, Param: name, Reason: "a query must not contain credentials: use a client option, or Sudo"}
		}
	}
	return nil
}

// checkRules checks the rules of the type. Nil options are checked as zero options.
func checkRules(options any) error {
	if c, ruled := zeroIfNil(options).(checker); ruled {
		return c.check()
	}
	return nil
}

// values adds the query of Call and of the request options to that of the options.
func (r *request) values(s *callOptions, values url.Values) url.Values {
	for _, more := range []url.Values{r.query, s.query} {
		if values == nil && len(more) > 0 {
			values = url.Values{}
		}
		for name, list := range more {
			values[name] = append(values[name], list...)
		}
	}
	return values
}

// errNilContext is the error of a call with a nil context, which nothing could cancel.
var errNilContext = &ValidationError{Option: "ctx", Reason: "nil Context: use context.Background() if there is none"}

// withRoute returns err as a *ValidationError with the route.
func (r *request) withRoute(err error) error {
	var v *ValidationError
	if !errors.As(err, &v) {
		v = &ValidationError{Option: "request", Reason: err.Error()}
	}
	named := *v
	named.Route, named.Path = r.route.Method+" "+r.route.Template, r.core.redact(r.path)
	return &named
}

// verified compares the stream with a checksum while it is read. An unknown algorithm is an error:
// a download that was not compared must not look like one that was.
func (r *request) verified(algorithm, sum string) *request {
	switch {
	case sum == "":
	case algorithm == "sha256":
		r.checksum = checksum{want: sum, make: sha256.New}
	case r.err == nil:
		r.err = &ValidationError{Option: "SecureFile.ChecksumAlgorithm", Param: "checksum_algorithm",
			Reason: "this version does not know the algorithm: clear Checksum to download without comparing"}
	}
	return r
}

// key returns the argument that the quota is counted for: the project of a blob, or the repository.
func (q quota) key(args []any) string {
	which := 0
	switch q {
	case noQuota, archiveQuota:
		return ""
	case deletionQuota:
		which = 1
	case blobQuota:
	}
	text, _ := argumentText("", args[which])
	return text
}

// withError returns err if it is nil or wraps an *Error, and otherwise an *Error of the request
// that wraps err.
func (r *request) withError(err error) error {
	var failed *Error
	if err == nil || errors.As(err, &failed) {
		return err
	}
	return r.fail(err, err.Error())
}

// fail returns the error of a wait that ended without a result.
func (r *request) fail(sentinel error, text string) error {
	return &Error{Method: r.route.Method, Route: r.route.Template, Path: r.core.redact(r.path), cause: &sentinelError{sentinel: sentinel, text: text}}
}

// valuesOf returns the documented values of a parameter; nil if there are none.
func (r *request) valuesOf(param string) []string {
	if values := documentedValues(r.queryOptions, param); values != nil {
		return values
	}
	return documentedValues(r.body, param)
}
