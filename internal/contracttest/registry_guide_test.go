package contracttest_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/forgetest"
)

// The next two functions are in docs/registry.md, word for word.

// deleteOldTags deletes the development images of a project that are older than 30 days. It keeps
// the newest five of each repository, and returns when the others are gone.
func deleteOldTags(ctx context.Context, client *forge.Client, project forge.Ref) error {
	options := &forge.DeleteTagsOptions{NameRegexDelete: `dev-.*`, KeepN: 5, OlderThan: forge.Days(30)}
	for repository, err := range client.Registry.ListForProject(ctx, project, nil) {
		if err != nil {
			return err
		}
		preview, err := client.Registry.PreviewDeleteTags(ctx, project, repository.ID, options)
		if err != nil {
			return err
		}
		fmt.Printf("%s: %d of %d tags\n", repository.Path, len(preview.Delete), preview.Total)
		if len(preview.Delete) == 0 {
			continue // do not use up the one call an hour
		}
		if err := client.Registry.DeleteTags(ctx, project, repository.ID, options); err != nil {
			return err
		}
		if err := waitForTags(ctx, client, project, repository.ID, preview.Delete); err != nil {
			return err
		}
	}
	return nil
}

// waitForTags returns when none of the tags is left.
func waitForTags(ctx context.Context, client *forge.Client, project forge.Ref, repository int64, tags []*forge.RegistryTagDetail) error {
	for _, tag := range tags {
		for {
			_, err := client.Registry.GetTag(ctx, project, repository, tag.Name)
			if errors.Is(err, forge.ErrNotFound) {
				break
			}
			if err != nil {
				return err
			}
			select {
			case <-time.After(5 * time.Second):
			case <-ctx.Done():
				return fmt.Errorf("the tag %s still exists: %w", tag.Name, ctx.Err())
			}
		}
	}
	return nil
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

// The code of docs/registry.md deletes what it says, waits, and does not wait forever for a
// protected tag.
func TestRegistryGuide(t *testing.T) {
	err := inBubble(t, func(ctx context.Context, w *troubled) error {
		web, cron := w.addTags("web"), w.addTags("cron")
		require.NoError(t, deleteOldTags(ctx, w.Client, w.project))
		for _, repository := range []*forgetest.RegistryRepository{web, cron} {
			assert.Equal(t, []string{"dev-0", "dev-1", "dev-2", "dev-3", "dev-4", "v1.0.0"}, repository.Tags())
		}
		return deleteOldTags(ctx, w.Client, w.project) // nothing is left to delete
	})
	require.NoError(t, err)
	err = inBubble(t, func(ctx context.Context, w *troubled) error {
		w.addTags("web")
		w.app.ProtectRegistryTags("dev-7")
		ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
		defer cancel()
		return deleteOldTags(ctx, w.Client, w.project)
	})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	assert.ErrorContains(t, err, "dev-7")
}
