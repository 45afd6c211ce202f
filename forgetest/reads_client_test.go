package forgetest_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/forgetest"
)

// The client decodes both forms of a target's id, also in strict mode.
func TestClientAuditEventTargets(t *testing.T) {
	srv := forgetest.New(t)
	app := srv.AddProject("group/app")
	app.AddAuditEvent(nil)
	user := srv.AddUser("ada")
	user.AddAuditEvent(nil)
	client := srv.Client(forge.WithStrictDecoding())
	events, err := forge.Collect(client.AuditEvents.List(t.Context(), nil))
	require.NoError(t, err)
	require.Len(t, events, 2)
	assert.Equal(t, forge.AuditEventTarget{ID: user.ID}, events[0].Details.TargetID)
	assert.Equal(t, forge.AuditEventTarget{Name: "group/app"}, events[1].Details.TargetID)
}

// Values that are read, decoded and set again do not change: properties, events, secrets that the
// program sets again, and the inheritance of settings.
func TestClientDecode(t *testing.T) {
	srv := forgetest.New(t, forgetest.WithGitLabVocabulary())
	srv.AddGroup("parent")
	child := srv.AddGroup("parent/child")
	client := srv.Client(forge.WithVocabulary(forge.GitLab))
	needed := requiredParams(t)
	for i, kind := range integrationOptions() {
		slug, known := forge.IntegrationKind(integrationKinds(t)[i].ID).Slug(forge.GitLab)
		require.True(t, known)
		require.NoError(t, client.Integrations.Set(t.Context(), forge.Path("parent"), with(kind, nil, needed[i])))
		for _, inherit := range []bool{false, true} {
			require.NoError(t, client.Integrations.Set(t.Context(), forge.ID(child.ID), with(kind, &inherit, needed[i])))
			before, err := client.Integrations.Get(t.Context(), forge.ID(child.ID), forge.IntegrationSlug(slug))
			require.NoError(t, err)
			stored := child.Integration(slug)
			filled := with(kind, nil, nil)
			hidden, err := before.Decode(filled)
			require.NoError(t, err)
			missing := slices.DeleteFunc(slices.Clone(hidden), func(name string) bool { return !slices.Contains(needed[i], name) })
			if len(missing) > 0 {
				require.Error(t, client.Integrations.Set(t.Context(), forge.ID(child.ID), filled), "a secret is not cleared silently")
			}
			secrets := with(kind, &inherit, missing)
			for field, value := range reflect.ValueOf(secrets).Elem().Fields() {
				if !value.IsZero() {
					reflect.ValueOf(filled).Elem().FieldByName(field.Name).Set(value)
				}
			}
			require.NoError(t, client.Integrations.Set(t.Context(), forge.ID(child.ID), filled), "%T", kind)
			after, err := client.Integrations.Get(t.Context(), forge.ID(child.ID), forge.IntegrationSlug(slug))
			require.NoError(t, err)
			assert.Equal(t, inherit, after.Inherited, "%T", kind)
			after.UpdatedAt = before.UpdatedAt
			assert.Equal(t, before, after, "%T", kind)
			assert.Subset(t, child.Integration(slug), stored, "%T", kind)
		}
	}
}

// The server sends every sign of a truncated response, and RequireComplete detects each. Raw diffs
// are complete at any size.
func TestClientRawDiffs(t *testing.T) {
	long := func(word string) string { // too long for a comparison by line
		return "first\n" + strings.Repeat(word+"\n", 2000) + "last\n"
	}
	many := map[string]string{}
	for i := range 103 {
		many[fmt.Sprintf("many/%03d.txt", i)] = "x\n"
	}
	for name, test := range map[string]struct {
		before, after map[string]string
		sign          string
		whole         []string // texts in the raw diffs
	}{
		"large file":  {nil, map[string]string{"a.txt": strings.Repeat("large\n", 200000)}, "overflow", []string{"@@ -0,0 +1,200000 @@"}},
		"long change": {map[string]string{"a.txt": long("old")}, map[string]string{"a.txt": long("new")}, "overflow", []string{"-old\n", "+new\n", " first\n", " last\n"}},
		"many files":  {nil, many, "overflow", nil},
		"small":       {nil, map[string]string{"a.txt": "small\n"}, "", []string{"+small\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			srv := forgetest.New(t)
			project := srv.AddProject("group/app")
			project.AddCommit(forgetest.Change{Files: map[string]string{"README": "x\n"}})
			if test.before != nil {
				project.AddFiles(test.before)
			}
			project.AddCommit(forgetest.Change{Branch: "change", Files: test.after})
			project.AddMergeRequest(func(mr *forgetest.Document) { mr.Set("source_branch", "change") })
			client := srv.Client()
			_, err := client.MergeRequests.GetChanges(t.Context(), app, 1, nil, forge.RequireComplete()) //nolint:staticcheck // what is deprecated is tested, too
			_, failed := client.MergeRequests.GetVersion(t.Context(), app, 1, 1, nil, forge.RequireComplete())
			if test.sign == "" {
				require.NoError(t, err)
				require.NoError(t, failed)
			} else {
				require.ErrorIs(t, err, forge.ErrIncomplete)
				require.ErrorContains(t, err, test.sign)
				require.ErrorIs(t, failed, forge.ErrIncomplete)
			}
			raw, err := client.MergeRequests.GetChanges(t.Context(), app, 1, &forge.ChangesOptions{AccessRawDiffs: new(true)}, forge.RequireComplete()) //nolint:staticcheck // what is deprecated is tested, too
			require.NoError(t, err)
			assert.Len(t, raw.Changes, len(test.after))
			assert.False(t, raw.Overflow)
			for _, part := range test.whole {
				assert.Contains(t, raw.Changes[0].Diff, part)
			}
		})
	}
}

// Lists have the primary address, as on newer servers; it cannot be deleted.
func TestClientPrimaryAddress(t *testing.T) {
	srv := forgetest.New(t)
	ada := srv.AddUser("ada")
	ada.AddEmail("other@example.com")
	own := srv.Client(forge.WithToken(ada.Token))
	for _, list := range []func() ([]*forge.Email, error){
		func() ([]*forge.Email, error) { return forge.Collect(own.Emails.List(t.Context())) },
		func() ([]*forge.Email, error) {
			return forge.Collect(srv.Client().Emails.ListForUser(t.Context(), ada.ID))
		},
	} {
		emails, err := list()
		require.NoError(t, err)
		require.Len(t, emails, 2)
		assert.Equal(t, ada.Email, emails[0].Email)
		require.ErrorIs(t, own.Emails.Delete(t.Context(), emails[0].ID), forge.ErrBadRequest)
	}
}

// Trailers have the last value of each key, and extended trailers all values in the order of the
// message.
func TestClientTrailers(t *testing.T) {
	srv := forgetest.New(t)
	project := srv.AddProject("group/app")
	project.AddFiles(map[string]string{"a": "a"})
	project.AddCommit(forgetest.Change{Branch: "change", Message: "Fix\n\nCloses: #5\nCc: Bob\nCc: Eve", Files: map[string]string{"b": "b"}})
	project.AddMergeRequest(func(mr *forgetest.Document) { mr.Set("source_branch", "change") })
	client := srv.Client(forge.WithStrictDecoding())
	version, err := client.MergeRequests.GetVersion(t.Context(), app, 1, 1, nil)
	require.NoError(t, err)
	base, err := client.Repositories.GetMergeBase(t.Context(), app, &forge.MergeBaseOptions{Refs: []string{"change", "change"}})
	require.NoError(t, err)
	for _, commit := range []forge.Commit{version.Commits[0], *base} {
		assert.Equal(t, map[string]string{"Closes": "#5", "Cc": "Eve"}, commit.Trailers)
		assert.Equal(t, map[string][]string{"Closes": {"#5"}, "Cc": {"Bob", "Eve"}}, commit.ExtendedTrailers)
	}
}
