package contracttest_test

import (
	"context"
	"errors"

	forge "github.com/forge-sdk/forge-go"
)

// precondition is a row of the second table of writes in docs/errors-and-retries.md: what must be
// true before a write, and how the call ends otherwise.
type precondition struct {
	method, needs string
	otherwise     refusal
	send          func(ctx context.Context, w *outcomeWorld) error
}

// refusal is how a call ends whose precondition is not met.
type refusal string

const (
	refusedHere          refusal = "`*forge.ValidationError`"
	refusedBadRequest    refusal = "`forge.ErrBadRequest`"
	refusedUnprocessable refusal = "`forge.ErrUnprocessable`"
	refusedConflict      refusal = "`forge.ErrConflict`"
	refusedNotFound      refusal = "`forge.ErrNotFound`"
	refusedForbidden     refusal = "`forge.ErrForbidden`"
	refused405           refusal = "405, which has no sentinel: `Status` of `*forge.Error`"
)

// is reports whether the call ended so.
func (r refusal) is(err error) bool {
	var failed *forge.Error
	var invalid *forge.ValidationError
	switch r {
	case refusedHere:
		return errors.As(err, &invalid)
	case refusedBadRequest:
		return errors.Is(err, forge.ErrBadRequest)
	case refusedUnprocessable:
		return errors.Is(err, forge.ErrUnprocessable)
	case refusedConflict:
		return errors.Is(err, forge.ErrConflict)
	case refusedNotFound:
		return errors.Is(err, forge.ErrNotFound)
	case refusedForbidden:
		return errors.Is(err, forge.ErrForbidden)
	case refused405:
		return errors.As(err, &failed) && failed.Status == 405
	}
	return false
}

var preconditions = []precondition{
	{
		"client.Registry.DeleteTag", "no protection rule matches the tag", refusedForbidden,
		func(ctx context.Context, w *outcomeWorld) error {
			w.app.ProtectRegistryTags("v0001")
			return w.Registry.DeleteTag(ctx, w.project, w.repository, "v0001")
		},
	},
	{
		"client.RegistryNative.DeleteManifest", "the registry's feature `tag_delete` is on", refused405,
		func(ctx context.Context, w *outcomeWorld) error {
			w.srv.DisableRegistryTagDelete()
			return w.RegistryNative.DeleteManifest(ctx, outcomeImage, "v0001", nil)
		},
	},
	{
		"client.Repositories.CreateChangelog", "a tag `vX.Y.Z` or `X.Y.Z` below `Version`, or `From`", refusedUnprocessable,
		func(ctx context.Context, w *outcomeWorld) error {
			return w.Repositories.CreateChangelog(ctx, w.project, &forge.CreateChangelogOptions{Version: "0.1.0"})
		},
	},
	{
		"client.SecureFiles.Upload", "at most 5 MB", refusedHere,
		func(ctx context.Context, w *outcomeWorld) error {
			large := forge.FileBytes(make([]byte, 5<<20+1))
			_, err := w.SecureFiles.Upload(ctx, w.project, &forge.UploadSecureFileOptions{Name: "large", File: large})
			return err
		},
	},
	{
		"client.SecureFiles.Upload", "a `Name` that the project does not have", refusedBadRequest,
		func(ctx context.Context, w *outcomeWorld) error {
			again := forge.FileBytes([]byte("again"))
			_, err := w.SecureFiles.Upload(ctx, w.project, &forge.UploadSecureFileOptions{Name: "old.p12", File: again})
			return err
		},
	},
	{
		"client.ApprovalSettings.UpdateForProject", "`RetainApprovalsOnPush` is off before `SelectiveCodeOwnerRemovals` is set", refusedBadRequest,
		func(ctx context.Context, w *outcomeWorld) error {
			options := &forge.UpdateApprovalSettingsOptions{SelectiveCodeOwnerRemovals: new(true)}
			_, err := w.ApprovalSettings.UpdateForProject(ctx, w.project, options)
			return err
		},
	},
	{
		"client.Issues.Promote", "the issue belongs to a group, and is not promoted yet", refusedBadRequest,
		func(ctx context.Context, w *outcomeWorld) error {
			w.srv.AddProject("maya/own").AddIssues(1, nil)
			_, err := w.Issues.Promote(ctx, forge.Path("maya/own"), 1, nil)
			return err
		},
	},
	{
		"client.MergeRequests.CreateBlock", "the dependency does not exist yet", refusedConflict,
		func(ctx context.Context, w *outcomeWorld) error {
			options := &forge.CreateBlockOptions{BlockingMergeRequestID: w.second}
			if _, err := w.MergeRequests.CreateBlock(ctx, w.project, 1, options); err != nil {
				return err
			}
			_, err := w.MergeRequests.CreateBlock(ctx, w.project, 1, options)
			return err
		},
	},
	{
		"client.Emails.Create", "no user has the address", refusedBadRequest,
		func(ctx context.Context, w *outcomeWorld) error {
			_, err := w.Emails.Create(ctx, &forge.CreateEmailOptions{Email: "maya@example.com"})
			return err
		},
	},
	{
		"client.Emails.CreateForUser", "no user has the address", refusedBadRequest,
		func(ctx context.Context, w *outcomeWorld) error {
			_, err := w.Emails.CreateForUser(ctx, w.user, &forge.CreateEmailForUserOptions{Email: "root@example.com"})
			return err
		},
	},
	{
		"client.Emails.Delete", "it is not the primary address", refusedBadRequest,
		func(ctx context.Context, w *outcomeWorld) error { return w.Emails.Delete(ctx, w.primary) },
	},
	{
		"client.Emails.DeleteForUser", "it is not the primary address", refusedBadRequest,
		func(ctx context.Context, w *outcomeWorld) error {
			return w.Emails.DeleteForUser(ctx, w.user, w.otherPrimary)
		},
	},
	{
		"client.PlaceholderReassignments.Upload", "the import was into a group, not into a personal namespace", refusedNotFound,
		func(ctx context.Context, w *outcomeWorld) error {
			_, err := w.PlaceholderReassignments.Upload(ctx, forge.Path("maya"), forge.FileBytes([]byte("file")))
			return err
		},
	},
	{
		"client.Settings.Update", "the companions of a setting that is enabled are given", refusedHere,
		func(ctx context.Context, w *outcomeWorld) error {
			_, err := w.Settings.Update(ctx, &forge.UpdateSettingsOptions{AntispamEnabled: new(true)})
			return err
		},
	},
}
