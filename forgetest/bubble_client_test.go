package forgetest_test

import (
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/forgetest"
	"github.com/forge-sdk/forge-go/internal/pipenet"
)

// In a bubble of testing/synctest the waits that a server requests take no real time.
func TestInsideABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := pipenet.Listen()
		srv := forgetest.New(t, forgetest.WithListener(network))
		srv.AddProject("group/app").AddIssues(3, nil)
		srv.Fail("GET /issues", forgetest.TooManyRequests(30*time.Second).Times(1))
		client := srv.Client(forge.WithHTTPClient(&http.Client{
			Transport: &http.Transport{DialContext: network.DialContext},
		}))
		defer client.CloseIdleConnections()

		start := time.Now()
		issues, err := forge.Collect(client.Issues.List(t.Context(), nil))
		require.NoError(t, err)
		assert.Len(t, issues, 3)
		assert.GreaterOrEqual(t, time.Since(start), 30*time.Second)
		assert.Equal(t, "http://127.0.0.1:80", srv.URL)
	})
}

// The server's URLs and links follow WithExternalURL, and the http.Server can be changed before it
// serves.
func TestURLAndHTTPServer(t *testing.T) {
	network := pipenet.Listen()
	var seen []string
	srv := forgetest.New(t, forgetest.WithExternalURL("https://forge.test/"), forgetest.WithPrefix("sub"),
		forgetest.WithListener(network), forgetest.WithHTTPServer(func(s *http.Server) {
			next := s.Handler
			s.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				seen = append(seen, r.URL.Path)
				next.ServeHTTP(w, r)
			})
		}))
	assert.Equal(t, "https://forge.test/sub", srv.URL)
	assert.Equal(t, "https://forge.test", srv.RegistryURL)
	srv.AddProject("group/app").AddIssues(3, nil)

	client := &http.Client{Transport: &http.Transport{DialContext: network.DialContext}}
	defer client.CloseIdleConnections()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1/sub/api/v4/issues?per_page=1", nil)
	require.NoError(t, err)
	request.Header.Set("PRIVATE-TOKEN", srv.Token)
	resp, err := client.Do(request)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	assert.Equal(t, []string{"/sub/api/v4/issues"}, seen)
	assert.Contains(t, resp.Header.Get("Link"), "<https://forge.test/sub/api/v4/issues?")
}

// The handler of an added route waits in virtual time, also between the parts of a stream.
func TestHandleInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := pipenet.Listen()
		srv := forgetest.New(t, forgetest.WithListener(network))
		srv.Handle("GET /jobs", func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(20 * time.Second)
			w.Header().Set("Content-Type", "application/json")
			_, err := w.Write([]byte("["))
			assert.NoError(t, err)
			w.(http.Flusher).Flush()
			time.Sleep(20 * time.Second)
			_, err = w.Write([]byte("]"))
			assert.NoError(t, err)
		})
		transport := &http.Transport{DialContext: network.DialContext}
		defer transport.CloseIdleConnections()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, srv.URL+"/api/v4/jobs", nil)
		require.NoError(t, err)
		request.Header.Set("PRIVATE-TOKEN", srv.Token)
		start := time.Now()
		response, err := transport.RoundTrip(request)
		require.NoError(t, err)
		assert.Equal(t, 20*time.Second, time.Since(start))
		body, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		assert.Equal(t, "[]", string(body))
		assert.Equal(t, 40*time.Second, time.Since(start))
	})
}
