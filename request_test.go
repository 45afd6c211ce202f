package forge

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// silentServer returns a client of a server that must not receive a request.
func silentServer(t *testing.T) *Client {
	t.Helper()
	var requests atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { requests.Add(1) }))
	t.Cleanup(func() {
		srv.Close()
		assert.Zero(t, requests.Load(), "something was sent")
	})
	return onceClient(t, srv.URL)
}

// refused checks the refusal of a call.
func refused(t *testing.T, err error, option, param string) {
	t.Helper()
	var invalid *ValidationError
	require.ErrorAs(t, err, &invalid)
	assert.Equal(t, option, invalid.Option, "%s", err)
	assert.Equal(t, param, invalid.Param, "%s", err)
	assert.NotEmpty(t, invalid.Reason)
	assert.Contains(t, err.Error(), "nothing was sent")
}

// The reason is the useful part of the error of package regexp, the same in every Go release.
func TestRE2(t *testing.T) {
	require.NoError(t, isRE2("name_regex", "v.+|[0-9]*"))
	assert.EqualError(t, isRE2("name_regex", "a(?!b)"), "forge: name_regex: it is not an RE2 pattern: invalid or unsupported Perl syntax: `(?!`; nothing was sent")
}
