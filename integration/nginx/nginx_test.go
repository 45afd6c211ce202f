// Package nginx tests the client through a real nginx, as a reverse proxy in front of a server.
package nginx

import (
	"bytes"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/forgetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	passed   = "location / { proxy_pass http://$UPSTREAM; }"
	addSpent = "POST /projects/:id/issues/:issue_iid/add_spent_time"
	stats    = "GET /projects/:id/issues/:issue_iid/time_stats"
	uploads  = "POST /projects/:project_id/secure_files"
)

var app = forge.Path("group/app")

// connect returns a client of an address with short waits, and with its own connections.
func connect(t *testing.T, baseURL string, transport *http.Transport, options ...forge.Option) *forge.Client {
	t.Helper()
	client, err := forge.NewClient(baseURL, append([]forge.Option{
		forge.WithHTTPClient(&http.Client{Transport: transport}),
		forge.WithRetry(forge.RetryPolicy{MinWait: time.Millisecond, MaxWait: 5 * time.Millisecond}),
	}, options...)...)
	require.NoError(t, err)
	t.Cleanup(client.CloseIdleConnections)
	return client
}

// place is a server with a project that has an issue, nginx in front of it, and a client of nginx.
type place struct {
	srv    *forgetest.Server
	app    *forgetest.Project
	nginx  *server
	client *forge.Client
}

func build(t *testing.T, c config) *place {
	t.Helper()
	p := &place{srv: forgetest.New(t)}
	p.app = p.srv.AddProject("group/app")
	p.app.AddIssue(nil)
	p.nginx = start(t, p.srv.URL, c)
	p.client = connect(t, p.nginx.url, p.nginx.transport(), forge.WithToken(p.srv.Token))
	return p
}

func read(t *testing.T, c *forge.Client) error {
	_, err := c.Issues.GetTimeStats(t.Context(), app, 1)
	return err
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
	p := build(t, config{server: passed})
	p.srv.Close()
	err := read(t, p.client)
	requireFailure(t, err, http.StatusBadGateway, 4, false)
	assert.ErrorContains(t, err, "an HTML page titled 502 Bad Gateway")
	requireFailure(t, spend(t, p.client), http.StatusBadGateway, 1, true)
	assert.Len(t, p.nginx.log(t), 5)
}

// A server that needs longer than the timeout of nginx has executed the write in spite of the 504.
// A non-idempotent call is not sent again: it has one effect, and MaybeApplied reports that it may
// have one.
func TestServerSlow(t *testing.T) {
	p := build(t, config{server: "proxy_read_timeout 200ms;" + passed})
	p.srv.Fail(stats, forgetest.HeaderDelay(time.Minute))
	p.srv.Fail(addSpent, forgetest.HeaderDelay(time.Minute))
	requireFailure(t, read(t, p.client), http.StatusGatewayTimeout, 4, false)
	p.srv.AssertRequestCount(t, stats, 4)
	requireFailure(t, spend(t, p.client), http.StatusGatewayTimeout, 1, true)
	p.srv.AssertRequestCount(t, addSpent, 1)
	p.srv.AssertAppliedCount(t, addSpent, 1)
}

// An upload that is too large for nginx is refused with 413 while it is still being sent. The
// caller gets this response, and never the broken pipe of the connection that nginx closes. Nothing
// is sent again.
func TestUploadTooLarge(t *testing.T) {
	for _, test := range []struct {
		name, lingering string
		tls             bool
	}{
		{"reads on for a while", "on", false},
		{"closes at once", "off", false},
		{"closes at once, HTTP/2", "off", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := build(t, config{tls: test.tls, server: "client_max_body_size 1m; lingering_close " + test.lingering + ";" + passed})
			content := bytes.Repeat([]byte("x"), 3<<20)
			for range 50 {
				_, err := p.client.SecureFiles.Upload(t.Context(), app, &forge.UploadSecureFileOptions{Name: "big", File: forge.FileBytes(content)})
				requireFailure(t, err, http.StatusRequestEntityTooLarge, 1, false)
			}
			p.srv.AssertNoRequest(t)
		})
	}
}
