package main

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go/examples/internal/demo"
	"github.com/forge-sdk/forge-go/examples/internal/demotest"
	"github.com/forge-sdk/forge-go/forgetest"
)

const (
	deleteTags       = "DELETE /projects/:id/registry/repositories/:repository_id/tags"
	deleteRepository = "DELETE /projects/:id/registry/repositories/:repository_id"
)

func repository(srv *forgetest.Server, name string) *forgetest.RegistryRepository {
	return srv.AddProject("acme/storefront").AddRegistryRepository(name)
}

func TestDeleteTags(t *testing.T) {
	srv := demotest.Server(t)
	args := []string{"-project", "acme/storefront", "-repository", "web", "-match", "(dev|mr)-.*"}

	out, err := demotest.Run(t, run, "n\n", args...)
	require.NoError(t, err)
	for _, want := range []string{
		"REPOSITORY            TAGS  CREATED     STATUS\nacme/storefront/web   26    2025-03-27",
		"26 tags: 14 to delete, and 5 to keep of those that match.",
		"\nmr-82        2025-11-07  188.0 MB  sha256:",
		"\n2533.0 MB at most",
		"- Tags that match a protection rule stay",
		"Delete 14 tags of acme/storefront/web? [y/N] Nothing was deleted.",
	} {
		assert.Contains(t, out, want)
	}
	srv.AssertRequestCount(t, deleteTags, 0)

	_, err = demotest.Run(t, run, "", args...)
	require.ErrorContains(t, err, "-yes goes on without the question")
	srv.AssertRequestCount(t, deleteTags, 0)

	out, err = demotest.Run(t, run, "y\n", args...)
	require.NoError(t, err)
	assert.Contains(t, out, "waiting until they are gone.\nDeleted 14 tags.\n")
	assert.Equal(t, []string{
		"dev-098b79c", "dev-35cd636", "dev-84c5bce", "dev-b107a68", "dev-dd49902",
		"latest", "v1.0.0", "v1.1.0", "v1.2.0", "v1.3.0", "v1.4.0", "v1.5.0",
	}, repository(srv, "web").Tags())
	assert.Equal(t, "keep_n=5&name_regex_delete=%28dev%7Cmr%29-.%2A&older_than=30d", string(srv.LastRequest(t, deleteTags).Body))
	srv.AssertAppliedCount(t, deleteTags, 1)

	out, err = demotest.Run(t, run, "", args...)
	require.NoError(t, err)
	assert.Contains(t, out, "\n12 tags: 0 to delete, and 5 to keep of those that match.\n")
}

// A second clean-up within the hour is refused by the server; the program says so in words.
func TestOnceAnHour(t *testing.T) {
	srv := demotest.Server(t)
	args := []string{"-project", "acme/storefront", "-repository", "acme/storefront/web", "-yes"}
	_, err := demotest.Run(t, run, "", append(args, "-match", "dev-.*")...)
	require.NoError(t, err)
	before := repository(srv, "web").Tags()
	_, err = demotest.Run(t, run, "", append(args, "-match", "mr-.*", "-keep-n", "0")...)
	require.ErrorContains(t, err, "this repository was cleaned up less than an hour ago: try again after ")
	require.ErrorContains(t, err, "; nothing was deleted")
	assert.Equal(t, before, repository(srv, "web").Tags())
	srv.AssertAppliedCount(t, deleteTags, 1)
}

func TestProtectedTagsStay(t *testing.T) {
	srv := demotest.Server(t)
	out, err := demotest.Run(t, run, "", "-project", "acme/storefront", "-repository", "web", "-match", ".*", "-keep", "dev-.*",
		"-keep-n", "0", "-older-than", "1h", "-yes", "-wait", "1s")
	var finding demo.Finding
	require.ErrorAs(t, err, &finding)
	assert.Contains(t, err.Error(), "still there after 1s: v1.5.0, v1.4.0, v1.3.0, v1.2.0, v1.1.0, v1.0.0\nA protection rule")
	assert.Contains(t, out, "Deleted 5 tags.")
	assert.Len(t, repository(srv, "web").Tags(), 21)
}

func TestDeleteRepository(t *testing.T) {
	srv := demotest.Server(t)
	args := []string{"-project", "acme/storefront", "-repository", "cron", "-delete-repository"}
	out, err := demotest.Run(t, run, "\n", args...)
	require.NoError(t, err)
	assert.Contains(t, out, "Delete the repository acme/storefront/cron with 2 tags? [y/N] Nothing was deleted.")
	srv.AssertRequestCount(t, deleteRepository, 0)

	out, err = demotest.Run(t, run, "yes\n", args...)
	require.NoError(t, err)
	assert.Contains(t, out, "acme/storefront/cron is gone after ")
	srv.AssertAppliedCount(t, deleteRepository, 1)

	_, err = demotest.Run(t, run, "", args...)
	require.EqualError(t, err, `project acme/storefront has no registry repository "cron"`)
}

func TestDeleteRepositoryTakesTooLong(t *testing.T) {
	srv := demotest.Server(t)
	srv.SetClock(forgetest.DemoTime)
	_, err := demotest.Run(t, run, "", "-project", "acme/storefront", "-repository", "cron", "-delete-repository", "-yes", "-wait", "20ms")
	require.ErrorIs(t, err, context.DeadlineExceeded)
	assert.Contains(t, err.Error(), "acme/storefront/cron is scheduled for deletion, and was not gone in "+(20*time.Millisecond).String())
}

func TestRefusals(t *testing.T) {
	srv := demotest.Server(t)
	for want, args := range map[string][]string{
		"-project is missing":      {"-repository", "web"},
		"Project Not Found":        {"-project", "acme/nothing"},
		`"3m" is not an age`:       {"-older-than", "3m"},
		"it is not an RE2 pattern": {"-project", "acme/storefront", "-repository", "web", "-match", "("},
		"NameRegexDelete":          {"-project", "acme/storefront", "-repository", "web"},
	} {
		_, err := demotest.Run(t, run, "y\n", args...)
		require.ErrorContains(t, err, want)
	}
	out, err := demotest.Run(t, run, "", "-project", "acme/storefront")
	require.NoError(t, err)
	assert.Contains(t, out, "Name one with -repository to clean it up.")
	srv.AssertAppliedCount(t, "*", 0)
}

func TestEmbedded(t *testing.T) {
	t.Setenv("FORGE_URL", "")
	out, err := demotest.Run(t, run, "y\n")
	require.NoError(t, err)
	assert.Contains(t, out, "Deleted 14 tags.")
}
