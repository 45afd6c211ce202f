package contracttest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/forgetest"
)

// The next two functions are in docs/registry.md, word for word.

// deleteOldTags deletes the development images of a project that are older than 30 days, and keeps
// the newest five of each repository. An error of one repository does not end the others.
func deleteOldTags(ctx context.Context, client *forge.Client, project forge.Ref) error {
	options := &forge.DeleteTagsOptions{NameRegexDelete: `dev-.*`, KeepN: 5, OlderThan: forge.Days(30)}
	repositories, err := forge.Collect(client.Registry.ListForProject(ctx, project, nil))
	if err != nil {
		return err
	}
	previews := map[int64]*forge.DeleteTagsPreview{}
	for _, repository := range repositories {
		preview, err := client.Registry.PreviewDeleteTags(ctx, project, repository.ID, options)
		if err != nil {
			return err // nothing was deleted
		}
		fmt.Printf("%s: %d of %d tags\n", repository.Path, len(preview.Delete), preview.Total)
		if len(preview.Delete) > 0 { // or the one call an hour would be used up
			previews[repository.ID] = preview
		}
	}
	var problems []error
	for id := range previews {
		err := client.Registry.DeleteTags(ctx, project, id, options)
		var failed *forge.Error
		if err != nil && (!errors.As(err, &failed) || !failed.MaybeApplied) {
			problems = append(problems, err) // such as a *forge.RateLimitError
			delete(previews, id)
		}
	}
	for id, preview := range previews {
		left, err := waitForTags(ctx, client, project, id, preview.Delete)
		fmt.Printf("repository %d: %d tags deleted, %d left\n", id, len(preview.Delete)-len(left), len(left))
		problems = append(problems, err)
		for _, tag := range left {
			problems = append(problems, fmt.Errorf("repository %d still has the tag %s", id, tag.Name))
		}
	}
	return errors.Join(problems...)
}

// waitForTags lists the tags of a repository until none of the given ones exists, for at most two
// minutes. It returns those that are left.
func waitForTags(ctx context.Context, client *forge.Client, project forge.Ref, repository int64, left []*forge.RegistryTagDetail) ([]*forge.RegistryTagDetail, error) {
	end := time.Now().Add(2 * time.Minute)
	for {
		tags, err := forge.Collect(client.Registry.ListTags(ctx, project, repository, nil))
		if err != nil {
			return left, err
		}
		exists := map[string]bool{}
		for _, tag := range tags {
			exists[tag.Name] = true
		}
		left = slices.DeleteFunc(slices.Clone(left), func(tag *forge.RegistryTagDetail) bool { return !exists[tag.Name] })
		if len(left) == 0 || time.Now().After(end) {
			return left, nil
		}
		select {
		case <-time.After(5 * time.Second):
		case <-ctx.Done():
			return left, ctx.Err()
		}
	}
}

// addTags adds eight development images, of which six are old, and a release.
func (w *troubled) addTags(name string) *forgetest.RegistryRepository {
	repository := w.app.AddRegistryRepository(name)
	for i := range 8 {
		repository.AddTag(fmt.Sprintf("dev-%d", i), func(tag *forgetest.Document) {
			tag.Set("created_at", time.Now().AddDate(0, 0, -10*i-15))
		})
	}
	return repository.AddTag("v1.0.0", func(tag *forgetest.Document) { tag.Set("created_at", time.Now().AddDate(-1, 0, 0)) })
}

// The code of docs/registry.md deletes what it says and waits for it.
func TestRegistryGuide(t *testing.T) {
	err := inBubble(t, func(ctx context.Context, w *troubled) error {
		web, cron := w.addTags("web"), w.addTags("cron")
		require.NoError(t, deleteOldTags(ctx, w.Client, w.project))
		for _, repository := range []*forgetest.RegistryRepository{web, cron} {
			assert.Equal(t, newTags, repository.Tags())
		}
		return deleteOldTags(ctx, w.Client, w.project) // nothing is left to delete
	})
	require.NoError(t, err)
}

// newTags are the tags of addTags that stay.
var newTags = []string{"dev-0", "dev-1", "dev-2", "dev-3", "dev-4", "v1.0.0"}

// A repository with a protected tag, one that takes no bulk deletion now and one whose response is
// lost do not end the others.
func TestRegistryGuideProblems(t *testing.T) {
	err := inBubble(t, func(ctx context.Context, w *troubled) error {
		web, cron, lost := w.addTags("web"), w.addTags("cron"), w.addTags("lost")
		w.app.ProtectRegistryTags("dev-7")
		assert.NoError(t, w.Registry.DeleteTags(ctx, w.project, cron.ID, &forge.DeleteTagsOptions{NameRegexDelete: "none"}))
		w.srv.Fail("DELETE /projects/:id/registry/repositories/:repository_id/tags", forgetest.DropResponse().Times(1))
		err := deleteOldTags(ctx, w.Client, w.project)
		assert.Len(t, cron.Tags(), 9)
		for _, repository := range []*forgetest.RegistryRepository{web, lost} {
			assert.Equal(t, slices.Insert(slices.Clone(newTags), 5, "dev-7"), repository.Tags())
			assert.ErrorContains(t, err, fmt.Sprintf("repository %d still has the tag dev-7", repository.ID))
		}
		return err
	})
	require.ErrorIs(t, err, forge.ErrRateLimited)
}

// The wait ends with the context.
func TestRegistryGuideDeadline(t *testing.T) {
	err := inBubble(t, func(ctx context.Context, w *troubled) error {
		w.addTags("web")
		w.app.ProtectRegistryTags("dev-7")
		ctx, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		return deleteOldTags(ctx, w.Client, w.project)
	})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	assert.ErrorContains(t, err, "dev-7")
}
