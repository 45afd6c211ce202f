package forge

import (
	"net/http"
	"net/url"
	"os"
	"reflect"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// queryTypes are all options types with url tags; TestQueryTypes finds a missing one.
func queryTypes() []queryOptions {
	return []queryOptions{
		&ArchiveOptions{}, &ChangesOptions{}, &CompareOptions{}, &ContributorsOptions{}, &CurrentUserOptions{}, &DeleteTagsOptions{}, &DiffVersionOptions{}, &GenerateChangelogOptions{},
		&GetRegistryRepositoryOptions{}, &GetUserOptions{}, &ListAuditEventsOptions{}, &ListIssuesOptions{}, &ListMergeRequestsOptions{}, &ListNamespacesOptions{},
		&ListRegistryRepositoriesOptions{}, &ListRegistryTagsOptions{}, &ListRunnerJobsOptions{}, &ListRunnersOptions{}, &ListUsersOptions{}, &MergeBaseOptions{}, &NamespaceExistsOptions{},
		&PauseRunnerOptions{}, &RegistryTokenOptions{}, &TreeOptions{}, &UploadSecureFileOptions{},
	}
}

// TestQueryTypes checks that queryTypes has each type that zz_query.go has an encoder for.
func TestQueryTypes(t *testing.T) {
	source, err := os.ReadFile("zz_query.go")
	require.NoError(t, err)
	var want, got []string
	for _, method := range regexp.MustCompile(`(?m)^func \(o \*(\w+)\) query\(\)`).FindAllSubmatch(source, -1) {
		want = append(want, string(method[1]))
	}
	for _, options := range queryTypes() {
		got = append(got, optionsName(options))
	}
	require.NotEmpty(t, want)
	assert.Equal(t, want, got)
}

// Nil options are checked as zero options, and encoded as nothing.
func TestNilQueryOptions(t *testing.T) {
	for _, kind := range queryTypes() {
		zero := reflect.New(reflect.TypeOf(kind).Elem()).Interface().(queryOptions)
		none := reflect.Zero(reflect.TypeOf(kind)).Interface().(queryOptions)
		r := undocumentedRoute(http.MethodGet, "/x")
		assert.Equal(t, zero.checkQuery(r), none.checkQuery(r), "%T", kind)
		values, err := encodeQuery(none)
		require.NoError(t, err)
		assert.Nil(t, values)
		values, err = encodeQuery(zero)
		require.NoError(t, err)
		assert.Empty(t, values)
	}
}

// A struct that embeds a filter interface satisfies it, and has no form on the wire.
func TestForeignFilter(t *testing.T) {
	c := silentServer(t)
	type mine struct{ IDFilter }
	err := collectError(c.Issues.List(t.Context(), &ListIssuesOptions{AssigneeID: mine{ID(1)}}))
	refused(t, err, "ListIssuesOptions.AssigneeID", "assignee_id")
	assert.ErrorContains(t, err, "it has type forge.mine, which is not a filter of this package")
}

// encodeValues returns the same text as url.Values.Encode.
func TestEncodeValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "a", "b[]", "a b", "+", "%", "\xff", "\x00~._-*", "é"}))
		values := url.Values(rapid.MapOfN(text, rapid.SliceOfN(text, 0, 3), 0, 40).Draw(t, "values"))
		require.Equal(t, values.Encode(), encodeValues(values))
	})
	assert.Empty(t, encodeValues(nil))
}

// Values that are added to a query do not replace those of other keys.
func TestQueryWriterKeepsValues(t *testing.T) {
	client, last := recorder(t)
	_, err := Collect(client.Issues.List(t.Context(), &ListIssuesOptions{Search: "x", State: "opened", Sort: SortAsc}, Query("search", "y"), Query("sort", "z")))
	require.Error(t, err, "the response is not an array")
	assert.Equal(t, url.Values{"search": {"x", "y"}, "state": {"opened"}, "sort": {"asc", "z"}, "per_page": {"100"}}, last().query)
}

// Hash and HashList are values for the query of a Call.
func TestHashValues(t *testing.T) {
	values := url.Values{}
	require.NoError(t, HashList{{"key": "a", "value": "1"}, {"key": "b"}}.EncodeValues("variables", &values))
	require.NoError(t, Hash{"team": "a b"}.EncodeValues("custom_attributes", &values))
	assert.Equal(t, url.Values{"variables[0][key]": {"a"}, "variables[0][value]": {"1"}, "variables[1][key]": {"b"}, "custom_attributes[team]": {"a b"}}, values)
	for _, err := range []error{HashList{{"[": "x"}}.EncodeValues("v", &values), Hash{"": "x"}.EncodeValues("v", &values)} {
		var invalid *ValidationError
		require.ErrorAs(t, err, &invalid)
		assert.Contains(t, invalid.Param, "v")
	}
}

// BenchmarkQuery compares the filters of a list with url.Values by hand.
func BenchmarkQuery(b *testing.B) {
	o := filtered()
	r, _ := findRoute(http.MethodGet, "/issues")
	for name, run := range map[string]func(){
		"check":  func() { _ = o.checkQuery(r) },
		"encode": func() { _, _ = encodeQuery(o) },
		"all": func() {
			_ = o.checkQuery(r)
			values, _ := encodeQuery(o)
			_ = encodeValues(values)
		},
		"by hand": func() {
			v := url.Values{}
			for _, pair := range [][2]string{
				{"author_username", "ada.okafor"}, {"due_date", "month"}, {"in", "title"}, {"issue_type", "issue"}, {"labels", "bug,p1"}, {"milestone", "v1"}, {"my_reaction_emoji", "thumbsup"},
				{"order_by", "updated_at"}, {"scope", "all"}, {"search", "export"}, {"sort", "asc"}, {"state", "opened"},
			} {
				v.Set(pair[0], pair[1])
			}
			v.Set("assignee_id", strconv.Itoa(42))
			v.Set("iteration_id", strconv.Itoa(7))
			v.Set("confidential", strconv.FormatBool(false))
			for _, iid := range []int{1, 2, 3} {
				v.Add("iids[]", strconv.Itoa(iid))
			}
			v.Set("created_after", o.CreatedAfter.Format(timeLayout))
			v.Set("created_before", o.CreatedBefore.Format(timeLayout))
			v.Set("updated_after", o.UpdatedAfter.Format(timeLayout))
			v.Set("updated_before", o.UpdatedBefore.Format(timeLayout))
			_ = v.Encode()
		},
		"nil": func() {
			_ = (*ListIssuesOptions)(nil).checkQuery(r)
			_, _ = encodeQuery((*ListIssuesOptions)(nil))
		},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				run()
			}
		})
	}
}
