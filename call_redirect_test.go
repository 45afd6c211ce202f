package forge

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"
)

var redirectCodes = []int{301, 302, 303, 307, 308}

// credentials are all kinds of credentials, each with the secret.
var credentials = map[string]Option{
	"access token": WithToken(secret),
	"job token":    WithJobToken(secret),
	"OAuth":        WithOAuth(&oauth2.Config{}, &oauth2.Token{AccessToken: secret}),
	"token source": WithTokenSource(oauth2.StaticTokenSource(&oauth2.Token{AccessToken: secret})),
}

// private are the request options whose values must stay at the origin.
var private = []RequestOption{Sudo(42), Header("X-Private", "mine")}

func redirectTo(code int, location string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", location)
		w.WriteHeader(code)
	}
}

func answerJSON(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprint(w, "[]")
}

// bare asserts that a request has no credential and no values of the caller.
func bare(t *testing.T, s seen) {
	t.Helper()
	assert.NotContains(t, fmt.Sprint(s.header, s.uri, s.body), secret)
	for name := range s.header {
		assert.False(t, isCredentialHeader(name) || name == "X-Private", "%s arrived", name)
	}
}

// dressed asserts that a request has the credential and the values of the caller.
func dressed(t *testing.T, s seen) {
	t.Helper()
	assert.Contains(t, fmt.Sprint(s.header), secret)
	assert.Equal(t, "42", s.header.Get("Sudo"))
	assert.Equal(t, "mine", s.header.Get("X-Private"))
}

// A credential is sent to one origin only, not to another host, subdomain, port or scheme, whatever
// the status. A JSON call ends there; a download continues over https without a credential.
func TestRedirectKeepsCredentialsAtOrigin(t *testing.T) {
	const home, away = "https://example.com", "/api/v4/away"
	targets := []string{"https://127.0.0.1", "https://sub.example.com", "https://example.com:8443", "http://example.com", "http://example.com:443"}
	for name, credential := range credentials {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			location, code := "", 0
			w.host(home, func(rw http.ResponseWriter, r *http.Request) { redirectTo(code, location)(rw, r) })
			for _, target := range targets[:4] { // the last one is the port of home with another scheme
				w.host(target, answerJSON)
			}
			c := w.client(home, credential)
			for _, target := range targets {
				for _, code = range redirectCodes {
					location = target + away
					for _, r := range runners {
						checkLeaving(t, w, c, r, home, target)
					}
					err := c.Do(t.Context(), callOf(RetryClassNonIdempotent), nil)
					require.ErrorIs(t, err, ErrRedirect)
					assert.Equal(t, code == http.StatusSeeOther, asError(t, err).MaybeApplied, code)
					w.at(home)
				}
			}
		})
	}
}

func checkLeaving(t *testing.T, w *world, c *Client, r runner, home, target string) {
	t.Helper()
	err := r.run(t.Context(), c, private...)
	first, there := w.at(home), w.at(target)
	require.Len(t, first, 1)
	dressed(t, first[0])
	if r.name == "open" && strings.HasPrefix(target, "https:") {
		require.NoError(t, err)
		require.Len(t, there, 1)
		bare(t, there[0])
		return
	}
	require.ErrorIs(t, err, ErrRedirect)
	require.ErrorContains(t, err, target)
	assert.Empty(t, there)
}

// The error of a download names the server that responded, if it is not the client's own.
func TestRedirectErrorNamesHost(t *testing.T) {
	for location, want := range map[string]string{
		"https://storage.example.com/file": "403 Forbidden: expired; the server redirected to https://storage.example.com",
		"https://gone.example.com/file":    "; the server redirected to https://gone.example.com",
		"https://a.example.com/file":       "403 Forbidden: expired",
	} {
		w := newWorld(t)
		expired := func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Content-Type", "application/json")
			rw.WriteHeader(403)
			_, _ = io.WriteString(rw, `{"message":"expired"}`)
		}
		w.host("https://a.example.com", func(rw http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/file" {
				expired(rw, r)
				return
			}
			redirectTo(302, location)(rw, r)
		})
		w.host("https://storage.example.com", expired)
		_, err := openArchive(t.Context(), w.client("https://a.example.com"))
		require.ErrorContains(t, err, want)
		assert.Equal(t, strings.Contains(location, "a.example.com"), !strings.Contains(err.Error(), "redirected to"))
	}
	long := "https://" + strings.Repeat("x", 249)
	c := wireClient(t, "https://a.example.com", statuses(func(req *http.Request) (int, http.Header) {
		if req.URL.Host == "a.example.com" {
			return 302, headers("Location", long)
		}
		return 403, http.Header{}
	}))
	require.ErrorContains(t, c.Do(t.Context(), callOf(RetryClassSafe), nil), "the server redirects to "+long[:256]+"..., which is not the client's origin")
	_, err := openArchive(t.Context(), c)
	require.ErrorContains(t, err, "; the server redirected to "+long[:256]+"...")
}

// After a redirect to another origin the credential is never sent again, even if that origin
// redirects back.
func TestRedirectBackOmitsCredential(t *testing.T) {
	w := newWorld(t)
	w.host("https://a.example.com", func(rw http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/back":
			redirectTo(307, "/again")(rw, r)
		case "/again":
			answerJSON(rw, r)
		default:
			redirectTo(302, "https://b.example.com/?signature=x")(rw, r)
		}
	})
	w.host("https://b.example.com", redirectTo(302, "https://a.example.com/back"))
	require.NoError(t, runners[3].run(t.Context(), w.client("https://a.example.com"), private...))
	got := w.at("https://a.example.com")
	require.Len(t, got, 3)
	dressed(t, got[0])
	bare(t, got[1])
	bare(t, got[2])
	assert.Equal(t, []string{"/back", "/again"}, []string{got[1].uri, got[2].uri}, "without the query of the other origin")
}

// A response of another host does not apply to the client's origin: its 401 renews no token, and
// its 429 delays no calls.
func TestRedirectForeignResponses(t *testing.T) {
	w, status, asked := newWorld(t), 0, 0
	w.host("https://a.example.com", func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/v4/user" {
			answerJSON(rw, r)
			return
		}
		redirectTo(302, "https://b.example.com/")(rw, r)
	})
	w.host("https://b.example.com", func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Retry-After", "3600")
		rw.WriteHeader(status)
	})
	c := w.client("https://a.example.com", WithTokenSource(tokenSource(func() (*oauth2.Token, error) {
		asked++
		return &oauth2.Token{AccessToken: fmt.Sprint("token", asked)}, nil
	})))
	status = 401
	require.ErrorIs(t, runners[3].run(t.Context(), c), ErrUnauthorized)
	assert.Equal(t, 1, asked)
	status = 429
	r := service{c.core}.newGet("/projects/:project_id/secure_files/:id/download", ID(1), int64(2))
	_, err := open(t.Context(), r, nil)
	require.ErrorIs(t, err, ErrRateLimited)
	require.NoError(t, c.Do(t.Context(), Call{Method: http.MethodGet, Route: "/user"}, nil))
}

// tokenSource is a token source that calls a function.
type tokenSource func() (*oauth2.Token, error)

func (f tokenSource) Token() (*oauth2.Token, error) { return f() }

// Bodies are never sent to another origin, not even those of a download call.
func TestRedirectBodiesStay(t *testing.T) {
	for _, code := range redirectCodes {
		w := newWorld(t)
		w.host("https://a.example.com", redirectTo(code, "https://b.example.com/"))
		w.host("https://b.example.com", answerJSON)
		c := w.client("https://a.example.com")
		for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete} {
			r := func() *request {
				return service{c.core}.newRequest(method, "/anything", nil).json(map[string]int{"a": 1})
			}
			require.ErrorIs(t, exec(t.Context(), r(), nil), ErrRedirect)
			_, err := open(t.Context(), r(), nil)
			require.ErrorIs(t, err, ErrRedirect)
		}
		assert.Empty(t, w.at("https://b.example.com"))
		assert.Len(t, w.at("https://a.example.com"), 6) // never retried
	}
}

// net/http turns a redirected PUT into a GET. The client keeps the method, the body and the
// credential byte for byte. A 303, which requests that GET, is an error that leaves open whether
// the write was applied.
func TestRedirectKeepsMethodAndBody(t *testing.T) {
	bodies := map[string]func(*request) *request{
		"none": func(r *request) *request { return r },
		"json": func(r *request) *request { return r.json(map[string]string{"title": "a <b> & c"}) },
		"form": func(r *request) *request {
			return r.form(&DeleteTagsOptions{NameRegex: "a+b.*"})
		},
		"multipart": func(r *request) *request {
			return r.upload(url.Values{"name": {"n"}}, "file", FileBytes([]byte("\x00\xff content")))
		},
	}
	for _, code := range redirectCodes {
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
			for name, body := range bodies {
				t.Run(fmt.Sprint(code, method, name), func(t *testing.T) {
					w := newWire(t, script(say(code, "moved", "Location: /elsewhere"), sayJSON("{}")))
					c := wireClient(t, w.url)
					err := exec(t.Context(), body(service{c.core}.newRequest(method, "/here", nil)), append(private, Query("force", "a b")))
					got := w.seen()
					if code == 303 && method != http.MethodGet {
						require.ErrorIs(t, err, ErrRedirect)
						assert.True(t, asError(t, err).MaybeApplied)
						assert.Len(t, got, 1)
						return
					}
					require.NoError(t, err)
					require.Len(t, got, 2)
					for _, s := range got {
						assert.Equal(t, method, s.method)
						assert.Equal(t, got[0].body, s.body)
						assert.Equal(t, got[0].header, s.header)
						dressed(t, s)
					}
					assert.Equal(t, "/elsewhere?force=a+b", got[1].uri)
				})
			}
		}
	}
}

// The address of a redirect is followed unchanged: with its own query if it has one, and relative
// to the address that sent it.
func TestRedirectAddress(t *testing.T) {
	for location, want := range map[string]string{
		"/elsewhere":         "/elsewhere?force=a+b",
		"/elsewhere?id=7&x=": "/elsewhere?id=7&x=",
		"/a%2Fb/c?id=a%2Bb":  "/a%2Fb/c?id=a%2Bb",
		"beside":             "/api/v4/deep/beside?force=a+b",
		"../up?id=7":         "/api/v4/up?id=7",
		"?id=7":              "/api/v4/deep/here?id=7",
	} {
		t.Run(location, func(t *testing.T) {
			first := say(301, "moved", "Location: /api/v4/deep/here")
			w := newWire(t, script(first, say(302, "moved", "Location: "+location), sayJSON("{}")))
			err := exec(t.Context(), service{wireClient(t, w.url).core}.newRequest(http.MethodPut, "/here", nil), append(private, Query("force", "a b")))
			require.NoError(t, err)
			got := w.seen()
			require.Len(t, got, 3)
			assert.Equal(t, "/api/v4/here?force=a+b", got[0].uri)
			assert.Equal(t, "/api/v4/deep/here?force=a+b", got[1].uri)
			assert.Equal(t, want, got[2].uri)
		})
	}
}

// Redirects: at most 5 are followed, and they are never retried. An address that is missing or
// invalid is an error that states this.
func TestRedirectRefused(t *testing.T) {
	for location, says := range map[string]string{
		"":                            "without an address",
		"http://[::1":                 "cannot be parsed",
		"%zz://":                      "cannot be parsed",
		"https:///nowhere":            "cannot be parsed",
		"https:opaque":                "cannot be parsed",
		"http://user:pw@example.com/": "user or password",
		"//elsewhere.example.com/":    "not the client's origin",
		"ftp://example.com/":          "not",
		"javascript:alert(1)":         "cannot be parsed",
	} {
		for _, r := range runners {
			headers := []string{"Location: " + location}
			if location == "" {
				headers = nil
			}
			w := newWire(t, always(say(302, "", headers...)))
			err := r.run(t.Context(), wireClient(t, w.url))
			require.ErrorIs(t, err, ErrRedirect, location)
			if r.name != "open" || !strings.Contains(says, "origin") {
				require.ErrorContains(t, err, says)
			}
			e := asError(t, err)
			assert.Equal(t, 302, e.Status)
			assert.Equal(t, 1, e.Attempts)
			assert.NotContains(t, err.Error(), "pw")
			assert.Len(t, w.seen(), 1)
		}
	}
	// Another origin does not get the caller's condition, and so cannot answer that it holds.
	c := wireClient(t, "https://forge.example.com", through(func(r *http.Request) (*http.Response, error) {
		status := map[string]int{"forge.example.com": 302, "storage.example.com": 304}[r.URL.Host]
		return &http.Response{StatusCode: status, Header: http.Header{"Location": {"https://storage.example.com/"}}, Body: http.NoBody, Request: r}, nil
	}))
	_, err := c.Open(t.Context(), callOf(RetryClassSafe), Header("If-None-Match", `"x"`))
	require.ErrorIs(t, err, ErrInvalidResponse)
}

func TestRedirectCount(t *testing.T) {
	for hops, ok := range map[int]bool{1: true, 5: true, 6: false, 1000: false} {
		for _, r := range runners {
			n := 0
			w := newWire(t, func(seen) act {
				if n++; n <= hops {
					return say(307, "", fmt.Sprintf("Location: /hop/%d", n%2)) // a loop
				}
				return say(200, "[]", jsonType)
			})
			err := r.run(t.Context(), wireClient(t, w.url))
			if ok {
				require.NoError(t, err)
				continue
			}
			require.ErrorIs(t, err, ErrRedirect)
			require.ErrorContains(t, err, "more than 5 times")
			assert.Len(t, w.seen(), 6)
		}
	}
}

// A redirect whose body stalls is not followed, so nothing was done, and every call is sent again.
func TestRedirectStalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := pipedWire(t, always(silent("HTTP/1.1 307 X\r\nLocation: /to\r\nContent-Length: 9\r\n\r\nshort")))
		err := w.client(t).Do(t.Context(), callOf(RetryClassNonIdempotent), nil)
		require.ErrorIs(t, err, ErrTimeout)
		e := asError(t, err)
		assert.Equal(t, []any{0, 4, false}, []any{e.Status, e.Attempts, e.MaybeApplied})
	})
}

// After a redirect, later pages use the redirected path and the query of the link.
func TestRedirectMovedList(t *testing.T) {
	w := newWire(t, func(s seen) act {
		switch {
		case strings.HasPrefix(s.uri, "/api/v4/issues"):
			return say(301, "moved", "Location: /api/v4/moved")
		case strings.Contains(s.uri, "page=2"):
			return say(200, `[{}]`, jsonType)
		}
		return say(200, `[{}]`, jsonType, `Link: <https://elsewhere/x?page=2&state=opened>; rel="next"`)
	})
	all, err := Collect(ListAs[map[string]any](context.Background(), wireClient(t, w.url), Call{Method: http.MethodGet, Route: "/issues"}, Query("state", "opened")))
	require.NoError(t, err)
	assert.Len(t, all, 2)
	got := w.seen()
	require.Len(t, got, 3)
	assert.Equal(t, "/api/v4/moved?per_page=100&state=opened", got[1].uri)
	assert.Equal(t, "/api/v4/moved?page=2&state=opened", got[2].uri)
}

// A download continues over http at another origin, without headers, only if the base URL is http
// and the client has no credential or the option WithPlainHTTP.
func TestRedirectOverPlainHTTP(t *testing.T) {
	const store = "http://store.example.com:9000"
	for name, test := range map[string]struct {
		base, to string
		options  []Option
		refused  bool
	}{
		"not even http":             {"http://example.com", "ftp://store.example.com", nil, true},
		"no credential":             {"http://example.com", store, nil, false},
		"credential allowed":        {"http://example.com", store, []Option{WithToken(secret), WithPlainHTTP()}, false},
		"loopback, credential":      {"http://127.0.0.1:8080", store, []Option{WithToken(secret)}, true},
		"https base, no credential": {"https://example.com", store, nil, true},
		"https base, allowed":       {"https://example.com", store, []Option{WithToken(secret), WithPlainHTTP()}, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.host(test.base, func(rw http.ResponseWriter, r *http.Request) { http.Redirect(rw, r, test.to+"/a", http.StatusFound) })
			w.host(store, func(rw http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(rw, "content") })
			c, err := NewClient(test.base, append(test.options, w.dials())...)
			require.NoError(t, err)
			defer c.CloseIdleConnections()
			d, err := openArchive(t.Context(), c, Header("X-Own", "1"))
			if test.refused {
				require.ErrorIs(t, err, ErrRedirect)
				assert.Empty(t, w.at(store))
				return
			}
			require.NoError(t, err)
			text, err := io.ReadAll(d)
			require.NoError(t, err)
			require.NoError(t, d.Close())
			assert.Equal(t, "content", string(text))
			got := w.at(store)
			require.Len(t, got, 1)
			assert.Empty(t, got[0].header.Get("X-Own")+got[0].header.Get("Private-Token"))
		})
	}
}
