package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go/examples/internal/demo"
	"github.com/forge-sdk/forge-go/examples/internal/demotest"
	"github.com/forge-sdk/forge-go/forgetest"
)

const deleteTags = "DELETE /projects/:id/registry/repositories/:repository_id/tags"

var args = []string{"-project", "acme/storefront", "-repository", "web", "-match", "(dev|mr)-.*"}

// The tags are shown, and deleted only after a yes. What does not match stays.
func TestDeleteTags(t *testing.T) {
	srv := demotest.Server(t)
	out, err := demotest.Run(t, run, "n\n", args...)
	require.NoError(t, err)
	for _, want := range []string{
		"26 tags: 14 to delete, and 5 to keep of those that match.", "\nmr-82        2025-11-07  188.0 MB  sha256:", "\n2533.0 MB at most",
		"- Tags that match a protection rule stay", "Delete 14 tags of acme/storefront/web? [y/N] Nothing was changed.",
	} {
		assert.Contains(t, out, want)
	}
	srv.AssertRequestCount(t, deleteTags, 0)

	out, err = demotest.Run(t, run, "y\n", args...)
	require.NoError(t, err)
	assert.Contains(t, out, "waiting until they are gone.\nDeleted 14 tags.\n")
	assert.Equal(t, []string{
		"dev-098b79c", "dev-35cd636", "dev-84c5bce", "dev-b107a68", "dev-dd49902",
		"latest", "v1.0.0", "v1.1.0", "v1.2.0", "v1.3.0", "v1.4.0", "v1.5.0",
	}, srv.AddProject("acme/storefront").AddRegistryRepository("web").Tags())

	out, err = demotest.Run(t, run, "", args...)
	require.NoError(t, err)
	assert.Equal(t, "12 tags: 0 to delete, and 5 to keep of those that match.\n", out)
	_, err = demotest.Run(t, run, "", append(args, "-match", "v1.0.*", "-keep-n", "0", "-yes")...)
	require.ErrorContains(t, err, "this repository was cleaned up less than an hour ago: try again after ")
	srv.AssertAppliedCount(t, deleteTags, 1)
}

// What is still there at the end is a finding, so that a nightly job fails.
func TestProtectedTagsStay(t *testing.T) {
	demotest.Server(t)
	out, err := demotest.Run(t, run, "", append(args, "-match", ".*", "-keep", "dev-.*", "-keep-n", "0", "-older-than", "1h", "-yes", "-wait", "1s")...)
	require.ErrorAs(t, err, new(demo.Finding))
	assert.Contains(t, err.Error(), "still there after 1s: v1.0.0, v1.1.0, v1.2.0, v1.3.0, v1.4.0, v1.5.0\nA protection rule")
	assert.Contains(t, out, "Deleted 5 tags.")
}

// A run that is interrupted at any request fails and does not say that the tags are gone.
func TestInterrupted(t *testing.T) {
	demotest.Interrupt(t, run, "Deleted 14 tags", func(t *testing.T) (*forgetest.Server, []string) {
		return demotest.Server(t), append(args, "-yes")
	}, nil)
}

// A repository that is not there is an error. Without one they are listed.
func TestFind(t *testing.T) {
	srv := demotest.Server(t)
	_, err := demotest.Run(t, run, "y\n", append(args, "-repository", "nothing")...)
	require.ErrorContains(t, err, `has no registry repository "nothing"`)
	out, err := demotest.Run(t, run, "", "-project", "acme/storefront")
	require.NoError(t, err)
	assert.Contains(t, out, "acme/storefront/web   26    2025-03-27\n")
	srv.AssertAppliedCount(t, "*", 0)
}
