package forge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// send sends a request with the client's http.Client, and returns the status and the body.
func send(ctx context.Context, client *http.Client, method, address, body string) (int, string, error) {
	var content io.Reader
	if body != "" {
		content = strings.NewReader(body)
	}
	req, err := http.NewRequestWithContext(ctx, method, address, content)
	if err != nil {
		return 0, "", err
	}
	resp, err := client.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(text), err
}

// A redirect leads nowhere with a credential, and never changes a method or drops a body: status,
// method, host, port and scheme.
func TestHTTPClientRedirects(t *testing.T) {
	const home = "https://a.example.com"
	targets := []string{home, "https://b.example.com", "https://a.example.com:8443", "http://a.example.com"}
	w := newWorld(t)
	location, code := "", 0
	for _, target := range targets {
		w.host(target, func(rw http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/from") {
				redirectTo(code, location)(rw, r)
				return
			}
			answerJSON(rw, r)
		})
	}
	client := w.client(home).HTTPClient()
	for _, target := range targets {
		for _, code = range redirectCodes {
			for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"} {
				location = target + "/to"
				name, body := fmt.Sprint(method, " ", code, " ", target), ""
				write := method != "GET" && method != "HEAD"
				if write {
					body = "content"
				}
				status, _, err := send(t.Context(), client, method, home+"/api/v4/from", body)
				follows := target == home && (!write || code != 303) || strings.HasPrefix(target, "https:") && !write
				if !follows {
					require.ErrorIs(t, err, ErrRedirect, name)
				} else {
					require.NoError(t, err, name)
					assert.Equal(t, 200, status, name)
				}
				arrived := w.at(home)
				require.NotEmpty(t, arrived, name)
				for _, s := range arrived {
					assert.Equal(t, secret, s.header.Get("Private-Token"), name)
				}
				if target == home {
					arrived = arrived[1:]
				} else if arrived = w.at(target); follows {
					require.Len(t, arrived, 1, name)
					bare(t, arrived[0])
				}
				assert.Len(t, arrived, map[bool]int{true: 1}[follows], name)
				for _, s := range arrived {
					assert.Equal(t, method+" "+body, s.method+" "+s.body, name)
				}
			}
		}
	}
}

// A server that has moved is an error: without the credential its lists would have the public items
// only.
func TestHTTPClientMovedServer(t *testing.T) {
	const home, away = "https://a.example.com", "https://b.example.com"
	for _, path := range []string{"/api/v4/issues", "/git/api/v4/issues", "/api/graphql"} {
		w := newWorld(t)
		w.host(home, redirectTo(302, away+path))
		w.host(away, answerJSON)
		_, _, err := send(t.Context(), w.client(home).HTTPClient(), "GET", home+path, "")
		require.ErrorIs(t, err, ErrRedirect)
		require.ErrorContains(t, err, "if the server has moved there, pass that address to NewClient")
		assert.Empty(t, w.at(away))
	}
}

// The credential does not come back after a redirect has left the origin, or to a request that the
// caller addressed to another server.
func TestHTTPClientReturnsWithoutCredential(t *testing.T) {
	const home, away = "https://a.example.com", "https://b.example.com"
	w := newWorld(t)
	w.host(home, func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/out" {
			redirectTo(302, away+"/back")(rw, r)
			return
		}
		answerJSON(rw, r)
	})
	w.host(away, redirectTo(302, home+"/end"))
	client := w.client(home).HTTPClient()
	for _, start := range []string{home + "/out", away + "/back"} {
		_, _, err := send(t.Context(), client, "GET", start, "")
		require.NoError(t, err)
		all := w.at(home)
		bare(t, all[len(all)-1])
		for _, s := range w.at(away) {
			bare(t, s)
		}
	}
}

func TestHTTPClientRefusals(t *testing.T) {
	w := newWire(t, always(sayJSON("{}")))
	other := newWire(t, always(sayJSON("{}")))
	client := wireClient(t, w.url).HTTPClient()
	for name, edit := range map[string]func(*http.Request){
		"Private-Token":   func(r *http.Request) { r.Header.Set("PRIVATE-TOKEN", "glpat-other") },
		"Private_token":   func(r *http.Request) { r.Header["private_token"] = []string{"glpat-other"} },
		"Authorization":   func(r *http.Request) { r.SetBasicAuth("a", "b") },
		"Cookie":          func(r *http.Request) { r.AddCookie(&http.Cookie{Name: "a", Value: "b"}) },
		"user":            func(r *http.Request) { r.URL.User = url.UserPassword("a", "b") },
		"private_token":   func(r *http.Request) { r.URL.RawQuery = "private%5Ftoken%20[a]=x" },
		"Host":            func(r *http.Request) { r.Host = "other.example.com" },
		"absolute":        func(r *http.Request) { r.URL = &url.URL{Path: "/api/v4/user"} },
		"CONNECT":         func(r *http.Request) { r.Method = "CONNECT" },
		"trailers":        func(r *http.Request) { r.Trailer = http.Header{"A": nil} },
		"Request.URL":     func(r *http.Request) { r.URL = nil },
		"not an absolute": func(r *http.Request) { r.URL.Opaque = "//a/b" },
		"Request.URL: it is not an absolute address with http or https; nothing was sent": func(r *http.Request) { r.URL.Scheme = "ftp" },
		"an absolute": func(r *http.Request) { r.URL.Host = ":80" },
		"(Cookie): a cookie may carry a credential: use an http.Client without a Jar": func(r *http.Request) { r.AddCookie(&http.Cookie{Name: "a", Value: "b"}) },
	} {
		for _, address := range []string{w.url, other.url} {
			body := &closeCounter{Reader: strings.NewReader("x")}
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address+"/api/v4/user", body)
			require.NoError(t, err)
			edit(req)
			resp, err := client.Transport.RoundTrip(req)
			var invalid *ValidationError
			require.ErrorAs(t, err, &invalid, name)
			assert.Nil(t, resp)
			assert.Contains(t, err.Error(), name)
			assert.Regexp(t, `^Request\.(Header|URL|Host|Method|Trailer)$`, invalid.Option, name)
			assert.NotContains(t, err.Error(), "glpat")
			assert.EqualValues(t, 1, body.closed.Load(), name)
		}
	}
	for _, length := range []int64{-1, 1} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.url, nil)
		require.NoError(t, err)
		req.ContentLength = length
		_, err = client.Transport.RoundTrip(req)
		assertRefused(t, err, "Request.ContentLength", "")
	}
	assert.Empty(t, w.seen())
	assert.Empty(t, other.seen())
	failsOnce := newWire(t, func(s seen) act {
		if s.nth == 1 {
			return say(503, "")
		}
		return sayJSON("{}")
	})
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, failsOnce.url+"/api/v4/user#part", nil)
	require.NoError(t, err)
	req.Method = ""
	resp, err := wireClient(t, failsOnce.url).HTTPClient().Transport.RoundTrip(req)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	assert.Equal(t, 200, resp.StatusCode, "an empty method is GET, which is retried")
	assert.Equal(t, failsOnce.url+"/api/v4/user", resp.Request.URL.String(), "a fragment is not sent")
	_, _, err = send(t.Context(), (&Client{}).HTTPClient(), "GET", w.url, "")
	require.ErrorContains(t, err, "NewClient")
	for _, n := range []int{-1, 1 << 30} {
		_, err = wireClient(t, w.url).HTTPClient().Post(w.url, "", readFunc(func([]byte) (int, error) { return n, nil }))
		require.ErrorContains(t, err, "impossible number of bytes")
	}
	for name, option := range map[string]RequestOption{
		"OnePage": OnePage(), "PerPage": PerPage(1), "StartAt": StartAt(""), "Ahead": Ahead(1), "Progress": Progress(nil), "Timeout": Timeout(1),
		"Into": Into(nil), "Sudo": Sudo(1), "Header": Header("A", "b"), "Query": Query("a", "b"), "SkipValidation": SkipValidation(), "DryRun": DryRun(nil), "Checksum": Checksum(""),
	} {
		_, _, err = send(t.Context(), wireClient(t, w.url).HTTPClient(option), "GET", w.url, "")
		var invalid *ValidationError
		require.ErrorAs(t, err, &invalid, name)
		assert.Equal(t, name, invalid.Option)
		assert.Contains(t, invalid.Reason, "does not apply", name)
	}
}

// closeCounter is a body that counts how often it is closed.
type closeCounter struct {
	io.Reader
	closed atomic.Int32
}

func (c *closeCounter) Close() error {
	c.closed.Add(1)
	return nil
}

// Empty credentials of a client without a token are omitted. Sudo is sent to the client's origin
// only.
func TestHTTPClientHeaders(t *testing.T) {
	w, other := newWire(t, always(sayJSON("{}"))), newWire(t, always(sayJSON("{}")))
	client := wireClient(t, w.url).HTTPClient()
	for address, want := range map[string]error{w.url: nil, other.url: &ValidationError{}} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, http.NoBody)
		require.NoError(t, err)
		req.Header = http.Header{"Private-Token": {""}, "Job-Token": {"", ""}, "Sudo": {"42"}, "X-Mine": {"a", "b"}, "User-Agent": {"mine"}}
		req.Host = "" // that of the address
		before := req.Header.Clone()
		resp, err := client.Do(req)
		assert.Equal(t, before, req.Header, "the request is not changed")
		if want != nil {
			require.ErrorContains(t, err, "Sudo")
			continue
		}
		require.NoError(t, err)
		resp.Body.Close()
		assert.NotContains(t, fmt.Sprint(resp.Request.Header), secret)
		got := w.seen()[0].header
		assert.Equal(t, []string{secret}, got["Private-Token"])
		assert.NotContains(t, got, "Job-Token")
		assert.Equal(t, []string{"a", "b"}, got["X-Mine"])
		assert.Equal(t, "mine 42", got.Get("User-Agent")+" "+got.Get("Sudo"))
		assert.Empty(t, got.Get("Accept"))
	}
	assert.Empty(t, other.seen())
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.url, nil)
	require.NoError(t, err)
	req.Header = http.Header{"sudo": {"42"}} // a name in any form
	require.NoError(t, checkRaw(req, true))
	for _, name := range []string{"cookie", "COOKIE"} {
		req.Header = http.Header{name: {"a=b"}}
		require.ErrorContains(t, checkRaw(req, true), "(Cookie): a cookie may carry a credential")
	}
}

// A body without GetBody is sent once. The body is closed in any case.
func TestHTTPClientBodies(t *testing.T) {
	for name, fault := range map[string]act{"503": say(503, "{}"), "200": sayJSON("{}"), "reset": reset("")} {
		w := newWire(t, always(fault))
		body := &closeCounter{Reader: io.LimitReader(neverEnding('x'), 100_000)}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, w.url, body)
		require.NoError(t, err)
		resp, err := wireClient(t, w.url).HTTPClient().Do(req)
		if name != "reset" {
			require.NoError(t, err, name)
			resp.Body.Close()
		} else {
			assert.True(t, asError(t, err).MaybeApplied)
		}
		require.Len(t, w.seen(), 1, name)
		assert.Len(t, w.seen()[0].body, 100_000)
		assert.Eventually(t, func() bool { return body.closed.Load() == 1 }, time.Minute, time.Millisecond, name)
	}
	w := newWire(t, always(sayJSON("{}")))
	_, _, err := send(t.Context(), wireClient(t, w.url).HTTPClient(), "PUT", w.url, "x")
	require.NoError(t, err)
	assert.Equal(t, "1", w.seen()[0].header.Get("Content-Length"), "a stated length is sent")
}

// A GetBody that returns no body is an error, as net/http's own error would be.
func TestHTTPClientNilBody(t *testing.T) {
	for name, body := range map[string]io.ReadCloser{"nil": nil, "typed nil": (*closeCounter)(nil)} {
		for _, fault := range []act{say(503, "{}"), reset(""), say(307, "", "Location: /to")} {
			w := newWire(t, script(fault, sayJSON("{}")))
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, w.url, strings.NewReader("content"))
			require.NoError(t, err)
			req.GetBody = func() (io.ReadCloser, error) { return body, nil }
			o := ends(t, func() error {
				_, err := wireClient(t, w.url).HTTPClient().Transport.RoundTrip(req)
				return err
			})
			require.ErrorContains(t, o.err, "GetBody returned a nil body", name)
			assert.Len(t, w.seen(), 1, name)
		}
	}
}

type neverEnding byte

func (b neverEnding) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(b)
	}
	return len(p), nil
}

// shape returns a template without the names of its placeholders.
func shape(template string) string {
	return regexp.MustCompile(`:[a-z_]+`).ReplaceAllString(template, ":")
}

// Every route of the API is found by each path that it can have.
func TestMatchRoute(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	texts := []string{"group/app", "v1.0", "a b", "ü", "all", "x%y", "5", "x"}
	for i := range routes {
		r := &routes[i]
		if r.base != apiBase {
			got, _ := matchRoute(r.Method, r.Template)
			assert.NotSame(t, r, got, "%s belongs to another address", r.Template)
			continue
		}
		for range 20 {
			args := []any{}
			for range strings.Count(r.Template, ":") {
				args = append(args, texts[random.IntN(len(texts))])
			}
			if strings.Contains(r.Template, "[.:format]") {
				args[len(args)-1] = []string{"", "tar.gz", "zip"}[random.IntN(3)]
			}
			path, err := expandTemplate(wirePath{}, r.Template, args)
			if err != nil {
				continue // a path with a %
			}
			got, found := matchRoute(r.Method, path.escaped)
			require.NotNil(t, got, path.escaped)
			if shape(got.Template) != shape(r.Template) { // /runners/all is a route of its own
				require.Less(t, strings.Count(got.Template, "/:"), strings.Count(r.Template, "/:"), "%s: %s %s", path.escaped, got.Method, got.Template)
				require.Contains(t, path.escaped, "all")
				continue
			}
			var want []any // only a quota needs them
			if r.quota != noQuota {
				want = args[:strings.Count(r.Template, "/:")]
			}
			assert.Equal(t, want, found, path.escaped)
		}
	}
	transport := policyTransport{core: silentServer(t).service().owner()}
	for path, want := range map[string]string{"/api/v4/user": "/user", "/api/v4user": "/*", "/api/v4": "/*", "/user": "/*"} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, transport.core.config.bases[apiBase].JoinPath("../..", path).String(), nil)
		require.NoError(t, err)
		got := transport.newRequest(req).route
		assert.Equal(t, want, got.Template, path)
		assert.Equal(t, want == "/*", got.Service == "http", path)
		assert.Empty(t, got.Pagination, path)
	}
	r, _ := matchRoute(http.MethodDelete, "/projects/1/registry/repositories/2/%74ags") // servers decode it
	assert.Equal(t, RetryClassNonIdempotent, r.Class)
	for _, path := range []string{"/", "/projects", "/projects//issues", "/projects/%zz/issues", "/projects/1/issues/2/subscribe/x", "/projects/a/b/issues/1/subscribe"} {
		r, _ := matchRoute("POST", path)
		assert.Nil(t, r, path)
	}
	empty, _ := matchRoute("GET", "/projects//runners")
	assert.Nil(t, empty)
	for _, path := range []string{"/projects.x/1/repository/archive.zip", "/projects/1/repository.x/archive.zip", "/projects/1/repository/archives.zip"} {
		r, _ := matchRoute("GET", path)
		assert.Nil(t, r, "%s: only the last part has a format", path)
	}
}

// apart is a context of which the standard library knows nothing: a goroutine waits for each child.
type apart struct {
	context.Context //nolint:containedctx // it is one
	done            chan struct{}
}

func (a apart) Done() <-chan struct{} { return a.done }

// A body that was read to its end, or that is empty, leaves nothing behind without a Close.
func TestStreamEndsAtEOF(t *testing.T) {
	broken := errors.New("broken")
	for name, body := range map[string]func() io.Reader{
		"whole":  func() io.Reader { return strings.NewReader("{}") },
		"broken": func() io.Reader { return io.MultiReader(strings.NewReader("{"), iotest.ErrReader(broken)) },
		"none":   func() io.Reader { return nil },
	} {
		for _, status := range []int{200, 404, 409} {
			for _, raw := range []bool{true, false} {
				if !raw && status != 200 {
					continue
				}
				synctest.Test(t, func(t *testing.T) {
					c := bubbleClient(t, through(func(req *http.Request) (*http.Response, error) {
						_ = req.Context().Done() // as net/http does
						resp := &http.Response{StatusCode: status, Header: http.Header{}, Body: http.NoBody, Request: req}
						if content := body(); content != nil {
							resp.Body = io.NopCloser(content)
						}
						return resp, nil
					}))
					ctx := apart{t.Context(), make(chan struct{})}
					defer close(ctx.done)
					var stream io.Reader
					if raw {
						req, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://forge.example.com/", http.NoBody)
						require.NoError(t, err)
						resp, err := c.HTTPClient().Transport.RoundTrip(req)
						require.NoError(t, err)
						stream = resp.Body
					} else {
						var err error
						stream, err = c.Open(ctx, Call{Route: "/things"}, Timeout(time.Hour))
						require.NoError(t, err)
					}
					if name != "none" {
						synctest.Wait()
						assert.Positive(t, goroutines("propagateCancel"), name)
						_, err := io.Copy(io.Discard, stream)
						assert.Equal(t, name == "broken", errors.Is(err, broken), "%v", err)
					}
					synctest.Wait()
					assert.Zero(t, goroutines("propagateCancel"), "%s %d %v", name, status, raw)
				})
			}
		}
	}
}

// A server, or a transport, that repeats the token in a trailer or in an error of the stream does not
// bring it into a log.
func TestStreamIsRedacted(t *testing.T) {
	const token = "a-secret-token"
	for name, content := range map[string]io.Reader{"whole": strings.NewReader("{}"), "broken": iotest.ErrReader(errors.New("no " + token))} {
		trailer := http.Header{"X-Sum": {"7 " + token}}
		c, err := NewClient("https://forge.example.com", WithToken(token), through(func(req *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(content), Trailer: trailer, Request: req}, nil
		}))
		require.NoError(t, err)
		stream, err := c.Open(t.Context(), Call{Route: "/things"})
		require.NoError(t, err)
		_, err = io.ReadAll(stream)
		if name == "whole" {
			require.NoError(t, err)
			assert.Equal(t, "7 [redacted]", trailer.Get("X-Sum"))
		} else {
			assert.ErrorContains(t, err, "no ")
			assert.NotContains(t, err.Error(), token)
		}
	}
}
