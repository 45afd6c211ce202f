package nginx

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go"
)

// Addresses reach the server unchanged, with every setting of nginx for slashes, if proxy_pass has
// no path.
func TestPathsPassUnchanged(t *testing.T) {
	for _, slashes := range []string{"on", "off"} {
		t.Run("merge_slashes "+slashes, func(t *testing.T) {
			p := build(t, config{server: "merge_slashes " + slashes + ";" + passed})
			p.app.AddFiles(map[string]string{"docs/ä b.txt": "hello"})
			p.app.AddResourceGroup("prod/eu west")
			for _, client := range []*forge.Client{p.srv.Client(), p.client} {
				require.NoError(t, read(t, client))
				group, err := client.ResourceGroups.Get(t.Context(), app, "prod/eu west")
				require.NoError(t, err)
				assert.Equal(t, "prod/eu west", group.Key)
				files, err := forge.Collect(client.Repositories.ListTree(t.Context(), app, &forge.ListTreeOptions{Path: "docs"}))
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
	var paths []string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		paths = append(paths, r.URL.EscapedPath())
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path != "/api/v4/projects/1/issues/1/time_stats" {
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, `{"error":"404 Not Found"}`) // of GitLab, for a path without a route
			return
		}
		_, _ = io.WriteString(w, "{}")
	}))
	t.Cleanup(srv.Close)
	front := start(t, srv.URL, config{server: "location /api/ { proxy_pass http://$UPSTREAM/api/; }"})
	transport := front.transport() // with a host name: the hint is not for addresses of this machine
	transport.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, strings.TrimPrefix(front.url, "http://"))
	}
	client := connect(t, "http://gitlab.example.com", transport, forge.WithToken("token-0123456789"), forge.WithPlainHTTP())
	err := read(t, client)
	require.ErrorIs(t, err, forge.ErrNotFound)
	assert.ErrorContains(t, err, "forge.ID", "the way out")
	_, err = client.Issues.GetTimeStats(t.Context(), forge.ID(1), 1)
	require.NoError(t, err)
	assert.Equal(t, "/api/v4/projects/group/app/issues/1/time_stats", paths[0])
}
