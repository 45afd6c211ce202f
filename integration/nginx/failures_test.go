package nginx

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/forgetest"
	"github.com/forge-sdk/forge-go/integration/internal/nginxtest"
)

// classes are calls of each retry class, and how often the client sends a call for which nginx
// responds 502 or 504.
var classes = []struct {
	name     string
	call     func(*testing.T, *forge.Client) error
	route    string
	attempts int
}{
	{"safe", func(t *testing.T, c *forge.Client) error {
		_, err := c.Issues.GetTimeStats(t.Context(), app, 1)
		return err
	}, stats, 4},
	{"idempotent", func(t *testing.T, c *forge.Client) error {
		_, err := c.Issues.SetTimeEstimate(t.Context(), app, 1, &forge.SetTimeEstimateOptions{Duration: forge.WorkDuration(time.Hour)})
		return err
	}, estimate, 4},
	{"once", spend, addSpent, 1},
}

func spend(t *testing.T, c *forge.Client) error {
	_, err := c.Issues.AddSpentTime(t.Context(), app, 1, &forge.AddSpentTimeOptions{Duration: forge.WorkDuration(time.Hour)})
	return err
}

// requireFailure checks the error for an HTML page of nginx, and that the error does not contain
// the page.
func requireFailure(t *testing.T, err error, status, attempts int, maybeApplied bool) {
	t.Helper()
	var failed *forge.Error
	require.ErrorAs(t, err, &failed)
	assert.Equal(t, status, failed.Status)
	assert.Equal(t, attempts, failed.Attempts)
	assert.Equal(t, maybeApplied, failed.MaybeApplied)
	assert.NotContains(t, err.Error(), "<")
	assert.Less(t, len(err.Error()), 300)
}

// For a server that is down nginx sends a 502 with an HTML page. The call is retried by its class,
// and the error never contains HTML.
func TestServerDown(t *testing.T) {
	for _, class := range classes {
		t.Run(class.name, func(t *testing.T) {
			p := build(t, nginxtest.Config{Server: passed})
			p.srv.Close()
			err := class.call(t, p.client)
			require.ErrorIs(t, err, forge.ErrServer)
			requireFailure(t, err, http.StatusBadGateway, class.attempts, class.name != "safe")
			assert.ErrorContains(t, err, "an HTML page titled 502 Bad Gateway")
			p.nginx.Stop()
			assert.Len(t, p.nginx.AccessLog(), class.attempts)
		})
	}
}

// A server that needs longer than the timeout of nginx has executed the write in spite of the 504.
// A non-idempotent call is not sent again: it has one effect, and MaybeApplied reports that it may
// have one.
func TestServerSlow(t *testing.T) {
	for _, class := range classes {
		t.Run(class.name, func(t *testing.T) {
			p := build(t, nginxtest.Config{Server: "proxy_read_timeout 200ms;" + passed})
			p.srv.Fail(class.route, forgetest.HeaderDelay(time.Minute))
			err := class.call(t, p.client)
			require.ErrorIs(t, err, forge.ErrServer)
			requireFailure(t, err, http.StatusGatewayTimeout, class.attempts, class.name != "safe")
			p.srv.AssertRequestCount(t, class.route, class.attempts)
			if class.name == "once" {
				p.srv.AssertAppliedCount(t, class.route, 1)
			}
		})
	}
}

// A call that may be retried succeeds after a 502 for a server that resets connections. Other calls
// are sent once.
func TestServerResets(t *testing.T) {
	for _, class := range classes {
		t.Run(class.name, func(t *testing.T) {
			p := build(t, nginxtest.Config{Server: passed})
			p.srv.Fail(class.route, forgetest.DropResponse().Times(2))
			err := class.call(t, p.client)
			if class.name == "once" {
				requireFailure(t, err, http.StatusBadGateway, 1, true)
				p.srv.AssertAppliedCount(t, class.route, 1)
				return
			}
			require.NoError(t, err)
			p.srv.AssertRequestCount(t, class.route, 3)
		})
	}
}

// If nginx itself requires a password, it sends a 401 with an HTML page. The call is not retried,
// and the error does not contain the token.
func TestPasswordOfNginx(t *testing.T) {
	p := build(t, nginxtest.Config{Server: `auth_basic "staff only"; auth_basic_user_file users;` + passed})
	for _, class := range classes {
		err := class.call(t, p.client)
		require.ErrorIs(t, err, forge.ErrUnauthorized)
		requireFailure(t, err, http.StatusUnauthorized, 1, false)
		assert.ErrorContains(t, err, "401 Authorization Required")
		assert.NotContains(t, err.Error(), p.srv.Token)
	}
	p.srv.AssertNoRequest(t)
}

// If nginx redirects an http address to https, reads and writes fail with an error that names the
// new address, and the token is not sent there. A download follows the redirect without the token.
func TestRedirectToHTTPS(t *testing.T) {
	var mu sync.Mutex
	var headers []http.Header
	target := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		headers = append(headers, r.Header.Clone())
		_, _ = w.Write([]byte("archive"))
	}))
	t.Cleanup(target.Close)
	p := build(t, nginxtest.Config{Server: "location / { return 301 " + target.URL + "$request_uri; }"})
	for _, class := range classes {
		err := class.call(t, p.client)
		require.ErrorIs(t, err, forge.ErrRedirect)
		assert.ErrorContains(t, err, target.URL)
		assert.ErrorContains(t, err, "pass that address to NewClient")
		requireFailure(t, err, http.StatusMovedPermanently, 1, false)
	}
	assert.Empty(t, headers)

	transport := target.Client().Transport.(*http.Transport).Clone()
	client := connect(t, p.nginx.URL, transport, forge.WithToken(p.srv.Token))
	archive, err := client.Repositories.Archive(t.Context(), app, nil, forge.Sudo(1))
	require.NoError(t, err)
	defer archive.Close()
	assert.Equal(t, "archive", string(readAll(t, archive)))
	require.Len(t, headers, 1)
	for name, values := range headers[0] {
		assert.NotContains(t, []string{"Private-Token", "Authorization", "Sudo", "Cookie"}, name)
		for _, value := range values {
			assert.NotContains(t, value, p.srv.Token)
		}
	}
}
