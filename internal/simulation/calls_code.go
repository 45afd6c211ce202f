package simulation

import (
	"context"
	"iter"
	"strconv"

	forge "github.com/forge-sdk/forge-go"
)

func registryCalls() []*row {
	const of = "/projects/:id/registry/repositories"
	repository := func(f *fixtures, s *Step) {
		image := f.work.AddRegistryRepository("own-"+s.ID).AddTags(3, nil)
		f.own[s.ID], f.names[s.ID] = image.ID, image.Path
	}
	own := func(r *row) { r.setup = repository }
	return []*row{
		value("Registry.SetVisibility", "PUT /projects/:id/", func(c *calling) (*forge.RegistryProject, error) {
			return c.client.Registry.SetVisibility(c.ctx, work, &forge.SetRegistryVisibilityOptions{Visibility: forge.RegistryEnabled}, c.opts...)
		}),
		items("Registry.ListForProject", "GET "+of, func(c *calling) iter.Seq2[*forge.RegistryRepository, error] {
			return c.client.Registry.ListForProject(c.ctx, app, nil, c.opts...)
		}),
		items("Registry.ListForGroup", "GET /groups/:id/registry/repositories", func(c *calling) iter.Seq2[*forge.RegistryRepository, error] {
			return c.client.Registry.ListForGroup(c.ctx, acme, c.opts...)
		}).with(func(r *row) { r.moving = true }),
		value("Registry.Get", "GET /registry/repositories/:id", func(c *calling) (*forge.RegistryRepository, error) {
			return c.client.Registry.Get(c.ctx, c.f.image.ID, &forge.GetRegistryRepositoryOptions{Tags: new(true), TagsCount: new(true)}, c.opts...)
		}),
		nothing("Registry.Delete", "DELETE "+of+"/:repository_id", func(c *calling) error {
			return c.client.Registry.Delete(c.ctx, work, c.f.own[c.s.ID], c.opts...)
		}).with(own),
		items("Registry.ListTags", "GET "+of+"/:repository_id/tags", func(c *calling) iter.Seq2[*forge.RegistryTag, error] {
			return c.client.Registry.ListTags(c.ctx, app, c.f.image.ID, nil, c.opts...)
		}),
		value("Registry.GetTag", "GET "+of+"/:repository_id/tags/:tag_name", func(c *calling) (*forge.RegistryTagDetail, error) {
			return c.client.Registry.GetTag(c.ctx, app, c.f.image.ID, "v0001", c.opts...)
		}),
		nothing("Registry.DeleteTag", "DELETE "+of+"/:repository_id/tags/:tag_name", func(c *calling) error {
			return c.client.Registry.DeleteTag(c.ctx, work, c.f.own[c.s.ID], "v0001", c.opts...)
		}).with(own),
		nothing("Registry.DeleteTags", "DELETE "+of+"/:repository_id/tags", func(c *calling) error {
			return c.client.Registry.DeleteTags(c.ctx, work, c.f.own[c.s.ID], &forge.DeleteTagsOptions{NameRegexDelete: "v.*"}, c.opts...)
		}).with(own),
	}
}

func nativeCalls() []*row {
	const kind = "application/vnd.neutral.distribution.manifest.v2+json"
	own := func(r *row) {
		r.more = true
		r.setup = func(f *fixtures, s *Step) {
			image := f.work.AddRegistryRepository("own-"+s.ID).AddTags(2, nil)
			f.names[s.ID] = image.Path
		}
	}
	return []*row{
		value("RegistryNative.GetToken", "GET /jwt/auth", func(c *calling) (*forge.RegistryToken, error) {
			scope := forge.RepositoryScope(c.f.image.Path, forge.RegistryPull)
			return c.client.RegistryNative.GetToken(c.ctx, &forge.RegistryTokenOptions{Scopes: []forge.RegistryScope{scope}}, c.opts...)
		}).with(func(r *row) { r.moving, r.more = true, true }),
		nothing("RegistryNative.DeleteManifest", "DELETE /v2/:image_path/manifests/:tag", func(c *calling) error {
			return c.client.RegistryNative.DeleteManifest(c.ctx, c.f.names[c.s.ID], "v0001",
				&forge.DeleteManifestOptions{ManifestType: kind}, c.opts...)
		}).with(own),
		nothing("RegistryNative.DeleteTagReference", "DELETE /v2/:image_path/tags/reference/:tag", func(c *calling) error {
			return c.client.RegistryNative.DeleteTagReference(c.ctx, c.f.names[c.s.ID], "v0001", c.opts...) //nolint:staticcheck // deprecated methods are tested, too
		}).with(own),
		items("RegistryNative.ListCatalog", "GET /v2/_catalog", func(c *calling) iter.Seq2[*forge.CatalogRepository, error] {
			return c.client.RegistryNative.ListCatalog(c.ctx, c.opts...)
		}).with(func(r *row) { r.moving, r.more = true, true }),
	}
}

func codeCalls() []*row {
	const of = "/projects/:id/repository"
	repositories := func(c *calling) *forge.RepositoriesService { return c.client.Repositories }
	return []*row{
		items("Repositories.ListTree", "GET "+of+"/tree", func(c *calling) iter.Seq2[*forge.TreeEntry, error] {
			return repositories(c).ListTree(c.ctx, app, &forge.TreeOptions{Recursive: new(true)}, c.opts...)
		}),
		value("Repositories.GetBlob", "GET "+of+"/blobs/:sha", func(c *calling) (*forge.Blob, error) {
			return repositories(c).GetBlob(c.ctx, app, c.f.blob, c.opts...)
		}).with(func(r *row) { r.moving = true }), // 5 requests per minute for large blobs
		stream("Repositories.DownloadBlob", "GET "+of+"/blobs/:sha/raw", func(c *calling) (*forge.Download, error) {
			return repositories(c).DownloadBlob(c.ctx, app, c.f.blob, c.opts...)
		}),
		stream("Repositories.Archive", "GET "+of+"/archive[.:format]", func(c *calling) (*forge.Download, error) {
			format := []forge.ArchiveFormat{forge.TarGz, forge.Zip, forge.Tar}[c.s.Variant%3]
			return repositories(c).Archive(c.ctx, app, &forge.ArchiveOptions{Format: format, Path: "docs"}, c.opts...)
		}),
		value("Repositories.Compare", "GET "+of+"/compare", func(c *calling) (*forge.Comparison, error) {
			return repositories(c).Compare(c.ctx, app, &forge.CompareOptions{From: c.f.commits[0], To: "main"}, c.opts...)
		}),
		items("Repositories.ListContributors", "GET "+of+"/contributors", func(c *calling) iter.Seq2[*forge.Contributor, error] {
			return repositories(c).ListContributors(c.ctx, app, nil, c.opts...)
		}),
		value("Repositories.GetMergeBase", "GET "+of+"/merge_base", func(c *calling) (*forge.Commit, error) {
			return repositories(c).GetMergeBase(c.ctx, app, &forge.MergeBaseOptions{Refs: []string{"main", "topic"}}, c.opts...)
		}),
		nothing("Repositories.CreateChangelog", "POST "+of+"/changelog", func(c *calling) error {
			return repositories(c).CreateChangelog(c.ctx, work, &forge.CreateChangelogOptions{Version: c.s.version(),
				File: c.s.ID + ".md", From: c.f.workCommit, To: "main"}, c.opts...)
		}),
		value("Repositories.GenerateChangelog", "GET "+of+"/changelog", func(c *calling) (*forge.Changelog, error) {
			return repositories(c).GenerateChangelog(c.ctx, app, &forge.GenerateChangelogOptions{Version: "1.0.0",
				From: c.f.commits[0], Date: past(60)}, c.opts...)
		}),
	}
}

func (s *Step) version() string { return "1." + strconv.Itoa(s.Number) + ".0" }

// otherCalls are calls without a method in the package, and calls of several requests.
func otherCalls() []*row {
	type anyMerge struct {
		ID    int64  `json:"id"`
		IID   int64  `json:"iid"`
		Title string `json:"title"`
	}
	get := func(route string, args ...forge.Arg) forge.Call {
		return forge.Call{Method: "GET", Route: route, Args: args}
	}
	return []*row{
		items("ListAs", "GET /projects/:id/merge_requests", func(c *calling) iter.Seq2[*anyMerge, error] {
			return forge.ListAs[anyMerge](c.ctx, c.client, get("/projects/:id/merge_requests", app), c.opts...)
		}).with(func(r *row) { r.part = true }),
		value("Do get", "GET /users/:id", func(c *calling) (*map[string]any, error) {
			var out map[string]any
			return &out, c.client.Do(c.ctx, get("/users/:id", forge.ID(c.f.member.ID)), &out, c.opts...)
		}),
		nothing("Do post", "POST /projects/:id/issues/:issue_iid/add_spent_time", func(c *calling) error {
			return c.client.Do(c.ctx, forge.Call{Method: "POST", Route: "/projects/:id/issues/:issue_iid/add_spent_time",
				Args: []forge.Arg{work, forge.ID(c.f.own[c.s.ID])}, Body: map[string]any{"duration": "1h"}}, nil, c.opts...)
		}).with(func(r *row) { r.setup = ownIssue }),
		value("Settings.Apply", "PUT /application/settings", func(c *calling) (*forge.SettingsReport, error) {
			settings, err := c.client.Settings.Get(c.ctx, c.opts...)
			if err != nil {
				return nil, err
			}
			settings.AfterSignUpText = new(c.s.ID)
			return c.client.Settings.Apply(c.ctx, settings.Diff(), c.opts...)
		}).with(func(r *row) { r.moving, r.more = true, true }),
		nothing("Registry.WaitDeleted", "GET "+"/projects/:id/registry/repositories", func(c *calling) error {
			ctx, cancel := context.WithTimeout(c.ctx, waitAtMost)
			defer cancel()
			return c.client.Registry.WaitDeleted(ctx, app, 1<<40, c.opts...)
		}).with(func(r *row) { r.moving, r.more = true, true }),
	}
}
