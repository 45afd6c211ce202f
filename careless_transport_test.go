package forge

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/jarcoal/httpmock"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// countedBody records whether it was closed.
type countedBody struct {
	io.Reader
	closed *int
}

func (b countedBody) Close() error { *b.closed++; return nil }

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

// carelessCalls are the four kinds of calls, and the calls for tokens.
var carelessCalls = map[string]func(ctx context.Context, c *Client) error{
	"do": func(ctx context.Context, c *Client) error {
		_, err := c.Issues.GetTimeStats(ctx, ID(1), 2)
		return err
	},
	"exec": func(ctx context.Context, c *Client) error { return c.SecureFiles.Delete(ctx, ID(1), 2) },
	"upload": func(ctx context.Context, c *Client) error {
		_, err := c.SecureFiles.Upload(ctx, ID(1), &UploadSecureFileOptions{Name: "x", File: FileBytes([]byte("content"))})
		return err
	},
	"open": func(ctx context.Context, c *Client) error {
		d, err := openArchive(ctx, c)
		if err == nil {
			_, err = io.Copy(io.Discard, d)
			err = errors.Join(err, d.Close())
		}
		return err
	},
	"list": func(ctx context.Context, c *Client) error {
		_, err := Collect(c.Issues.ListForGroup(ctx, ID(1), nil))
		return err
	},
	"list ahead": func(ctx context.Context, c *Client) error {
		_, err := Collect(c.Issues.ListForGroup(ctx, ID(1), nil, Ahead(4)))
		return err
	},
	"keyset": func(ctx context.Context, c *Client) error {
		_, err := Collect(c.AuditEvents.List(ctx, nil))
		return err
	},
	"registry token": func(ctx context.Context, c *Client) error {
		_, err := c.RegistryNative.GetToken(ctx, &RegistryTokenOptions{Scopes: []RegistryScope{RepositoryScope("a/b", RegistryDelete)}})
		return err
	},
	"registry": func(ctx context.Context, c *Client) error {
		return c.RegistryNative.DeleteTagReference(ctx, "a/b", "v1")
	},
	"response": func(ctx context.Context, c *Client) error {
		var into Response
		_, err := c.Issues.GetTimeStats(ctx, ID(1), 2, Into(&into))
		return err
	},
	"dry run": func(ctx context.Context, c *Client) error {
		var plan PlannedRequest
		if err := c.SecureFiles.Delete(ctx, ID(1), 2, DryRun(&plan)); !errors.Is(err, ErrDryRun) {
			return err
		}
		return nil
	},
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
		Body: countedBody{strings.NewReader(body), closed},
	}
}

// Whatever a caller's RoundTripper returns, a call ends with a success or with an error of the
// library; it does not panic, and closes the body of each response. Each kind of call, with a token
// that is fixed, and with one that the same transport has to fetch first.
func TestCarelessTransports(t *testing.T) {
	_, config := tokenServer(t, nil)
	for name, spoil := range careless {
		for kind, send := range carelessCalls {
			for credential, option := range map[string]func() Option{
				"token": func() Option { return WithToken(secret) },
				"OAuth": func() Option { return WithOAuth(config, expired("r1")) },
			} {
				opened, closed := 0, 0
				transport := through(func(req *http.Request) (*http.Response, error) {
					if req.Body != nil {
						_, _ = io.Copy(io.Discard, req.Body)
						_ = req.Body.Close()
					}
					resp, err := spoil(goodResponse(req, &closed))
					if resp != nil && resp.Body != nil && err == nil {
						opened++
					}
					return resp, err
				})
				c, err := NewClient("https://forge.example.com", transport, option(), WithRetry(RetryPolicy{MaxAttempts: 2, MinWait: 1, MaxWait: 1}),
					WithRegistry("https://registry.example.com", "https://registry.example.com"), WithRegistryCredentials("user", "password"))
				require.NoError(t, err)
				place := name + ": " + kind + ", " + credential
				require.NotPanics(t, func() { err = send(t.Context(), c) }, place)
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

// httpmock returns an error for a request without a responder. The client cannot know that such a
// transport sent nothing, so that a write may have been applied.
func TestUnmatchedRequestOfHTTPMock(t *testing.T) {
	mock := httpmock.NewMockTransport()
	c, err := NewClient("https://forge.example.com", WithHTTPClient(&http.Client{Transport: mock}), WithToken(secret), WithRetry(RetryPolicy{MaxAttempts: 1}))
	require.NoError(t, err)
	_, err = c.Issues.AddSpentTime(t.Context(), ID(1), 2, &AddSpentTimeOptions{Duration: WorkDuration(time.Hour)})
	assert.True(t, asError(t, err).MaybeApplied)
	assert.ErrorContains(t, err, "no responder found")
	_, err = c.Issues.GetTimeStats(t.Context(), ID(1), 2)
	assert.False(t, asError(t, err).MaybeApplied, "a read")
	mock.RegisterResponder(http.MethodGet, "https://forge.example.com/api/v4/projects/1/issues/2/time_stats", func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(bytes.NewReader([]byte("{}")))}, nil
	})
	_, err = c.Issues.GetTimeStats(t.Context(), ID(1), 2)
	assert.NoError(t, err)
}
