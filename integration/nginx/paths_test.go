package nginx

import (
	"context"
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/forgetest"
	"github.com/forge-sdk/forge-go/integration/internal/nginxtest"
)

// Addresses reach the server unchanged, with every setting of nginx for slashes, if proxy_pass has
// no path.
func TestPathsPassUnchanged(t *testing.T) {
	for _, slashes := range []string{"on", "off"} {
		t.Run("merge_slashes "+slashes, func(t *testing.T) {
			p := build(t, nginxtest.Config{Server: "merge_slashes " + slashes + ";" + passed})
			p.app.AddFiles(map[string]string{"docs/ä b.txt": "hello"})
			p.app.AddResourceGroup("prod/eu west")
			for _, client := range []*forge.Client{p.srv.Client(), p.client} {
				_, err := client.Issues.GetTimeStats(t.Context(), app, 1)
				require.NoError(t, err)
				group, err := client.ResourceGroups.Get(t.Context(), app, "prod/eu west")
				require.NoError(t, err)
				assert.Equal(t, "prod/eu west", group.Key)
				files, err := forge.Collect(client.Repositories.ListTree(t.Context(), app, &forge.TreeOptions{Path: "docs"}))
				require.NoError(t, err)
				require.Len(t, files, 1)
				assert.Equal(t, "docs/ä b.txt", files[0].Path)
			}
			requests := p.srv.Requests()
			require.Len(t, requests, 6)
			for i, direct := range requests[:3] {
				assert.Equal(t, direct.Path, requests[3+i].Path)
				assert.Equal(t, direct.Query, requests[3+i].Query)
			}
			assert.Contains(t, requests[3].Path, "/projects/group%2Fapp/")
		})
	}
}

// With a path in proxy_pass, nginx decodes the address, so the server receives another one. The
// error of the client describes the response, which is not "project not found". The same project is
// found by its id.
func TestPathsDecodedByNginx(t *testing.T) {
	p := build(t, nginxtest.Config{Server: "location /api/ { proxy_pass http://$UPSTREAM/api/; }"})
	transport := p.nginx.Transport() // with a host name: the hint is not for addresses of this machine
	transport.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, strings.TrimPrefix(p.nginx.URL, "http://"))
	}
	p.client = connect(t, "http://gitlab.example.com", transport, forge.WithToken(p.srv.Token), forge.WithPlainHTTP())
	_, err := p.client.Issues.GetTimeStats(t.Context(), app, 1)
	require.ErrorIs(t, err, forge.ErrNotFound)
	assert.Equal(t, "/api/v4/projects/group/app/issues/1/time_stats", p.srv.Requests()[0].Path)
	assert.ErrorContains(t, err, "forge.ID", "the way out")

	_, err = p.client.Issues.GetTimeStats(t.Context(), forge.ID(p.app.ID), 1)
	require.NoError(t, err)
}

// A server below a path prefix of a shared host; nginx keeps the prefix or removes it. The hosts of
// the links, and without the prefix their paths, cannot be reached by the client, but it can follow
// the links.
func TestPathPrefix(t *testing.T) {
	for name, test := range map[string]struct {
		server   string
		location string
	}{
		"kept":    {"/forge", "location /forge/ { proxy_pass http://$UPSTREAM; }"},
		"cut off": {"", "location /forge/ { proxy_pass http://$UPSTREAM/; }"},
	} {
		t.Run(name, func(t *testing.T) {
			srv := forgetest.New(t, forgetest.WithPrefix(test.server))
			srv.SetLinkOrigin("https://internal.example:8443")
			project := srv.AddProject("group/app")
			project.AddIssues(250, nil)
			upstream := strings.TrimSuffix(srv.URL, test.server)
			front := proxy(t, upstream, nginxtest.Config{Server: test.location})
			for _, base := range []string{"/forge", "/forge/", "/forge/api/v4"} {
				client := connect(t, front.URL+base, front.Transport(), forge.WithToken(srv.Token))
				for _, ahead := range []int{0, 4} {
					issues, err := forge.Collect(client.Issues.List(t.Context(), &forge.ListIssuesOptions{Scope: forge.ScopeAll}, forge.Ahead(ahead)))
					require.NoError(t, err)
					assert.Len(t, issues, 250)
				}
			}
		})
	}
}

// A query that is too long for nginx is a 414 immediately, with a hint, for a single page and in a
// list.
func TestLongQuery(t *testing.T) {
	p := build(t, nginxtest.Config{Server: "large_client_header_buffers 2 1k;" + passed})
	options := &forge.ListIssuesOptions{Scope: forge.ScopeAll, Search: strings.Repeat("x", 2000)}
	_, err := forge.Collect(p.client.Issues.List(t.Context(), options))
	require.ErrorIs(t, err, forge.ErrURITooLong)
	var failed *forge.Error
	require.ErrorAs(t, err, &failed)
	assert.Equal(t, 1, failed.Attempts)
	assert.ErrorContains(t, err, "use fewer or shorter filters")
	assert.NotContains(t, err.Error(), "<")
	p.srv.AssertNoRequest(t)

	options.Search = "x"
	_, err = forge.Collect(p.client.Issues.List(t.Context(), options))
	require.NoError(t, err, "later calls succeed")
}
