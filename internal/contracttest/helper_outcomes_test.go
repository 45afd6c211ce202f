package contracttest_test

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/forgetest"
)

// again is what a second call of a write that took effect does.
type again string

const (
	againSame        again = "the state stays the same"
	againTwice       again = "takes effect again"
	againUnchanged   again = "`forge.IsNotModified`"
	againBadRequest  again = "`forge.ErrBadRequest`"
	againConflict    again = "`forge.ErrConflict`"
	againNotFound    again = "`forge.ErrNotFound`"
	againRateLimited again = "`forge.ErrRateLimited`"
)

// is reports whether the second call ended with err.
func (a again) is(err error) bool {
	switch a {
	case againUnchanged:
		return forge.IsNotModified(err)
	case againBadRequest:
		return errors.Is(err, forge.ErrBadRequest)
	case againConflict:
		return errors.Is(err, forge.ErrConflict)
	case againNotFound:
		return errors.Is(err, forge.ErrNotFound)
	case againRateLimited:
		return errors.Is(err, forge.ErrRateLimited)
	case againSame, againTwice:
	}
	return err == nil
}

// write is a row of the table in docs/errors-and-retries.md: a write, and the call that shows whether
// it took effect.
type write struct {
	route  string
	method string // the typed method
	look   string // the call that shows it, and what to look for
	again  again
	send   func(ctx context.Context, w *outcomeWorld) error
	// took reports whether the call in look shows the effect; nil if look is the write itself.
	took func(ctx context.Context, w *outcomeWorld) (bool, error)
}

// sameCall is the look of writes whose object no other method reads.
const sameCall = "no method reads it: send it again; success and `forge.IsNotModified` both mean that the state is the wanted one"

// outcomeWorld is a server with one object of each kind.
type outcomeWorld struct {
	*forge.Client
	srv                       *forgetest.Server
	app                       *forgetest.Project
	project, group            forge.Ref
	repository, block, second int64
	file, runner, user        int64
	own, primary              int64 // addresses of the client's user
	other, otherPrimary       int64 // addresses of user
}

const outcomeImage = "acme/app/web"

func newOutcomeWorld(t *testing.T) *outcomeWorld {
	t.Helper()
	srv := forgetest.New(t, forgetest.WithGitLabVocabulary())
	group, app := srv.AddGroup("acme"), srv.AddProject("acme/app")
	app.AddIssue(func(issue *forgetest.Document) {
		issue.Set("time_stats.time_estimate", 2*3600).Set("time_stats.total_time_spent", 2*3600)
	})
	merges := app.AddMergeRequests(3, nil)
	maya := srv.AddUser("maya")
	app.AddFiles(map[string]string{"README.md": "An app\n"})
	app.AddTag("v1.0.0", "main")
	app.AddCommit(forgetest.Change{Message: "Add a door\n\nChangelog: added", Files: map[string]string{"door.txt": "open\n"}})
	app.AddResourceGroup("production")
	group.AddPlaceholder(forgetest.Placeholder{SourceHost: "old.example.com", ImportType: "github", SourceID: "7", SourceName: "Maya", SourceUser: "maya"})
	w := &outcomeWorld{
		Client: srv.Client(forge.WithRetry(forge.RetryPolicy{MaxAttempts: 1})),
		srv:    srv, app: app, project: forge.Path("acme/app"), group: forge.Path("acme"), user: maya.ID,
		repository: app.AddRegistryRepository("web").AddTags(2, nil).ID,
		block:      merges[0].AddBlocker(merges[1]), second: merges[2].ID,
		runner: srv.AddRunner(nil).ID,
	}
	w.file, _ = app.AddSecureFile("old.p12", []byte("old"), nil).Get("id").(int64)
	w.own, _ = srv.Root().AddEmail("spare@example.com").Get("id").(int64)
	w.other, _ = maya.AddEmail("maya.spare@example.com").Get("id").(int64)
	require.NotZero(t, w.file*w.own*w.other)
	w.primary, w.otherPrimary = firstAddress(t, w.Emails.List(t.Context())), firstAddress(t, w.Emails.ListForUser(t.Context(), w.user))
	require.NoError(t, w.Integrations.Set(t.Context(), w.group, &forge.EmailsOnPushOptions{Recipients: "ops@example.com"}))
	return w
}

// firstAddress returns the id of the first address, which is the primary one.
func firstAddress(t *testing.T, list iter.Seq2[*forge.Email, error]) int64 {
	t.Helper()
	addresses, err := forge.Collect(list)
	require.NoError(t, err)
	require.NotEmpty(t, addresses)
	return addresses[0].ID
}

// gone reports whether err is a 404, and passes on other errors.
func gone(err error) (bool, error) {
	if errors.Is(err, forge.ErrNotFound) {
		return true, nil
	}
	return false, err
}

// tagGone reports whether the tag no longer exists.
func tagGone(ctx context.Context, w *outcomeWorld) (bool, error) {
	_, err := w.Registry.GetTag(ctx, w.project, w.repository, "v0001")
	return gone(err)
}

// hasAddress reports whether one of the addresses is email.
func hasAddress(list []*forge.Email, email string) bool {
	return slices.ContainsFunc(list, func(e *forge.Email) bool { return e.Email == email })
}

// changelogHas reports whether the changelog contains text.
func (w *outcomeWorld) changelogHas(ctx context.Context, text string) (bool, error) {
	for entry, err := range w.Repositories.ListTree(ctx, w.project, nil) {
		if err != nil {
			return false, err
		}
		if entry.Path == "CHANGELOG.md" {
			blob, err := w.Repositories.GetBlob(ctx, w.project, entry.ID)
			return err == nil && bytes.Contains(blob.Content, []byte(text)), err
		}
	}
	return false, nil
}
