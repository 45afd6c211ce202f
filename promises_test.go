package forge

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A call that waits because the server has asked for it says so in the log, at info level.
func TestLogWait(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"id":1}`))
	}))
	defer srv.Close()
	var out bytes.Buffer
	client, err := NewClient(srv.URL, WithLogger(slog.New(slog.NewTextHandler(&out, nil))))
	require.NoError(t, err)
	call := func() {
		_, err := client.Namespaces.Get(t.Context(), ID(1))
		require.NoError(t, err)
	}
	call()
	assert.NotContains(t, out.String(), "forge: wait")
	route, _ := findRoute("GET", "/namespaces/:id")
	client.guard.hold(&request{client: client, route: route}, time.Now().Add(30*time.Millisecond))
	call()
	assert.Contains(t, out.String(), `msg="forge: wait"`)
}

// Printing a client gives its address, and does not read what its calls are using.
func TestClientString(t *testing.T) {
	client, err := NewClient("https://forge.example.com", WithToken("access-token-1"))
	require.NoError(t, err)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		assert.Equal(t, "forge.Client(https://forge.example.com/api/v4)", fmt.Sprintf(verb, client), verb)
	}
}

// A caller's plain transport speaks HTTP/2, as it would without the library's limits.
func TestPlainTransportKeepsHTTP2(t *testing.T) {
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"id":%d}`, r.ProtoMajor)
	}))
	srv.EnableHTTP2 = true
	srv.StartTLS()
	defer srv.Close()
	given := &http.Transport{}
	transport := limited(given)
	assert.True(t, transport.ForceAttemptHTTP2)
	assert.False(t, given.ForceAttemptHTTP2, "the caller's own is not changed")
	off := limited(&http.Transport{TLSNextProto: map[string]func(string, *tls.Conn) http.RoundTripper{}})
	assert.False(t, off.ForceAttemptHTTP2, "a caller who has switched it off keeps it off")
	transport.TLSClientConfig.RootCAs = srv.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	client, err := NewClient(srv.URL, WithHTTPClient(&http.Client{Transport: transport}))
	require.NoError(t, err)
	defer client.CloseIdleConnections()
	namespace, err := client.Namespaces.Get(t.Context(), ID(1))
	require.NoError(t, err)
	assert.EqualValues(t, 2, namespace.ID)
}
