package forge

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"

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

// randomFilters are values for fields, most of them valid.
func randomFilters() []any {
	day := time.Date(2026, 3, 1, 9, 30, 0, 0, time.UTC)
	return []any{
		None, Any, Upcoming, Started, ID(7), ID(7), ID(1 << 40), ID(-1), ID(0), new(ID(3)), (*ID)(nil), IDs(1, 2), IDs(3), IDs(), IDs(4, -4), Number(0), Number(5), Number(-3), new(Number(2)), (*Number)(nil), new(Number(0)),
		Text("v1"), Text("a b&c=d+e%,"), Text("ü\x00\xff"), Text("none"), Text(" "), Text(""), new(Text("x")), (*Text)(nil), Labels("bug"), Labels("bug", "p 1", "ü\"\\"), Labels("\xff", "\u2028"), Labels(), Labels("a,b"), Labels("any"), Labels("No Label"), Labels(" "),
		"x", "a b&c=d+e%", "ü", " ", "created_at", []string{"a"}, []string{"a,b", "c&d", "a"}, []string{}, []string{"x", " "}, []int64{1}, []int64{3, 2, 1}, []int64{}, []int64{0}, []int64{5, -5},
		true, new(true), new(false), 3, -1, int64(9), int64(-9), Hash{"team": "core", "a.b": ""}, Hash{}, Hash{"a]": "x"}, Hash{" ": "x"}, Hash{"": "x"},
		day, day.Add(1), day.Add(123 * time.Millisecond).In(time.FixedZone("", 53*60+28)), day.Add(999_999_999), time.Time{}.In(time.FixedZone("", 3600)),
		time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(-1, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(9999, 12, 31, 23, 59, 59, 999_999_999, time.UTC),
	}
}

// fillOptions sets fields of a struct to random values, with a share of fields that are set.
func fillOptions(t *testing.T, random *rand.Rand, v reflect.Value, share float64) {
	t.Helper()
	for field, value := range v.Fields() {
		kind := field.Type
		switch {
		case random.Float64() >= share || field.Tag.Get("url") == "-":
		case kind.Kind() == reflect.Pointer && kind.Elem().Kind() == reflect.Struct:
			value.Set(reflect.New(kind.Elem()))
			fillOptions(t, random, value.Elem(), share)
		default:
			fits := slices.DeleteFunc(slices.Clone(randomFilters()), func(f any) bool {
				from := reflect.TypeOf(f)
				plain := from.PkgPath() == "" && from.Kind() == reflect.String && kind.Kind() == reflect.String
				return !plain && !from.AssignableTo(kind)
			})
			if kind == reflect.TypeFor[[]RegistryScope]() {
				fits = []any{[]RegistryScope{RepositoryScope("a/b", RegistryPull), "x"}, []RegistryScope{}, []RegistryScope{CatalogScope}}
			}
			require.NotEmpty(t, fits, "no value for %s of type %s", field.Name, kind)
			one := reflect.ValueOf(fits[random.IntN(len(fits))])
			if kind.Kind() == reflect.String {
				one = one.Convert(kind)
			}
			value.Set(one)
		}
	}
}

// The generated methods check and encode as the reflection that preceded them, to the byte and to
// the error.
func TestQueryEqualsReflection(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	outcomes := map[string]int{}
	for _, kind := range queryTypes() {
		for i := range 600 {
			options := reflect.New(reflect.TypeOf(kind).Elem())
			fillOptions(t, random, options.Elem(), []float64{0, 0.04, 0.2, 0.7}[i%4])
			made, old := options.Interface().(queryOptions), shadow(options.Elem()).Elem()

			r := &routes[random.IntN(len(routes))]
			want := oldCheck(old, r)
			if rules, ok := made.(checker); ok && want == nil {
				want = rules.check()
			}
			sameError(t, made, want, made.checkQuery(r))

			values, want := oldEncode(old)
			got, err := encodeQuery(made)
			sameError(t, made, want, err)
			if err == nil {
				require.Equal(t, values.Encode(), got.Encode(), "%+v", made)
			}
			outcomes[fmt.Sprint(err == nil, len(got) > 0)]++
		}
	}
	t.Log(outcomes)
	assert.Greater(t, outcomes["true true"], 4000, "the random options are refused too often: %v", outcomes)
	assert.Greater(t, outcomes["false false"], 500, "the random options are never refused: %v", outcomes)
}

func sameError(t *testing.T, options any, want, got error) {
	t.Helper()
	if want == nil || got == nil {
		require.Equal(t, want, got, "%+v", options)
		return
	}
	require.Equal(t, nameOption(options, want), nameOption(options, got), "%+v", options)
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
