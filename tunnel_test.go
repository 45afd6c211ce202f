package forge

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A proxy that does not connect is named in the error, and asked again where that may help: nothing was sent, so for every class.
func TestTunnelRefused(t *testing.T) {
	for _, test := range []struct {
		status, attempts int
		says             string
	}{
		{407, 1, "the proxy answered 407 Proxy Authentication Required: check the user and password"},
		{403, 1, "the proxy answered 403 Forbidden"},
		{429, 4, "the proxy answered 429 Too Many Requests"},
		{502, 4, "the proxy answered 502 Bad Gateway"},
	} {
		proxy := newWire(t, always(say(test.status, "", jsonType)))
		address, err := url.Parse(proxy.url)
		require.NoError(t, err)
		c := wireClient(t, "https://forge.example.com", WithHTTPClient(&http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(address)}}))
		err = c.Do(t.Context(), callOf(once), nil)
		var failed *Error
		require.ErrorAs(t, err, &failed)
		assert.ErrorContains(t, err, test.says)
		assert.Equal(t, test.attempts, failed.Attempts)
		assert.False(t, failed.MaybeApplied)
		assert.Zero(t, failed.Status)
		assert.Len(t, proxy.seen(), test.attempts)
	}
}
