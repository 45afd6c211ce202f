package forge

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// senders are the functions that take a Call.
var senders = map[string]func(context.Context, *Client, Call, ...RequestOption) error{
	"Do": func(ctx context.Context, c *Client, call Call, opts ...RequestOption) error {
		return c.Do(ctx, call, nil, opts...)
	},
	"Do into": func(ctx context.Context, c *Client, call Call, opts ...RequestOption) error {
		return c.Do(ctx, call, new(any), opts...)
	},
	"DoAs": func(ctx context.Context, c *Client, call Call, opts ...RequestOption) error {
		_, err := DoAs[any](ctx, c, call, opts...)
		return err
	},
	"Open": func(ctx context.Context, c *Client, call Call, opts ...RequestOption) error {
		d, err := c.Open(ctx, call, opts...)
		if err != nil {
			return err
		}
		return d.Close()
	},
	"ListAs": func(ctx context.Context, c *Client, call Call, opts ...RequestOption) error {
		_, err := Collect(ListAs[any](ctx, c, call, opts...))
		return err
	},
}

// Malformed calls are rejected before anything is sent, and the error names the field.
func TestBadCalls(t *testing.T) {
	client := silentServer(t)
	file := FileBytes([]byte("x"))
	for name, c := range map[string]struct {
		call   Call
		option string
		says   string
	}{
		"method":         {Call{Method: "get", Route: "/user"}, "Call.Method", "GET, HEAD"},
		"TRACE":          {Call{Method: "TRACE", Route: "/user"}, "Call.Method", "GET, HEAD"},
		"line":           {Call{Method: "GET /x HTTP/1.1\r\nHost:", Route: "/user"}, "Call.Method", "GET, HEAD"},
		"no route":       {Call{}, "Call.Route", "such as /projects/:id"},
		"prefix alone":   {Call{Route: "/api/v4"}, "Call.Route", "omit /api/v4"},
		"prefix":         {Call{Route: "/api/v4/projects/:id", Args: []Arg{ID(1)}}, "Call.Route", "omit /api/v4"},
		"braces":         {Call{Route: "/projects/{id}", Args: []Arg{ID(1)}}, "Call.Route", "braces"},
		"query":          {Call{Route: "/projects?x=1"}, "Call.Route", "use Query"},
		"fragment":       {Call{Route: "/projects#a"}, "Call.Route", "use Query"},
		"placeholder":    {Call{Route: "/projects/:ID", Args: []Arg{ID(1)}}, "Call.Route", "\":ID\" is not a placeholder"},
		"digits":         {Call{Route: "/projects/:id2", Args: []Arg{ID(1)}}, "Call.Route", "is not a placeholder"},
		"colon":          {Call{Route: "/projects/:", Args: []Arg{ID(1)}}, "Call.Route", "is not a placeholder"},
		"inside":         {Call{Route: "/projects/a:id", Args: []Arg{ID(1)}}, "Call.Route", "is not a placeholder"},
		"too few":        {Call{Route: "/projects/:id/jobs/:job_id", Args: []Arg{ID(1)}}, "argument", "job_id"},
		"too many":       {Call{Route: "/projects/:id", Args: []Arg{ID(1), ID(2)}}, "argument", "1 placeholders, and there are 2 arguments"},
		"nil argument":   {Call{Route: "/projects/:id", Args: []Arg{nil}}, "argument", "nil"},
		"empty text":     {Call{Route: "/projects/:id", Args: []Arg{Text("")}}, "argument", "empty"},
		"dots":           {Call{Route: "/projects/:id", Args: []Arg{Text("a/../b")}}, "argument", ".."},
		"credential":     {Call{Route: "/user", Query: url.Values{"private_token": {"x"}}}, "Call.Query", "private_token"},
		"body with GET":  {Call{Route: "/user", Body: 1}, "Call.Body", "GET has no such body"},
		"form with HEAD": {Call{Method: "HEAD", Route: "/user", Form: url.Values{}}, "Call.Form", "HEAD has no body"},
		"two bodies":     {Call{Method: "POST", Route: "/user", Body: 1, Form: url.Values{}}, "Call.Body", "combined with Form"},
		"other two":      {Call{Method: "POST", Route: "/user", Form: url.Values{}, Multipart: &Multipart{File: file}}, "Call.Form", "combined with Multipart"},
		"no file":        {Call{Method: "POST", Route: "/user", Multipart: &Multipart{}}, "File", "file"},
		"options":        {Call{Route: "/user", Options: map[string]string{}}, "Call.Options", "use Query"},
		"credential option": {Call{Route: "/user", Options: &struct {
			Token string `url:"private_token"`
		}{"x"}}, "Call.Options", "private_token"},
		"multipart options":   {Call{Method: "POST", Route: "/user", Multipart: &Multipart{File: file, Options: new(1)}}, "Multipart.Options", "use Fields"},
		"accept":              {Call{Route: "/user", Accept: "a\r\nb"}, "Call.Accept", "media type"},
		"class":               {Call{Method: "POST", Route: "/x", Class: "maybe"}, "Call.Class", "must be"},
		"class of GET":        {Call{Route: "/x", Class: RetryClassNonIdempotent}, "Call.Class", "GET cannot be non-idempotent"},
		"safe PUT":            {Call{Method: "PUT", Route: "/x", Class: RetryClassSafe}, "Call.Class", "PUT cannot be safe"},
		"contract's class":    {Call{Method: "POST", Route: onceRoute, Args: []Arg{ID(1), ID(2)}, Class: RetryClassIdempotent}, "Call.Class", "its class is non-idempotent"},
		"pagination":          {Call{Route: "/x", Pagination: "pages"}, "Call.Pagination", "must be"},
		"pagination of POST":  {Call{Method: "POST", Route: "/x", Pagination: PaginationOffset}, "Call.Pagination", "POST has no pages"},
		"contract's pages":    {Call{Route: "/issues", Pagination: PaginationKeyset}, "Call.Pagination", "has offset pagination"},
		"contract's no pages": {Call{Route: "/user", Pagination: PaginationOffset}, "Call.Pagination", "has no pages"},
	} {
		for sender, send := range senders {
			err := send(t.Context(), client, c.call)
			var invalid *ValidationError
			require.ErrorAs(t, err, &invalid, "%s, %s", name, sender)
			assert.Equal(t, c.option, invalid.Option, "%s, %s", name, sender)
			require.ErrorContains(t, err, c.says, "%s, %s", name, sender)
			assert.NotContains(t, err.Error(), "  ", "%s, %s", name, sender)
		}
	}
	for _, route := range []string{"", "/", "user", "//user", "/a\nb", "/a b\x00", "/a/../b", "/..", "/./a", "/a//b", "/a/%2e%2e/b", "/a?b=c", "/user?", "/a#b"} {
		refused(t, client.Do(t.Context(), Call{Method: http.MethodGet, Route: route}, nil), "Call.Route", "")
	}
	require.ErrorIs(t, client.Do(t.Context(), Call{Route: "/x/:az_/", Args: []Arg{ID(1)}}, nil, DryRun(nil)), ErrDryRun, "a slash at the end")
	for _, name := range []string{"private_token", "PRIVATE_TOKEN", "access_token", "job_token", "token", "sudo", "Sudo", "refresh_token", "client_secret"} {
		refused(t, client.Do(t.Context(), Call{Method: http.MethodGet, Route: "/user", Query: url.Values{name: {"x"}}}, nil), "Call.Query", name)
	}
	err := client.Do(t.Context(), Call{Method: http.MethodPost, Route: "/user", Body: make(chan int)}, nil)
	var invalid *ValidationError
	require.ErrorAs(t, err, &invalid)
}

// A GET sends its form as the body: for a value, for a stream, and for each page of a list, again
// after a failure, and as curl. A link that repeats the form adds nothing to the query.
func TestFormOfGet(t *testing.T) {
	form := url.Values{"iids[]": {"1", "2"}, "labels": {"a"}}
	call := Call{Route: "/groups/:id/issues", Args: []Arg{ID(1)}, Form: form}
	sent := 0
	w := newWire(t, func(s seen) act {
		assert.Equal(t, "GET iids%5B%5D=1&iids%5B%5D=2&labels=a application/x-www-form-urlencoded", s.method+" "+s.body+" "+s.header.Get("Content-Type"))
		assert.NotContains(t, s.uri, "iids")
		sent++
		switch {
		case sent%2 == 1:
			return say(503, "{}")
		case strings.Contains(s.uri, "per_page") && !strings.Contains(s.uri, "?page=2"):
			return say(200, `[{}]`, jsonType, `Link: <https://x/?page=2&per_page=100&iids[]=1&iids%5B%5D=2&labels[]=a>; rel="next"`)
		}
		return sayJSON("[]")
	})
	client := wireClient(t, w.url)
	require.NoError(t, client.Do(t.Context(), call, nil))
	d, err := client.Open(t.Context(), call)
	require.NoError(t, err)
	require.NoError(t, d.Close())
	for _, opts := range [][]RequestOption{nil, {Ahead(2)}} {
		items, err := Collect(ListAs[any](t.Context(), client, call, opts...))
		require.NoError(t, err)
		assert.Len(t, items, 1)
	}
	assert.Equal(t, 12, sent)

	var plan PlannedRequest
	require.ErrorIs(t, client.Do(t.Context(), call, nil, DryRun(&plan)), ErrDryRun)
	assert.Contains(t, plan.Curl(), "curl --request GET ")
	assert.Contains(t, plan.Curl(), "--data-raw 'iids%5B%5D=1&iids%5B%5D=2&labels=a'")
	var page Response
	_, err = Collect(ListAs[any](t.Context(), client, call, OnePage(), Into(&page)))
	require.NoError(t, err)
	call.Form = url.Values{"labels": {"a"}}
	_, err = Collect(ListAs[any](t.Context(), client, call, StartAt(page.Cursor)))
	assert.ErrorContains(t, err, "the cursor belongs to another list")
}

// Do with a nil target accepts any type except HTML. With a target it accepts JSON only.
func TestCallTypes(t *testing.T) {
	for media, ok := range map[string]bool{"text/plain": true, "application/zip": true, "application/json": true, "text/html": false} {
		w := newWire(t, always(say(200, "text", "Content-Type: "+media)))
		err := wireClient(t, w.url).Do(t.Context(), Call{Method: "POST", Route: "/things"}, nil)
		if ok {
			require.NoError(t, err, media)
			continue
		}
		require.ErrorIs(t, err, ErrInvalidResponse, media)
		assert.True(t, asError(t, err).MaybeApplied)
	}
	w := newWire(t, always(say(200, "text", "Content-Type: text/plain")))
	require.ErrorIs(t, wireClient(t, w.url).Do(t.Context(), Call{Route: "/things"}, new(any)), ErrInvalidResponse)
}

// Open returns any type as a stream; an HTML page only if the call asks for one.
func TestOpen(t *testing.T) {
	w := newWire(t, func(s seen) act {
		return say(200, "<html>", "Content-Type: text/html", "X-Accept: "+s.header.Get("Accept"), "Content-Disposition: attachment; filename=page.html")
	})
	client := wireClient(t, w.url)
	_, err := client.Open(t.Context(), Call{Route: "/projects/:id/jobs/:job_id/trace", Args: []Arg{ID(1), ID(2)}})
	require.ErrorIs(t, err, ErrInvalidResponse)
	d, err := client.Open(t.Context(), Call{Route: "/page", Accept: "text/html; charset=utf-8"})
	require.NoError(t, err)
	defer d.Close()
	text, err := io.ReadAll(d)
	require.NoError(t, err)
	assert.Equal(t, "<html> page.html text/html", fmt.Sprint(string(text), " ", d.Name, " ", d.ContentType))
	assert.Equal(t, "text/html; charset=utf-8", w.seen()[1].header.Get("Accept"))
	assert.Equal(t, "*/*", w.seen()[0].header.Get("Accept"))
}

// The class that a call declares determines its retries, and MaybeApplied.
func TestCallClasses(t *testing.T) {
	for _, c := range []struct {
		call     Call
		attempts int
		maybe    bool
	}{
		{Call{Method: "POST"}, 1, true},
		{Call{Method: "POST", Class: RetryClassNonIdempotent}, 1, true},
		{Call{Method: "POST", Class: RetryClassIdempotent}, 4, true},
		{Call{Method: "POST", Class: RetryClassSafe}, 4, false},
		{Call{Method: "PATCH"}, 1, true},
		{Call{Method: "PATCH", Class: RetryClassIdempotent}, 4, true},
		{Call{Method: "PUT"}, 4, true},
		{Call{Method: "PUT", Class: RetryClassNonIdempotent}, 1, true},
		{Call{Method: "DELETE", Class: RetryClassNonIdempotent}, 1, true},
		{Call{Class: RetryClassSafe}, 4, false},
	} {
		w := newWire(t, always(reset("")))
		c.call.Route = "/things"
		failed := asError(t, wireClient(t, w.url).Do(t.Context(), c.call, nil))
		assert.Len(t, w.seen(), c.attempts, "%v", c.call)
		assert.Equal(t, c.maybe, failed.MaybeApplied, "%v", c.call)
	}
}

// A list requests pages in the way that the call declares.
func TestCallPagination(t *testing.T) {
	w := newWire(t, always(sayJSON("[]")))
	client := wireClient(t, w.url)
	for _, p := range []Pagination{"", PaginationOffset, PaginationKeyset} {
		_, err := Collect(ListAs[any](t.Context(), client, Call{Route: "/things", Pagination: p, Query: url.Values{"order_by": {"id"}}}))
		require.NoError(t, err)
		last := w.seen()[len(w.seen())-1].uri
		assert.Equal(t, p == PaginationKeyset, strings.Contains(last, "pagination=keyset"), last)
	}
}

// The name of a call is the service of its route, in hooks and transports. The route of an endpoint
// of the contract has all that the contract says, whatever the placeholders are called.
func TestCallName(t *testing.T) {
	known, _ := findRoute("GET", "/projects/:id/audit_events")
	named := known.Route
	named.Service = "own"
	for _, test := range []struct {
		call Call
		want Route
	}{
		{Call{Route: "/projects/:id/jobs"}, Route{Method: "GET", Template: "/projects/:id/jobs", Service: "call", Pagination: PaginationOffset, Class: RetryClassSafe}},
		{Call{Route: "/projects/:id/jobs", Name: "jobs"}, Route{Method: "GET", Template: "/projects/:id/jobs", Service: "jobs", Pagination: PaginationOffset, Class: RetryClassSafe}},
		{Call{Route: "/projects/:project/audit_events"}, known.Route},
		{Call{Route: "/projects/:id/audit_events", Name: "own"}, named},
	} {
		var got Route
		client := wireClient(t, "https://forge.example.com", through(func(req *http.Request) (*http.Response, error) {
			got, _ = RouteFromContext(req.Context())
			return &http.Response{StatusCode: 200, Body: http.NoBody}, nil
		}))
		test.call.Args = []Arg{ID(1)}
		require.NoError(t, client.Do(t.Context(), test.call, nil))
		assert.Equal(t, test.want, got)
	}
}

// JSON, a form and a multipart form arrive as the server expects them, also when they are sent again.
func TestCallBodies(t *testing.T) {
	file := FileBytes([]byte("content")).Named("a.txt")
	for form, call := range map[string]Call{
		`{"a":1}`: {Body: map[string]any{"a": 1}}, `{}`: {Body: (*struct{})(nil)}, "a=1+2&a=%2B": {Form: url.Values{"a": {"1 2", "+"}}},
		"file=@a.txt:content&name=x": {Multipart: &Multipart{Fields: map[string]string{"name": "x"}, File: file}},
		"upload=@a.txt:content":      {Multipart: &Multipart{FileField: "upload", File: file}},
	} {
		e := exchange{sent: "POST /things", status: 503, form: form}
		if call.Body != nil {
			e.body, e.form = form, ""
		}
		again := e
		again.status, again.answer = 201, "{}"
		call.Method, call.Route, call.Class = "POST", "/things", RetryClassIdempotent
		require.NoError(t, serve(t, e, again).Do(t.Context(), call, nil, Retry(impatient)), form)
	}
}

// ownFilters is a caller's own options.
type ownFilters struct {
	After time.Time `url:"updated_after,omitempty"`
	IIDs  []int64   `url:"iids,brackets,omitempty"`
	By    IDFilter  `url:"assignee_id,omitempty"`
	Name  string    `url:"name,omitempty"`
}

// Options are encoded as those of the package, in a query and in the text fields of a form with a
// file, and checked by the same rules.
func TestCallOptions(t *testing.T) {
	o := &ownFilters{After: time.Date(2026, 3, 1, 9, 0, 0, 1, time.FixedZone("", 3600)), IIDs: []int64{1, 2}, By: None}
	want := url.Values{"updated_after": {"2026-03-01T08:00:00.000Z"}, "iids[]": {"1", "2"}, "assignee_id": {"None"}, "x": {"y"}}
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			assert.Equal(t, want, r.URL.Query())
			return
		}
		assert.NoError(t, r.ParseMultipartForm(1<<20))
		assert.Equal(t, want, url.Values(r.MultipartForm.Value))
	}))
	t.Cleanup(srv.Close)
	client, err := NewClient(srv.URL)
	require.NoError(t, err)
	require.NoError(t, client.Do(t.Context(), Call{Route: "/x", Options: o, Query: url.Values{"x": {"y"}}}, nil))
	upload := &Multipart{Options: o, Fields: map[string]string{"x": "y"}, File: FileBytes([]byte("z"))}
	require.NoError(t, client.Do(t.Context(), Call{Method: "POST", Route: "/x", Multipart: upload}, nil))
	for _, call := range []Call{{Route: "/x", Options: &ownFilters{Name: " "}}, {Method: "POST", Route: "/x", Multipart: &Multipart{File: upload.File, Options: &ownFilters{Name: " "}}}} {
		var invalid *ValidationError
		require.ErrorAs(t, client.Do(t.Context(), call, nil), &invalid)
		assert.Equal(t, "ownFilters.Name", invalid.Option)
	}
	late := &ownFilters{After: time.Date(20000, 1, 1, 0, 0, 0, 0, time.UTC)}
	for _, call := range []Call{{Route: "/x", Options: late}, {Method: "POST", Route: "/x", Multipart: &Multipart{File: upload.File, Options: late}}} {
		require.ErrorContains(t, client.Do(t.Context(), call, nil), errNoTime.Error())
	}
	require.NoError(t, client.Do(t.Context(), Call{Route: "/x", Options: (*ownFilters)(nil), Query: want}, nil), "nil options")
	err = client.Do(t.Context(), Call{Route: "/x", Options: &struct{ N int64 }{-1}}, nil, DryRun(nil))
	require.ErrorIs(t, err, ErrDryRun, "a field without a tag has no rules")
}
