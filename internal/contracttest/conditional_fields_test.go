package contracttest_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go/internal/contracttest/catalogue"
)

// shownSometimes are fields without a condition in the catalogue that servers do not always show.
var shownSometimes = []string{
	"Issue.subscribed", "MergeRequest.subscribed", "Namespace.billable_members_count", "Runner.run_untagged", "Runner.locked",
	"IntegrationSummary.vulnerability_events", "VersionDiff.generated_file", "MergeRequest.approvals_before_merge",
}

// nullFlags are the flags with the type "boolean or null", for which null differs from false. For
// all other flags null means false (Document 1 §2.1 rule 3).
var nullFlags = []string{"MergeRequest.discussion_locked", "MergeRequest.should_remove_source_branch"}

// A flag or a number that only some views, roles, tiers, editions or requests show is a pointer, so
// that false and 0 are always values from the server. All other flags and numbers are not pointers.
// Ids are never 0, and settings have a separate test.
func TestConditionalFields(t *testing.T) {
	var types map[string]struct {
		Views  []string
		Fields []struct {
			Name, Type string
			Nullable   bool
			Views      []string
			Only       *struct {
				Tiers, Offerings []string
				When, Edition    string
			}
		}
	}
	require.NoError(t, json.Unmarshal(catalogue.Fixture(t, "spec/types.json"), &types))
	checked := 0
	for name, typ := range types {
		row := typeRows[name]
		if row == nil || strings.HasPrefix(name, "ApplicationSettings") {
			continue
		}
		for _, f := range typ.Fields {
			conditional := slices.Contains(slices.Concat(shownSometimes, nullFlags), name+"."+f.Name)
			if o := f.Only; o != nil {
				conditional = conditional || len(o.Tiers)+len(o.Offerings) > 0 || o.When != "" || o.Edition != ""
			}
			conditional = conditional || len(f.Views) > 0 && len(f.Views) < len(typ.Views)
			isID := f.Name == "id" || strings.HasSuffix(f.Name, "_id") || strings.HasSuffix(f.Name, "iid")
			if isID || !slices.Contains([]string{"boolean", "integer", "number"}, f.Type) {
				continue
			}
			field := catalogue.JSONFields(reflect.TypeOf(row))[f.Name]
			require.NotNil(t, field, "%s.%s", name, f.Name)
			pointer := field.Kind() == reflect.Pointer
			switch {
			case conditional:
				assert.True(t, pointer, "%s.%s is not always shown: it must be a pointer", name, f.Name)
				checked++
			case f.Type == "boolean":
				assert.False(t, pointer, "%s.%s is always shown: it must not be a pointer", name, f.Name)
			}
		}
	}
	assert.Greater(t, checked, 25)
	for _, name := range shownSometimes { // including fields that the catalogue does not have
		typ, field, _ := strings.Cut(name, ".")
		kind := catalogue.JSONFields(reflect.TypeOf(typeRows[typ]))[field]
		assert.True(t, kind != nil && kind.Kind() == reflect.Pointer, name)
	}
}
