package forge

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const registryPath = "/projects/group%2Fapp/registry/repositories"

func TestRegistry(t *testing.T) {
	ctx, app := t.Context(), Path("group/app")
	visibility := func(o *SetRegistryVisibilityOptions) func(c *Client) (any, error) {
		return func(c *Client) (any, error) { return c.Registry.SetVisibility(ctx, app, o) }
	}
	remove := func(c *Client) (any, error) { return nil, c.Registry.Delete(ctx, app, 3) }
	const tags = registryPath + "/3/tags"
	const pages = "order_by=name&pagination=keyset&per_page=100&sort=asc"
	runCalls(t, []callRow{
		{"PUT /projects/group%2Fapp/", "", `{"archived":true}`, "registry/project.json", visibility(&SetRegistryVisibilityOptions{Extra: map[string]any{"archived": true}})},
		{"PUT /projects/group%2Fapp/", "", `{"container_registry_access_level":"private"}`, "registry/project_whole.json", visibility(&SetRegistryVisibilityOptions{Visibility: RegistryVisibilityPrivate})},
		{"PUT /projects/group%2Fapp/", "", `{}`, `400 {"message":{"container_registry_access_level":["is invalid"]}}`, visibility(nil)},
		{"GET /registry/repositories/3", "size=true", "", "registry/get_repository.json", func(c *Client) (any, error) {
			return c.Registry.Get(ctx, 3, &GetRegistryRepositoryOptions{Size: new(true)})
		}},
		{"DELETE " + registryPath + "/3", "", "", "202 202", remove},
		{"DELETE " + registryPath + "/3", "", "", "204", remove},
		{"GET " + tags, pages, "", "registry/list_tags.json", func(c *Client) (any, error) { return Collect(c.Registry.ListTags(ctx, app, 3, nil)) }},
		{"DELETE " + tags + "/release%2F1.0", "", "", "200 200", func(c *Client) (any, error) { return nil, c.Registry.DeleteTag(ctx, app, 3, "release/1.0") }},
		{"DELETE " + tags + "/v1.0", "", "", `403 {"message":"403 Forbidden - protected tag"}`, func(c *Client) (any, error) { return nil, c.Registry.DeleteTag(ctx, app, 3, "v1.0") }},
	})
	c := serve(t,
		exchange{sent: "DELETE " + registryPath + "/3/tags", status: 202, answer: `202`, form: "keep_n=5&name_regex_delete=v1%5C.0%2Brc.%2B&name_regex_keep=.%2A-lts&older_than=1month"},
		exchange{sent: "DELETE " + registryPath + "/4/tags", status: 202, form: "name_regex=.%2A"},
		exchange{sent: "DELETE " + registryPath + "/5/tags", status: 400, form: "name_regex_delete=.%2A", answer: `{"message":"This request has already been made. You can run this at most once an hour for a given container repository"}`},
		exchange{sent: "DELETE " + registryPath + "/5/tags", status: 400, form: "keep_n=1&name_regex_delete=.%2A", answer: `{"message":"keep_n is invalid"}`},
		exchange{sent: "DELETE " + registryPath + "/5/tags/v1", status: 400, answer: `{"message":"You can run this at most once an hour"}`},
		exchange{sent: "DELETE " + registryPath + "/5/tags", status: 202, form: "name_regex_delete=.%2A&older_than=7d"},
	)
	require.NoError(t, c.Registry.DeleteTags(t.Context(), app, 3, &DeleteTagsOptions{
		NameRegexDelete: `v1\.0+rc.+`, NameRegexKeep: ".*-lts", KeepN: 5, OlderThan: "1month",
	}))
	require.NoError(t, c.Registry.DeleteTags(t.Context(), app, 4, &DeleteTagsOptions{NameRegex: ".*"}), "the alias alone")
	err := c.Registry.DeleteTags(t.Context(), app, 5, &DeleteTagsOptions{NameRegexDelete: ".*"})
	var refused *RateLimitError
	require.ErrorAs(t, err, &refused, "the error of a client that has made no deletion")
	require.ErrorIs(t, err, ErrBadRequest)
	require.ErrorIs(t, err, ErrRateLimited)
	require.ErrorContains(t, err, "once an hour")
	assert.WithinDuration(t, time.Now().Add(time.Hour), refused.Until, time.Minute, "the latest end of the hour")
	assert.Equal(t, 1, refused.Err.Attempts)
	err = c.Registry.DeleteTags(t.Context(), app, 5, &DeleteTagsOptions{NameRegexDelete: ".*", KeepN: 1})
	require.ErrorIs(t, err, ErrBadRequest)
	require.NotErrorIs(t, err, ErrRateLimited, "another 400")
	err = c.Registry.DeleteTag(t.Context(), app, 5, "v1")
	require.ErrorIs(t, err, ErrBadRequest)
	require.NotErrorIs(t, err, ErrRateLimited, "another route")
	require.NoError(t, c.Registry.DeleteTags(t.Context(), app, 5, &DeleteTagsOptions{NameRegexDelete: ".*", OlderThan: "7d"}), "a refused deletion does not count")
	began := time.Now()
	for _, ref := range []Ref{app, ID(42)} {
		err = c.Registry.DeleteTags(t.Context(), ref, 3, &DeleteTagsOptions{NameRegexDelete: ".*"})
		var limited *RateLimitError
		require.ErrorAs(t, err, &limited)
		assert.WithinDuration(t, began.Add(time.Hour), limited.Until, time.Minute)
		assert.ErrorContains(t, err, "1 in 1h0m0s")
		assert.Zero(t, limited.Err.Attempts)
		assert.False(t, limited.Err.MaybeApplied)
	}
}

func TestRegistryRefused(t *testing.T) {
	c := serve(t)
	for _, row := range []struct {
		options       *DeleteTagsOptions
		option, param string
	}{
		{nil, "NameRegexDelete", "name_regex_delete"},
		{&DeleteTagsOptions{NameRegexKeep: ".*"}, "NameRegexDelete", "name_regex_delete"},
		{&DeleteTagsOptions{NameRegexDelete: "("}, "NameRegexDelete", "name_regex_delete"},
		{&DeleteTagsOptions{NameRegexDelete: "a(?!b)"}, "NameRegexDelete", "name_regex_delete"}, // not valid in RE2
		{&DeleteTagsOptions{NameRegex: `\1`}, "NameRegex", "name_regex"},
		{&DeleteTagsOptions{NameRegexDelete: "a", NameRegexKeep: "*"}, "NameRegexKeep", "name_regex_keep"},
		{&DeleteTagsOptions{NameRegexDelete: "a", OlderThan: "1m"}, "OlderThan", "older_than"},
		{&DeleteTagsOptions{NameRegexDelete: "a", OlderThan: "0d"}, "OlderThan", "older_than"},
	} {
		assertRefused(t, c.Registry.DeleteTags(t.Context(), ID(42), 3, row.options), "DeleteTagsOptions."+row.option, row.param)
		_, err := c.Registry.PreviewDeleteTags(t.Context(), ID(42), 3, row.options)
		assertRefused(t, err, "DeleteTagsOptions."+row.option, row.param)
		_, err = c.Registry.PreviewDeleteTags(t.Context(), ID(42), 3, row.options, SkipValidation())
		require.Error(t, err)
	}
	all := &DeleteTagsOptions{NameRegexDelete: ".*"}
	_, err := c.Registry.PreviewDeleteTags(t.Context(), ID(42), 3, all, OnePage())
	assertRefused(t, err, "OnePage", "")
	require.ErrorContains(t, err, "DELETE /projects/:id/registry/repositories/:repository_id/tags (/projects/42")
	_, err = c.Registry.PreviewDeleteTags(t.Context(), ID(42), 3, all, StartAt("x"))
	assertRefused(t, err, "StartAt", "")
	_, err = c.Registry.PreviewDeleteTags(t.Context(), ID(42), 0, all)
	assertRefused(t, err, "argument", "repository_id")
	assertRefused(t, c.Registry.DeleteTag(t.Context(), ID(42), 3, ""), "argument", "tag_name")
}

func TestAge(t *testing.T) {
	const day = 24 * time.Hour
	for text, want := range map[Age]time.Duration{
		"1h": time.Hour, "1d": day, "1month": 30 * day, "36h": 36 * time.Hour, "90d": 90 * day, "2month": 60 * day,
		"2 weeks": 14 * day, "1d 12h": 36 * time.Hour, " 1day 1 hour ": 25 * time.Hour, "1y": 365*day + 6*time.Hour, "1mo": 30 * day, "3w": 21 * day, "292y": 292 * (365*day + 6*time.Hour),
	} {
		got, err := text.duration()
		require.NoError(t, err, string(text))
		assert.Equal(t, want, got, string(text))
	}
	for _, bad := range []string{"", " ", "0d", "d", "1", "1m", "1 fortnight", "-1d", "1.5d", "1D", "1d,2h", "99999999999d", "293y", "2147483647y"} {
		_, err := Age(bad).duration()
		require.Error(t, err, bad)
	}
}

// A repository is deleted if the complete list of its project does not have it. If the list is
// interrupted before its end, the wait returns an error.
func TestWaitDeletedInterrupted(t *testing.T) {
	const pages = 4
	for missing := 1; missing <= pages; missing++ {
		ctx, cancel := context.WithCancel(t.Context())
		lists := &pageServer{rows: pages, hook: func(w http.ResponseWriter, r *http.Request, page int) bool {
			switch {
			case !strings.HasSuffix(r.URL.Path, "/registry/repositories"):
				w.WriteHeader(http.StatusNotFound)
			case page == missing:
				cancel()
				<-r.Context().Done()
			default:
				return false
			}
			return true
		}}
		servePages(t, lists)
		err := onceClient(t, lists.URL).Registry.WaitDeleted(ctx, ID(1), 99, Query("per_page", "1"))
		cancel()
		require.ErrorIs(t, err, context.Canceled, "page %d", missing)
	}
}
