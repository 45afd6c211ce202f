// Package nginx tests the client through a real nginx, as a reverse proxy in front of a server.
package nginx

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/forgetest"
	"github.com/forge-sdk/forge-go/integration/internal/nginxtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// impatient is the default retry policy with short waits.
var impatient = forge.RetryPolicy{MinWait: time.Millisecond, MaxWait: 5 * time.Millisecond}

const (
	passed   = "location / { proxy_pass http://$UPSTREAM; }"
	addSpent = "POST /projects/:id/issues/:issue_iid/add_spent_time"
	estimate = "POST /projects/:id/issues/:issue_iid/time_estimate"
	stats    = "GET /projects/:id/issues/:issue_iid/time_stats"
	uploads  = "POST /projects/:project_id/secure_files"
)

// proxy starts nginx in front of an address, for which the directives have $UPSTREAM.
func proxy(t *testing.T, upstream string, config nginxtest.Config) *nginxtest.Server {
	t.Helper()
	upstream = strings.TrimPrefix(upstream, "http://")
	config.HTTP = strings.ReplaceAll(config.HTTP, "$UPSTREAM", upstream)
	config.Server = strings.ReplaceAll(config.Server, "$UPSTREAM", upstream)
	return nginxtest.New(t, config)
}

// connect returns a client of an address, with its own connections.
func connect(t *testing.T, baseURL string, transport *http.Transport, options ...forge.Option) *forge.Client {
	t.Helper()
	client, err := forge.NewClient(baseURL, append([]forge.Option{
		forge.WithHTTPClient(&http.Client{Transport: transport}), forge.WithRetry(impatient),
	}, options...)...)
	require.NoError(t, err)
	t.Cleanup(client.CloseIdleConnections)
	return client
}

// place is a server with a project that has three issues, nginx in front of it, and a client of
// nginx.
type place struct {
	srv    *forgetest.Server
	app    *forgetest.Project
	nginx  *nginxtest.Server
	client *forge.Client
}

func build(t *testing.T, config nginxtest.Config, options ...forge.Option) *place {
	t.Helper()
	p := &place{srv: forgetest.New(t)}
	p.app = p.srv.AddProject("group/app")
	p.app.AddIssues(3, nil)
	p.nginx = proxy(t, p.srv.URL, config)
	p.client = connect(t, p.nginx.URL, p.nginx.Transport(), append([]forge.Option{forge.WithToken(p.srv.Token)}, options...)...)
	return p
}

var app = forge.Path("group/app")
