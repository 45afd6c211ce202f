package toxiproxy

import (
	"bytes"
	"context"
	"math/rand/v2"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/forgetest"
	"github.com/forge-sdk/forge-go/integration/internal/toxitest"
)

// Toxiproxy does not end the goroutine that reads a link when its toxic has closed the other end.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		goleak.IgnoreAnyFunction("github.com/Shopify/toxiproxy/v2/toxics.(*ToxicStub).Run"),
		goleak.IgnoreAnyFunction("github.com/Shopify/toxiproxy/v2.(*ToxicLink).read"))
}

const (
	issues      = 250
	estimate    = "POST /projects/:id/issues/:issue_iid/time_estimate"
	subscribe   = "POST /projects/:id/issues/:issue_iid/subscribe"
	spend       = "POST /projects/:id/issues/:issue_iid/add_spent_time"
	secureFiles = "POST /projects/:project_id/secure_files"
	update      = "PUT /projects/:id/resource_groups/:key"
)

// setup is a server, a proxy in front of it, and a client of the proxy.
type setup struct {
	*testing.T
	server  *forgetest.Server
	project *forgetest.Project
	proxy   *toxitest.Proxy
	client  *forge.Client
	direct  *forge.Client // without the proxy
	content []byte
	file    *forge.SecureFile

	attempts atomic.Int32
}

// newSetup starts all three. With heal the toxics are removed before the second attempt.
func newSetup(t *testing.T, heal bool, toxics ...toxitest.Toxic) *setup {
	t.Helper()
	s := &setup{T: t, server: forgetest.New(t)}
	s.project = s.server.AddProject("group/app")
	s.project.AddIssues(issues, nil)
	s.project.AddResourceGroup("production")
	s.content = make([]byte, 300<<10)
	for i := range s.content {
		s.content[i] = byte(rand.Uint32())
	}
	s.project.AddSecureFile("key.bin", s.content, nil)
	s.direct = s.server.Client()
	files, err := forge.Collect(s.direct.SecureFiles.List(t.Context(), s.ref()))
	require.NoError(t, err)
	s.file = files[0]

	s.proxy, err = toxitest.Start(s.server.URL, toxics...)
	require.NoError(t, err)
	transport := &http.Transport{}
	s.client, err = forge.NewClient(s.proxy.URL(), forge.WithToken(s.server.Token),
		forge.WithHTTPClient(&http.Client{Transport: transport}),
		forge.WithRetry(forge.RetryPolicy{MinWait: time.Millisecond, MaxWait: 2 * time.Millisecond}),
		forge.WithLimiter(limiter(func() error {
			if s.attempts.Add(1) == 2 && heal {
				return s.proxy.Become()
			}
			return nil
		})))
	require.NoError(t, err)
	t.Cleanup(func() {
		s.client.CloseIdleConnections()
		s.direct.CloseIdleConnections()
		s.proxy.Close()
	})
	return s
}

// limiter is called for each attempt.
type limiter func() error

// Wait never waits.
func (l limiter) Wait(context.Context) error { return l() }

func (s *setup) ref() forge.Ref { return forge.ID(s.project.ID) }

// files returns the contents that the server has under a name.
func (s *setup) files(name string) (contents [][]byte) {
	s.Helper()
	files, err := forge.Collect(s.direct.SecureFiles.List(s.Context(), s.ref()))
	require.NoError(s, err)
	for _, file := range files {
		if file.Name != name {
			continue
		}
		download, err := s.direct.SecureFiles.Download(s.Context(), s.ref(), file)
		require.NoError(s, err)
		var content bytes.Buffer
		_, err = content.ReadFrom(download)
		require.NoError(s, err)
		require.NoError(s, download.Close())
		contents = append(contents, content.Bytes())
	}
	return contents
}
