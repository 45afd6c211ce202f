package forge

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

type staticAnswer func(*http.Request) (*http.Response, error)

func (f staticAnswer) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// fuzzClient returns a client without retries whose calls get the response of f.
func fuzzClient(t testing.TB, f staticAnswer, options ...Option) *Client {
	t.Helper()
	own := []Option{WithToken(secret), WithHTTPClient(&http.Client{Transport: f}), WithRetry(RetryPolicy{MaxAttempts: 1, MaxRetryAfter: 1})} // no server makes it wait
	client, err := NewClient("https://forge.example.com", overriding(own, options...)...)
	require.NoError(t, err)
	return client
}

// nothing is the transport of a client that sends nothing.
func nothing(*http.Request) (*http.Response, error) { return nil, errors.New("nothing is sent") }

func fuzzAnswer(req *http.Request, status int, h http.Header, body string) *http.Response {
	return &http.Response{StatusCode: status, Header: h, ContentLength: -1, Body: io.NopCloser(strings.NewReader(body)), Request: req}
}

// safeText asserts that text is safe to print: valid, short, and without control characters of a
// terminal.
func safeText(t *testing.T, text string) {
	t.Helper()
	require.LessOrEqual(t, len(text), 2*maxErrorText+1<<10)
	require.True(t, utf8.ValidString(text))
	require.False(t, hasControl(text), "%q", text)
}
