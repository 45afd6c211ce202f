package forgetest_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/forgetest"
)

// Handlers write any content type, redirect, and stream what is large or flushed.
func TestHandleStreams(t *testing.T) {
	srv := forgetest.New(t)
	srv.AddProject("acme/app")
	artifact := bytes.Repeat([]byte("0123456789abcdef"), 1<<18) // 4 MiB
	srv.Handle("GET /projects/:id/trace", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		_, err := io.WriteString(w, "Running\n")
		assert.NoError(t, err)
	})
	for _, size := range []string{"", strconv.Itoa(len(artifact))} {
		srv.Handle("GET /projects/:id/artifact"+size, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/zip")
			if size != "" {
				w.Header().Set("Content-Length", size)
			}
			n, err := w.Write(artifact)
			assert.NoError(t, err)
			assert.Len(t, artifact, n)
		})
		response, body := fetch(t, srv, "GET", "/projects/1/artifact"+size, nil)
		assert.Equal(t, "application/zip", response.Header.Get("Content-Type"))
		assert.Equal(t, size, response.Header.Get("Content-Length"))
		assert.True(t, bytes.Equal(artifact, body))
		assert.Empty(t, response.Header.Get("ETag"))
		assert.Equal(t, 200, srv.LastRequest(t, "GET /projects/:id/artifact"+size).Status)
		assert.Len(t, srv.LastRequest(t, "GET /projects/:id/artifact"+size).ResponseBody, 300)
	}
	srv.Handle("GET /projects/:id/large", func(w http.ResponseWriter, _ *http.Request) {
		for _, part := range [][]byte{artifact[:1], artifact[1 : 1<<20+1]} { // a byte more than what is complete before it is sent
			n, err := w.Write(part)
			assert.NoError(t, err)
			assert.Len(t, part, n)
		}
	})
	large, body := fetch(t, srv, "GET", "/projects/1/large", nil)
	assert.Len(t, body, 1<<20+1)
	assert.Empty(t, large.Header.Get("Content-Length"))
	response, body := fetch(t, srv, "GET", "/projects/1/trace", nil)
	assert.Equal(t, "text/plain", response.Header.Get("Content-Type"))
	assert.Equal(t, "Running\n", string(body))

	srv.Handle("GET /projects/:id/elsewhere", func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusEarlyHints) // is not sent
		http.Redirect(w, r, "https://storage.example.com/a.zip", http.StatusFound)
	})
	response, _ = fetch(t, srv, "GET", "/projects/1/elsewhere", nil)
	assert.Equal(t, 302, response.StatusCode)
	assert.Equal(t, "https://storage.example.com/a.zip", response.Header.Get("Location"))

	more := make(chan struct{})
	srv.Handle("GET /projects/:id/live", func(w http.ResponseWriter, r *http.Request) {
		for range 3 {
			_, _ = io.WriteString(w, "line\n")
			assert.NoError(t, http.NewResponseController(w).Flush())
			select {
			case <-more:
			case <-r.Context().Done():
				return
			}
		}
	})
	live, err := open(t, srv, "/projects/1/live")
	require.NoError(t, err)
	line := make([]byte, 5)
	for range 2 { // each line arrives before the handler continues
		_, err = io.ReadFull(live.Body, line)
		require.NoError(t, err)
		assert.Equal(t, "line\n", string(line))
		more <- struct{}{}
	}
	_, err = io.ReadFull(live.Body, line)
	require.NoError(t, err)
	require.NoError(t, live.Body.Close()) // the handler's context ends
}

// open sends a GET whose response the test reads.
func open(t *testing.T, srv *forgetest.Server, path string) (*http.Response, error) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, srv.URL+"/api/v4"+path, nil)
	require.NoError(t, err)
	request.Header.Set("PRIVATE-TOKEN", srv.Token)
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return transport.RoundTrip(request)
}

// Faults act on a stream as on a complete response, and the handler always runs to its end.
func TestHandleStreamsHaveFaults(t *testing.T) {
	for name, size := range map[string]int{"complete": 1000, "stream": 3 << 20} {
		t.Run(name, func(t *testing.T) {
			srv := forgetest.New(t)
			srv.AddProject("acme/app")
			const route = "GET /projects/:id/artifact"
			ended := make(chan error, 1)
			srv.Handle(route, func(w http.ResponseWriter, _ *http.Request) {
				_, err := w.Write(make([]byte, size))
				ended <- err
			})
			get := func() (n int64, err error) {
				response, err := open(t, srv, "/projects/1/artifact")
				if err != nil {
					return 0, err
				}
				defer response.Body.Close()
				return io.Copy(io.Discard, response.Body)
			}
			n, err := get()
			require.NoError(t, err)
			assert.EqualValues(t, size, n)
			require.NoError(t, <-ended)

			srv.Fail(route, forgetest.TruncateBody(700).Times(1))
			n, err = get()
			require.ErrorIs(t, err, io.ErrUnexpectedEOF)
			assert.EqualValues(t, 700, n)
			if err := <-ended; name == "stream" {
				require.Error(t, err, "the write reports that nothing more can be sent")
			}
			for _, tc := range []struct {
				fault forgetest.Fault
				n     int64
			}{{forgetest.SlowBody(time.Microsecond), int64(size)}, {forgetest.HeaderDelay(time.Microsecond), int64(size)}, {forgetest.DropResponse(), 0}} {
				srv.Fail(route, tc.fault.Times(1))
				n, err = get()
				assert.Equal(t, tc.n == 0, err != nil)
				assert.Equal(t, tc.n, n)
				require.NoError(t, <-ended)
			}
			srv.Fail(route, forgetest.InvalidJSON().Times(1))
			n, err = get()
			require.NoError(t, err)
			assert.Less(t, n, int64(100))
			require.NoError(t, <-ended)
		})
	}
}

// failures is a testing.TB that records the errors of a server.
type failures struct {
	testing.TB
	texts []any
}

func (f *failures) Helper() {}
func (f *failures) Errorf(format string, args ...any) {
	f.texts = append(f.texts, fmt.Sprintf(format, args...))
}

// A panic of a handler is a 500 with its value, and fails the test; a panic in a stream ends it.
func TestHandlePanics(t *testing.T) {
	f := &failures{TB: t}
	srv := forgetest.New(f)
	srv.AddProject("acme/app")
	type panics struct{ before, within any }
	var now panics
	srv.Handle(listJobs, func(w http.ResponseWriter, _ *http.Request) {
		if now.before != nil {
			panic(now.before)
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, "[]")
		w.(http.Flusher).Flush()
		if now.within != nil {
			panic(now.within)
		}
	})
	client := srv.Client(forge.WithRetry(forge.RetryPolicy{MaxAttempts: 1}))
	list := func(p panics) (failed *forge.Error) {
		now = p
		errors.As(client.Do(t.Context(), call(listJobs, forge.ID(1)), new([]job)), &failed)
		return failed
	}
	assert.Nil(t, list(panics{}))
	failed := list(panics{before: "boom"})
	assert.Equal(t, 500, failed.Status)
	assert.Contains(t, failed.Error(), "forgetest: the handler of GET /projects/:id/jobs panicked: boom")
	require.Len(t, f.texts, 1)
	assert.Contains(t, f.texts[0], "forgetest: the handler of GET /projects/:id/jobs panicked: boom")
	assert.Contains(t, f.texts[0], "handle_stream_test.go", "the stack")
	assert.NotNil(t, list(panics{within: "boom"}))
	srv.Close() // the second report follows the end of the connection
	assert.Len(t, f.texts, 2)

	srv = forgetest.New(f)
	srv.AddProject("acme/app")
	srv.Handle(listJobs, func(w http.ResponseWriter, r *http.Request) {
		forgetest.WriteJSON(w, r, 200, func() {}) // cannot be encoded
	})
	client = srv.Client(forge.WithRetry(forge.RetryPolicy{MaxAttempts: 1}))
	assert.Equal(t, 500, list(panics{}).Status)
	assert.Len(t, f.texts, 3)
	for _, code := range []int{99, 1000} {
		srv.Handle(listJobs, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) })
		assert.Equal(t, 500, list(panics{}).Status, code)
	}
	srv.Handle(listJobs, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	assert.Equal(t, 0, list(panics{}).Status)
	assert.Len(t, f.texts, 5, "it is not a failure of the test")
	srv.Handle(listJobs, func(http.ResponseWriter, *http.Request) { runtime.Goexit() }) // as FailNow does
	assert.Equal(t, 0, list(panics{}).Status)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, srv.URL, nil)
	require.NoError(t, err)
	for name, f := range map[string]func(){ // not a request of a handler
		"UserFrom": func() { forgetest.UserFrom(request) }, "ProjectFrom": func() { forgetest.ProjectFrom(request) },
		"GroupFrom": func() { forgetest.GroupFrom(request) }, "SetApplied": func() { forgetest.SetApplied(request, true) },
		"WriteJSON": func() { forgetest.WriteJSON(nil, request, 200, nil) }, "WriteError": func() { forgetest.WriteError(nil, request, 400, "") },
		"WritePage":       func() { forgetest.WritePage[int](nil, request, nil) },
		"WriteKeysetPage": func() { forgetest.WriteKeysetPage[int](nil, request, nil, nil) },
	} {
		assert.PanicsWithValue(t, "forgetest: "+name+": the request is not one of a route that Handle added", f)
	}
}

// A replaced route is the handler's alone; a misspelled or ambiguous one is refused.
func TestHandleRoutes(t *testing.T) {
	srv := forgetest.New(t)
	srv.AddProject("acme/app").AddIssues(3, nil)
	client := srv.Client()
	for route, problem := range map[string]string{
		"":                                      "a route is a method and a path",
		"/projects/:id/jobs":                    "a route is a method and a path",
		"get /projects/:id/jobs":                "a route is a method and a path",
		"GET projects/:id/jobs":                 "a route is a method and a path",
		"GET /projects//jobs":                   "a route is a method and a path",
		"GET /projects/:id/jobs?x=1":            "a route is a method and a path",
		"GET /projects/{id}/jobs":               "a route is a method and a path",
		"GET /projects/:id/jobs/:id":            `":id" is not a placeholder, or not the only one of its name`,
		"GET /projects/:/jobs":                  `":" is not a placeholder`,
		"GET /api/v4/jobs":                      "the path is below /api/v4 and does not repeat it",
		"GET /v2/_catalog":                      "routes outside /api/v4 cannot be replaced",
		"GET /projects/:project/merge_requests": `the server spells this route "GET /projects/:id/merge_requests"`,
		"GET /projects/:id/repository/archive":  `the server spells this route "GET /projects/:id/repository/archive[.:format]"`,
	} {
		func() {
			defer func() { assert.Contains(t, recover(), problem, route) }()
			srv.Handle(route, serveJob)
		}()
	}
	assert.Panics(t, func() { srv.Handle(listJobs, nil) })
	assert.Panics(t, func() { srv.Handle("GET /jobs", serveJob, forgetest.RequireRole(forgetest.Guest)) })

	srv.Handle("GET /projects/:id/jobs/:job_id", serveJob)
	srv.Handle("GET /projects/:id/jobs/latest", func(w http.ResponseWriter, r *http.Request) { forgetest.WriteJSON(w, r, 200, job{ID: 99}) })
	assert.Panics(t, func() { srv.Handle("GET /projects/:id/jobs/:job", serveJob) })
	var found job
	require.NoError(t, client.Do(t.Context(), call("GET /projects/:id/jobs/:job_id", forge.ID(1), forge.Path("latest")), &found))
	assert.EqualValues(t, 99, found.ID, "literal segments precede placeholders")
	srv.AssertRequests(t, "GET /projects/:id/jobs/latest")

	const issues = "GET /issues"
	for _, title := range []string{"first", "second"} {
		srv.Handle(issues, func(w http.ResponseWriter, r *http.Request) {
			forgetest.WritePage(w, r, []map[string]any{{"id": 1, "title": title, "q": r.URL.Query().Get("q")}})
		})
		list, err := forge.Collect(client.Issues.List(t.Context(), nil))
		require.NoError(t, err)
		require.Len(t, list, 1)
		assert.Equal(t, title, list[0].Title)
	}
	srv.AssertRequestCount(t, issues, 2)
	_, err := client.Issues.GetTimeStats(t.Context(), forge.Path("acme/app"), 1)
	require.NoError(t, err, "other routes are the server's")

	// The format of an archive is optional, and an alias is the route that it stands for.
	srv.Handle("GET /projects/:id/repository/archive[.:format]", func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.PathValue("format"))
	})
	_, format := fetch(t, srv, "GET", "/projects/1/repository/archive.zip", nil)
	assert.Equal(t, "zip", string(format))
	srv.Handle("PUT /runners/:runner_id", func(w http.ResponseWriter, r *http.Request) {
		forgetest.WriteJSON(w, r, 200, map[string]any{"id": 5, "description": r.PathValue("runner_id")})
	})
	runner, err := client.Runners.Pause(t.Context(), 5, nil)
	require.NoError(t, err)
	assert.Equal(t, "5", runner.Description)
	srv.AssertRequestCount(t, "PUT /runners/:runner_id", 1)
	srv.AssertRequestCount(t, "PUT /runners/:id", 1)
}

// HEAD is executed as GET, without a body, for added routes and those of the contract.
func TestHandleHead(t *testing.T) {
	srv := forgetest.New(t)
	srv.AddProject("acme/app").AddIssues(3, nil)
	srv.Handle(listJobs, serveJob)
	for route, path := range map[string]string{listJobs: "/projects/1/jobs", "GET /issues": "/issues"} {
		get, body := fetch(t, srv, "GET", path, nil, "Accept-Encoding", "identity")
		head, none := fetch(t, srv, "HEAD", path, nil, "Accept-Encoding", "identity")
		assert.Equal(t, 200, head.StatusCode)
		assert.Empty(t, none)
		assert.EqualValues(t, len(body), head.ContentLength)
		for _, name := range []string{"Content-Type", "ETag", "X-Total", "Link"} {
			assert.Equal(t, get.Header.Get(name), head.Header.Get(name), name)
		}
		assert.Equal(t, "HEAD", srv.LastRequest(t, route).Method)
		srv.AssertRequestCount(t, route, 2)
	}
	srv.AssertAppliedCount(t, "*", 0)
	var response forge.Response
	require.NoError(t, srv.Client().Do(t.Context(), call("HEAD /projects/:id/jobs", forge.ID(1)), nil, forge.Into(&response)))
	assert.Equal(t, 200, response.Status)
	head, _ := fetch(t, srv, "HEAD", "/projects/1/issues/1/subscribe", nil)
	assert.Equal(t, 405, head.StatusCode)
	srv.Handle("HEAD /projects/:id/jobs", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(202) })
	head, _ = fetch(t, srv, "HEAD", "/projects/1/jobs", nil)
	assert.Equal(t, 202, head.StatusCode, "a route for HEAD precedes that for GET")
	patch, _ := fetch(t, srv, "PATCH", "/projects/1/jobs", nil)
	assert.ElementsMatch(t, []string{"GET", "HEAD"}, strings.Split(patch.Header.Get("Allow"), ", "))
}

// Large JSON is compressed unless the handler has set the length or the encoding.
func TestHandleCompresses(t *testing.T) {
	srv := forgetest.New(t)
	var digits strings.Builder // still long when compressed
	for i := range 3000 {
		fmt.Fprint(&digits, i*i*7919)
	}
	long := digits.String()
	srv.Handle("GET /long", func(w http.ResponseWriter, r *http.Request) {
		r.Header.Del("Accept-Encoding") // its own header
		forgetest.WriteJSON(w, r, 200, long)
	})
	srv.Handle("GET /zipped", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		_, _ = io.WriteString(z, `"`+long+`"`)
		assert.NoError(t, z.Close())
	})
	srv.Handle("GET /sized", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", strconv.Itoa(len(long)+2))
		forgetest.WriteJSON(w, r, 200, long)
	})
	for size, encoding := range map[int]string{1024: "", 1025: "gzip"} { // with the quotes
		srv.Handle("GET /text", func(w http.ResponseWriter, r *http.Request) { forgetest.WriteJSON(w, r, 200, long[2:size]) })
		response, _ := fetch(t, srv, "GET", "/text", nil, "Accept-Encoding", "gzip")
		assert.Equal(t, []string{encoding, map[string]string{"gzip": "Accept-Encoding"}[encoding]}, []string{response.Header.Get("Content-Encoding"), response.Header.Get("Vary")})
	}
	assert.Len(t, srv.LastRequest(t, "GET /text").ResponseBody, 300)
	response, _ := fetch(t, srv, "GET", "/sized", nil, "Accept-Encoding", "gzip")
	assert.Empty(t, response.Header.Get("Content-Encoding"))
	response, _ = fetch(t, srv, "GET", "/application/settings", nil, "Accept-Encoding", "gzip")
	assert.Equal(t, "gzip", response.Header.Get("Content-Encoding"))
	response, _ = fetch(t, srv, "GET", "/sized", nil, "If-None-Match", "*")
	assert.Equal(t, []string{"304", ""}, []string{strconv.Itoa(response.StatusCode), response.Header.Get("Content-Length")})
	for _, path := range []string{"/long", "/zipped"} {
		response, body := fetch(t, srv, "GET", path, nil, "Accept-Encoding", "gzip")
		assert.Equal(t, "gzip", response.Header.Get("Content-Encoding"))
		z, err := gzip.NewReader(bytes.NewReader(body))
		require.NoError(t, err)
		text, err := io.ReadAll(z)
		require.NoError(t, err)
		assert.Equal(t, `"`+long+`"`, string(text))
	}
}
