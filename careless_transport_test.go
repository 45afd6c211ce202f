package forge

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// careless are responses that a RoundTripper must not return, or may return although net/http does
// not. Each is made of a good response.
var careless = map[string]func(*http.Response) (*http.Response, error){
	"as it must be":        change(func(*http.Response) {}),
	"nothing":              func(*http.Response) (*http.Response, error) { return nil, nil },
	"both":                 func(r *http.Response) (*http.Response, error) { return r, errors.New("failed") },
	"zero":                 func(*http.Response) (*http.Response, error) { return &http.Response{}, nil },
	"status only":          func(*http.Response) (*http.Response, error) { return &http.Response{StatusCode: 204}, nil },
	"nil body":             change(func(r *http.Response) { r.Body = nil }),
	"nil body, no length":  change(func(r *http.Response) { r.Body, r.ContentLength = nil, 0 }),
	"nil body, any length": change(func(r *http.Response) { r.Body, r.ContentLength = nil, -1 }),
	"nil header":           change(func(r *http.Response) { r.Header = nil }),
	"nil request":          change(func(r *http.Response) { r.Request = nil }),
	"another request": change(func(r *http.Response) {
		r.Request = httptest.NewRequest(http.MethodPut, "https://other.example.com/x", nil)
	}),
	"empty request":         change(func(r *http.Response) { r.Request = &http.Request{} }),
	"length too large":      change(func(r *http.Response) { r.ContentLength += 1000 }),
	"length too small":      change(func(r *http.Response) { r.ContentLength = 1 }),
	"length negative":       change(func(r *http.Response) { r.ContentLength = -7 }),
	"length enormous":       change(func(r *http.Response) { r.ContentLength = 1 << 62 }),
	"status 0":              change(func(r *http.Response) { r.StatusCode = 0 }),
	"status -1":             change(func(r *http.Response) { r.StatusCode = -1 }),
	"status 100":            change(func(r *http.Response) { r.StatusCode = 100 }),
	"status 101":            change(func(r *http.Response) { r.StatusCode = 101 }),
	"status 999":            change(func(r *http.Response) { r.StatusCode = 999 }),
	"redirect, nil header":  change(func(r *http.Response) { r.StatusCode, r.Header = 302, nil }),
	"304, nil all":          func(*http.Response) (*http.Response, error) { return &http.Response{StatusCode: 304}, nil },
	"401, nil all":          func(*http.Response) (*http.Response, error) { return &http.Response{StatusCode: 401}, nil },
	"404, nil all":          func(*http.Response) (*http.Response, error) { return &http.Response{StatusCode: 404}, nil },
	"429, nil all":          func(*http.Response) (*http.Response, error) { return &http.Response{StatusCode: 429}, nil },
	"500, nil all":          func(*http.Response) (*http.Response, error) { return &http.Response{StatusCode: 500}, nil },
	"no protocol, no text":  change(func(r *http.Response) { r.Proto, r.ProtoMajor, r.Status = "", 0, "" }),
	"nil trailer":           change(func(r *http.Response) { r.Trailer = nil }),
	"header with nil value": change(func(r *http.Response) { r.Header["Content-Type"], r.Header["X-Next-Page"] = nil, []string{} }),
	"compressed by itself":  change(func(r *http.Response) { r.Uncompressed = true }),
}

func change(f func(*http.Response)) func(*http.Response) (*http.Response, error) {
	return func(r *http.Response) (*http.Response, error) { f(r); return r, nil }
}

// goodResponse returns what a server would send for the request.
func goodResponse(req *http.Request, closed *int) *http.Response {
	body := `{}`
	switch path := req.URL.Path; {
	case strings.HasSuffix(path, "/token"):
		body = `{"access_token":"new","token_type":"bearer","expires_in":3600}`
	case strings.HasSuffix(path, "/auth"):
		body = `{"token":"t0ken"}`
	case strings.HasSuffix(path, "/issues"), strings.HasSuffix(path, "/audit_events"):
		body = `[{"id":1}]`
	}
	return &http.Response{
		Status: "200 OK", StatusCode: 200, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: req,
		Header: http.Header{"Content-Type": {"application/json"}}, ContentLength: int64(len(body)), Trailer: http.Header{},
		Body: readCloser{strings.NewReader(body), func() { *closed++ }},
	}
}

// Whatever a caller's RoundTripper returns, a call ends with a success or with an error of the
// library; it does not panic, and closes the body of each response. Each kind of call, with a token
// that is fixed, and with one that the same transport has to fetch first.
func TestCarelessTransports(t *testing.T) {
	_, config := tokenServer(t, nil)
	kinds := append(statusKinds(), statusKind{name: "list ahead", run: func(ctx context.Context, c *Client, _ ...RequestOption) error {
		_, err := Collect(c.Issues.ListForGroup(ctx, ID(1), nil, Ahead(4)))
		return err
	}}, statusKind{name: "keyset", run: func(ctx context.Context, c *Client, _ ...RequestOption) error {
		_, err := Collect(c.AuditEvents.List(ctx, nil))
		return err
	}}, statusKind{name: "HTTPClient", run: func(_ context.Context, c *Client, _ ...RequestOption) error {
		resp, err := c.HTTPClient().Get("https://forge.example.com/api/v4/x")
		if err == nil {
			_, err = io.ReadAll(resp.Body)
			_ = resp.Body.Close()
		}
		return err
	}})
	for name, spoil := range careless {
		for _, kind := range kinds {
			for credential, option := range map[string]Option{"token": WithToken(secret), "OAuth": WithOAuth(config, expired("r1"))} {
				opened, closed := 0, 0
				c := wireClient(t, "https://forge.example.com", option, WithRetry(RetryPolicy{MaxAttempts: 2, MinWait: 1, MaxWait: 1}),
					WithRegistry("https://registry.example.com", "https://registry.example.com"), WithRegistryCredentials("user", "password"),
					through(func(req *http.Request) (*http.Response, error) {
						if req.Body != nil {
							_, _ = io.Copy(io.Discard, req.Body)
							_ = req.Body.Close()
						}
						resp, err := spoil(goodResponse(req, &closed))
						if resp != nil && resp.Body != nil && err == nil {
							opened++
						}
						return resp, err
					}))
				var err error
				place := name + ": " + kind.name + ", " + credential
				require.NotPanics(t, func() { err = kind.run(t.Context(), c) }, place)
				if name == "as it must be" {
					require.NoError(t, err, place)
				}
				if err != nil {
					var failed *Error
					assert.ErrorAs(t, err, &failed, place)
					assert.NotRegexp(t, `PANIC|%!|  |: :`, err.Error(), place)
				}
				assert.GreaterOrEqual(t, closed, opened, "%s: a body is not closed: %v", place, err)
			}
		}
	}
}
