package contracttest_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	forge "github.com/forge-sdk/forge-go"
)

// Addresses of the registry and of its tokens.
const (
	registryAddress = "https://forge.example.com/registry"
	authAddress     = "https://forge.example.com/auth"
)

// memory is a transport that responds without a connection.
type memory func(*http.Request) (*http.Response, error)

func (f memory) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := f(r)
	if err == nil {
		response.Request = r
	}
	if r.Body != nil {
		_, _ = io.Copy(io.Discard, r.Body)
		_ = r.Body.Close()
	}
	return response, err
}

// memoryClient returns a client without retries, to whose requests f responds.
func memoryClient(t *testing.T, f memory, opts ...forge.Option) *forge.Client {
	t.Helper()
	opts = append([]forge.Option{forge.WithToken("secret-token"), forge.WithHTTPClient(&http.Client{Transport: f}), forge.WithRetry(forge.RetryPolicy{MaxAttempts: 1})}, opts...)
	client, err := forge.NewClient("https://forge.example.com", opts...)
	require.NoError(t, err)
	return client
}

// silentClient returns a client that must not send a request.
func silentClient(t *testing.T, opts ...forge.Option) *forge.Client {
	t.Helper()
	return memoryClient(t, func(*http.Request) (*http.Response, error) {
		t.Error("a request was sent")
		return jsonResponse(http.StatusTeapot, ""), nil
	}, opts...)
}

// jsonClient returns a client that gets the JSON text in every response.
func jsonClient(t *testing.T, body string) *forge.Client {
	t.Helper()
	return memoryClient(t, func(*http.Request) (*http.Response, error) { return jsonResponse(http.StatusOK, body), nil })
}

func jsonResponse(status int, body string) *http.Response {
	header := http.Header{"Content-Type": {"application/json"}}
	return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader(body))}
}
