package forge

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/forge-sdk/forge-go/internal/catalogue"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRepositories(t *testing.T) {
	ctx, app, sha := t.Context(), Path("group/app"), strings.Repeat("f", 40)
	const repository = "/projects/group%2Fapp/repository"
	runCalls(t, []callRow{
		{"GET " + repository + "/tree", "pagination=keyset&per_page=100", "", "repositories/tree.json", func(c *Client) (any, error) { return Collect(c.Repositories.ListTree(ctx, app, nil)) }},
		{"GET " + repository + "/tree", "page_token=ffff&pagination=keyset&path=docs%2Fa+b&per_page=100", "", "repositories/tree_2.json", func(c *Client) (any, error) {
			return Collect(c.Repositories.ListTree(ctx, app, &ListTreeOptions{Path: "docs/a b", PageToken: "ffff"}))
		}},
		{"GET " + repository + "/tree", "pagination=keyset&per_page=100", "", `404 {"message":"404 Tree Not Found"}`, func(c *Client) (any, error) { return Collect(c.Repositories.ListTree(ctx, app, nil)) }},
		{"GET " + repository + "/compare", "from=main&to=feature%2Fx", "", "repositories/compare.json", func(c *Client) (any, error) {
			return c.Repositories.Compare(ctx, app, &CompareOptions{From: "main", To: "feature/x"})
		}},
		{"GET " + repository + "/compare", "from=main&to=main", "", "repositories/comparison_same.json", func(c *Client) (any, error) {
			return c.Repositories.Compare(ctx, app, &CompareOptions{From: "main", To: "main"})
		}},
		{"GET " + repository + "/merge_base", "refs[]=main&refs[]=v1&refs[]=v2", "", "repositories/merge_base.json", func(c *Client) (any, error) {
			return c.Repositories.GetMergeBase(ctx, app, &GetMergeBaseOptions{Refs: []string{"main", "v1", "v2"}})
		}},
		{"GET " + repository + "/merge_base", "refs[]=main", "", `400 {"message":"400 Bad request"}`, func(c *Client) (any, error) {
			return c.Repositories.GetMergeBase(ctx, app, &GetMergeBaseOptions{Refs: []string{"main"}}, SkipValidation())
		}},
		{"POST " + repository + "/changelog", "", `{"version":"1.0.0"}`, "200 200", func(c *Client) (any, error) {
			return nil, c.Repositories.CreateChangelog(ctx, app, &CreateChangelogOptions{Version: "1.0.0"})
		}},
		{"POST " + repository + "/changelog", "", `{"version":"1.0.0"}`, "201", func(c *Client) (any, error) {
			return nil, c.Repositories.CreateChangelog(ctx, app, &CreateChangelogOptions{Version: "1.0.0"})
		}},
		{"GET " + repository + "/changelog", "version=1.0.0", "", "repositories/generate_changelog.json", func(c *Client) (any, error) {
			return c.Repositories.GenerateChangelog(ctx, app, &GenerateChangelogOptions{Version: "1.0.0"})
		}},
	})
	c := serve(t,
		exchange{sent: "GET /projects/42/repository/blobs/" + sha + "/raw", answer: "\x00raw", header: map[string]string{"Content-Type": "application/octet-stream"}},
		exchange{sent: "GET /projects/42/repository/archive.tar.gz", query: "exclude_paths[]=docs&exclude_paths[]=a%2Cb", answer: "tar", header: map[string]string{"Content-Disposition": `attachment; filename="app.tar.gz"`}})
	blob, err := c.Repositories.DownloadBlob(ctx, ID(42), sha)
	require.NoError(t, err)
	assert.Equal(t, "\x00raw", readDownload(t, blob))
	archive, err := c.Repositories.Archive(ctx, ID(42), &ArchiveOptions{Format: ArchiveFormatTarGz, ExcludePaths: []string{"docs", "a,b"}})
	require.NoError(t, err)
	assert.Equal(t, "tar app.tar.gz", readDownload(t, archive)+" "+archive.Name)
	_, err = c.Repositories.GetMergeBase(ctx, ID(42), &GetMergeBaseOptions{Refs: []string{"main"}})
	assertRefused(t, err, "GetMergeBaseOptions.Refs", "refs[]")
}

// TestArchiveFormats compares the constants with the catalogue.
func TestArchiveFormats(t *testing.T) {
	assert.ElementsMatch(t, []any{string(ArchiveFormatBz2), string(ArchiveFormatTar), string(ArchiveFormatTarBz2), string(ArchiveFormatTarGz), string(ArchiveFormatTB2), string(ArchiveFormatTBZ), string(ArchiveFormatTBZ2), string(ArchiveFormatZip)},
		catalogue.Endpoints()["repositories.archive"].PathParams[1].Enum)
}

func readDownload(t *testing.T, d *Download) string {
	t.Helper()
	content, err := io.ReadAll(d)
	require.NoError(t, err)
	require.NoError(t, d.Close())
	return string(content)
}

// moment returns a time in a zone whose offset has a plus sign.
func moment() time.Time {
	return time.Date(2026, time.March, 4, 9, 30, 0, 0, time.FixedZone("", 2*60*60))
}
