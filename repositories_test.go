package forge

import (
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRepositories(t *testing.T) {
	app, sha := Path("group/app"), strings.Repeat("f", 40)
	runScenarios(t, []scenario{
		{
			name: "tree, keyset by default, following the links",
			exchanges: []exchange{
				{
					sent: "GET /projects/group%2Fapp/repository/tree", query: "pagination=keyset&per_page=100", answer: "repositories/tree.json",
					header: map[string]string{"Link": `<https://inner.example.com/api/v4/projects/42/repository/tree?id=42&page_token=ffff&pagination=keyset&per_page=100>; rel="next"`},
				},
				{sent: "GET /projects/group%2Fapp/repository/tree", query: "page_token=ffff&pagination=keyset&per_page=100", answer: "repositories/tree_2.json"},
			},
			run: func(t *testing.T, c *Client) {
				entries, err := Collect(c.Repositories.ListTree(t.Context(), app, nil))
				require.NoError(t, err)
				require.Len(t, entries, 3)
				assertWhole(t, "repositories/tree.json", entries[:2])
				assertWhole(t, "repositories/tree_2.json", entries[2:])
				assert.Equal(t, []TreeEntryType{TreeEntryTree, TreeEntryBlob}, []TreeEntryType{entries[0].Type, entries[1].Type})
			},
		},
		{
			name: "tree with all options",
			exchanges: []exchange{{
				sent: "GET /projects/42/repository/tree", query: "page_token=ffff&pagination=keyset&path=docs%2Fa+b&per_page=100&recursive=false&ref=feature%2Fx",
				status: 404, answer: `{"message":"404 Tree Not Found"}`,
			}},
			run: func(t *testing.T, c *Client) {
				_, err := Collect(c.Repositories.ListTree(t.Context(), ID(42), &TreeOptions{Path: "docs/a b", Ref: "feature/x", Recursive: new(false), PageToken: "ffff"}))
				require.ErrorIs(t, err, ErrNotFound)
			},
		},
		{
			name:      "blob, its Base64 undone over line breaks, with + and /",
			exchanges: []exchange{{sent: "GET /projects/42/repository/blobs/" + sha, answer: "repositories/blob.json"}},
			run: func(t *testing.T, c *Client) {
				blob, err := c.Repositories.GetBlob(t.Context(), ID(42), sha)
				require.NoError(t, err)
				assertWhole(t, "repositories/blob.json", blob)
				assert.True(t, strings.HasPrefix(string(blob.Content), "package forge\n"))
				assert.Len(t, blob.Content, int(blob.Size))
			},
		},
		{
			name: "raw blob",
			exchanges: []exchange{{
				sent: "GET /projects/42/repository/blobs/" + sha + "/raw", answer: "\x00raw",
				header: map[string]string{"Content-Type": "application/octet-stream"},
			}},
			run: func(t *testing.T, c *Client) {
				blob, err := c.Repositories.DownloadBlob(t.Context(), ID(42), sha)
				require.NoError(t, err)
				assert.Equal(t, "\x00raw", readDownload(t, blob))
				assert.EqualValues(t, 4, blob.Size)
			},
		},
		{
			name: "archive without options",
			exchanges: []exchange{{
				sent: "GET /projects/group%2Fapp/repository/archive", answer: "tar",
				header: map[string]string{"Content-Type": "application/gzip", "Content-Disposition": `attachment; filename="app-main.tar.gz"`},
			}},
			run: func(t *testing.T, c *Client) {
				archive, err := c.Repositories.Archive(t.Context(), app, nil)
				require.NoError(t, err)
				assert.Equal(t, "tar", readDownload(t, archive))
				assert.Equal(t, "app-main.tar.gz", archive.Name)
			},
		},
		{
			name: "archive with all options; a comma in a path is safe",
			exchanges: []exchange{
				{
					sent:  "GET /projects/42/repository/archive.tar.gz",
					query: "exclude_paths[]=docs&exclude_paths[]=a%2Cb&include_lfs_blobs=false&path=src%2Fmain&sha=feature%2Fx", answer: "tar",
				},
				{sent: "GET /projects/42/repository/archive", query: "exclude_paths=docs%2Cvendor", answer: "tar"},
			},
			run: func(t *testing.T, c *Client) {
				archive, err := c.Repositories.Archive(t.Context(), ID(42), &ArchiveOptions{
					Format: TarGz, Path: "src/main", SHA: "feature/x", IncludeLFSBlobs: new(false), ExcludePaths: []string{"docs", "a,b"},
				})
				require.NoError(t, err)
				readDownload(t, archive)
				archive, err = c.Repositories.Archive(t.Context(), ID(42), &ArchiveOptions{}, Query("exclude_paths", "docs,vendor"))
				require.NoError(t, err)
				readDownload(t, archive)
			},
		},
		{
			name: "compare",
			exchanges: []exchange{
				{
					sent: "GET /projects/42/repository/compare", answer: "repositories/comparison.json",
					query: "from=main&from_project_id=7&straight=true&to=feature%2Fx&unidiff=false",
				},
				{sent: "GET /projects/42/repository/compare", query: "from=main&to=main", answer: "repositories/comparison_same.json"},
			},
			run: func(t *testing.T, c *Client) {
				comparison, err := c.Repositories.Compare(t.Context(), ID(42), &CompareOptions{From: "main", To: "feature/x", FromProjectID: 7, Straight: new(true), Unidiff: new(false)})
				require.NoError(t, err)
				assertWhole(t, "repositories/comparison.json", comparison)
				same, err := c.Repositories.Compare(t.Context(), ID(42), &CompareOptions{From: "main", To: "main"})
				require.NoError(t, err)
				assertWhole(t, "repositories/comparison_same.json", same)
				assert.Nil(t, same.Commit)
			},
		},
		{
			name: "contributors",
			exchanges: []exchange{
				{sent: "GET /projects/42/repository/contributors", query: "per_page=100", answer: "repositories/contributors.json"},
				{sent: "GET /projects/42/repository/contributors", query: "order_by=commits&per_page=100&ref=v1&sort=desc", answer: "[]"},
			},
			run: func(t *testing.T, c *Client) {
				contributors, err := Collect(c.Repositories.ListContributors(t.Context(), ID(42), nil))
				require.NoError(t, err)
				assertWhole(t, "repositories/contributors.json", contributors)
				_, err = Collect(c.Repositories.ListContributors(t.Context(), ID(42), &ContributorsOptions{Ref: "v1", OrderBy: ContributorOrderByCommits, Sort: SortDesc}))
				require.NoError(t, err)
			},
		},
		{
			name: "merge base of two refs and of more",
			exchanges: []exchange{
				{sent: "GET /projects/42/repository/merge_base", query: "refs[]=main&refs[]=feature%2Fx", answer: "repositories/merge_base.json"},
				{sent: "GET /projects/42/repository/merge_base", query: "refs[]=main&refs[]=v1&refs[]=v2", answer: "repositories/merge_base.json"},
			},
			run: func(t *testing.T, c *Client) {
				commit, err := c.Repositories.GetMergeBase(t.Context(), ID(42), &MergeBaseOptions{Refs: []string{"main", "feature/x"}})
				require.NoError(t, err)
				assertWhole(t, "repositories/merge_base.json", commit)
				assert.Equal(t, []string{"Bob", "Eve"}, commit.ExtendedTrailers["Cc"])
				commit, err = c.Repositories.GetMergeBase(t.Context(), ID(42), &MergeBaseOptions{Refs: []string{"main", "v1", "v2"}})
				require.NoError(t, err)
				assertWhole(t, "repositories/merge_base.json", commit)
			},
		},
		{
			name: "create changelog, whatever the body is",
			exchanges: []exchange{
				{sent: "POST /projects/42/repository/changelog", body: `{"version":"1.0.0"}`, answer: "200"},
				{
					sent: "POST /projects/42/repository/changelog", status: 201, answer: "",
					body: `{"version":"v1.1.0","branch":"main","config_file":"c.yml","config_file_ref":"main","date":"2026-03-04T07:30:00.000Z","file":"NEWS.md","from":"aa","to":"bb","message":"News","trailer":"Change"}`,
				},
			},
			run: func(t *testing.T, c *Client) {
				require.NoError(t, c.Repositories.CreateChangelog(t.Context(), ID(42), &CreateChangelogOptions{Version: "1.0.0"}))
				require.NoError(t, c.Repositories.CreateChangelog(t.Context(), ID(42), &CreateChangelogOptions{
					Version: "v1.1.0", Branch: "main", ConfigFile: "c.yml", ConfigFileRef: "main", Date: moment(), File: "NEWS.md", From: "aa", To: "bb", Message: "News", Trailer: "Change",
				}))
			},
		},
		{
			name: "generate changelog",
			exchanges: []exchange{{
				sent: "GET /projects/42/repository/changelog", answer: "repositories/changelog.json",
				query: "config_file=c.yml&config_file_ref=main&date=2026-03-04T07%3A30%3A00.000Z&from=aa&to=bb&trailer=Change&version=1.0.0",
			}},
			run: func(t *testing.T, c *Client) {
				changelog, err := c.Repositories.GenerateChangelog(t.Context(), ID(42), &GenerateChangelogOptions{
					Version: "1.0.0", ConfigFile: "c.yml", ConfigFileRef: "main", Date: moment(), From: "aa", To: "bb", Trailer: "Change",
				})
				require.NoError(t, err)
				assertWhole(t, "repositories/changelog.json", changelog)
			},
		},
		{
			name: "refused before anything is sent",
			run: func(t *testing.T, c *Client) {
				_, err := c.Repositories.Compare(t.Context(), ID(42), nil)
				assertRefused(t, err, "CompareOptions.From", "from")
				_, err = c.Repositories.Compare(t.Context(), ID(42), &CompareOptions{From: "main"})
				assertRefused(t, err, "CompareOptions.To", "to")
				_, err = c.Repositories.GetMergeBase(t.Context(), ID(42), &MergeBaseOptions{Refs: []string{"main"}})
				assertRefused(t, err, "MergeBaseOptions.Refs", "refs[]")
				assertRefused(t, c.Repositories.CreateChangelog(t.Context(), ID(42), nil), "CreateChangelogOptions.Version", "version")
				_, err = c.Repositories.GenerateChangelog(t.Context(), ID(42), nil)
				assertRefused(t, err, "GenerateChangelogOptions.Version", "version")
				_, err = c.Repositories.GetBlob(t.Context(), ID(42), "")
				assertRefused(t, err, "argument", "sha")
				_, err = c.Repositories.Archive(t.Context(), ID(42), &ArchiveOptions{Format: "../x"})
				assertRefused(t, err, "argument", "format")
			},
		},
		{
			name:      "unchecked options are sent as they are",
			exchanges: []exchange{{sent: "GET /projects/42/repository/merge_base", query: "refs[]=main", status: 400, answer: `{"message":"400 Bad request"}`}},
			run: func(t *testing.T, c *Client) {
				_, err := c.Repositories.GetMergeBase(t.Context(), ID(42), &MergeBaseOptions{Refs: []string{"main"}}, SkipValidation())
				require.ErrorIs(t, err, ErrBadRequest)
			},
		},
	})
}

// TestArchiveFormats compares the constants with the catalogue.
func TestArchiveFormats(t *testing.T) {
	var endpoints []struct {
		ID     string
		Params []struct{ Enum []string } `json:"path_params"`
	}
	require.NoError(t, json.Unmarshal(readFixture(t, "spec/endpoints.json"), &endpoints))
	for _, e := range endpoints {
		if e.ID == "repositories.archive" {
			assert.ElementsMatch(t, []string{string(Bz2), string(Tar), string(TarBz2), string(TarGz), string(TB2), string(TBZ), string(TBZ2), string(Zip)}, e.Params[1].Enum)
			return
		}
	}
	assert.Fail(t, "repositories.archive is not in the catalogue")
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
