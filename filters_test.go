package forge

import (
	"errors"
	"fmt"
	"math"
	"net/url"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Two filters are equal if and only if they are of the same kind with the same content. The
// comparison never panics.
func TestFiltersAreValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{`"`, `", "`, `\`, ",", ", ", ")", "", "\xff", "a", "b"})), 0, 3)
		a, b := texts.Draw(t, "a"), texts.Draw(t, "b")
		var one, other LabelFilter = Labels(a...), Labels(b...)
		require.Equal(t, fmt.Sprintf("%q", a) == fmt.Sprintf("%q", b), one == other, "%q %q", a, b)
		require.Equal(t, append([]string{}, a...), Labels(a...).Names())
		require.NotEqual(t, LabelFilter(None), one)
		require.NotEqual(t, LabelNames{}, Labels(a...), "Not omits the zero LabelNames")

		numbers := rapid.SliceOfN(rapid.OneOf(rapid.Int64(), rapid.Int64Range(1, 2)), 0, 3)
		c, d := numbers.Draw(t, "c"), numbers.Draw(t, "d")
		var ids, others IDListFilter = IDs(c...), IDs(d...)
		require.Equal(t, fmt.Sprint(c) == fmt.Sprint(d), ids == others, "%d %d", c, d)
		require.Equal(t, append([]int64{}, c...), IDs(c...).IDs())
	})
	o := &ListIssuesOptions{AssigneeID: ID(7), Labels: Any, Milestone: Text("v1"), Weight: Number(0)}
	assert.True(t, o.AssigneeID == ID(7) && o.Labels == Any && o.Milestone == Text("v1") && o.Weight == Number(0) && o.IterationID == nil)
	assert.Empty(t, LabelNames{}.Names())
	assert.Empty(t, IDList{}.IDs())
}

// Filters print as they are written in Go.
func TestFiltersAreReadable(t *testing.T) {
	for want, value := range map[string]any{
		`Labels("bug", "p \"1\"")`: Labels("bug", `p "1"`), "Labels()": Labels(), "IDs(1, -9223372036854775808)": IDs(1, math.MinInt64), "IDs()": IDs(), "7": ID(7), "None": None, "v1": Text("v1"),
	} {
		assert.Equal(t, want, fmt.Sprint(value))
	}
	o := &ListIssuesOptions{Labels: Labels("a", "b"), Not: &IssueNot{Labels: Labels("c")}}
	assert.Contains(t, fmt.Sprintf("%+v", o), `Labels:Labels("a", "b")`)
}

// The encoders that are left are those of values that go-querystring would write in another form.
func TestFilterEncoders(t *testing.T) {
	names, ids := url.Values{}, url.Values{}
	require.NoError(t, Labels("a", "b c").EncodeValues("labels", &names))
	require.NoError(t, IDs(1, 2).EncodeValues("ids", &ids))
	assert.Equal(t, "labels=a%2Cb+c ids%5B%5D=1&ids%5B%5D=2", strings.Join([]string{names.Encode(), ids.Encode()}, " "))
	var invalid *ValidationError
	require.ErrorAs(t, Labels("a,b").EncodeValues("labels", &names), &invalid)
	assert.Equal(t, "labels", invalid.Param)
}

// The advice of a refused filter fits the type of its field: None and Any only where they can be
// assigned, nil only where it can. In Not, where servers have no keywords, their words are names.
func TestAdviceFitsTheField(t *testing.T) {
	c := fieldChecker{route: &route{}}
	bad := []any{Text(""), Text(" "), Text("None"), Text("aNY"), Labels(), Labels(""), Labels("none"), Labels("No Label"), IDs(), IDs(0), ID(-1), Hash{}, Hash{"": "x"}, []string{}, []string{""}, []int64{}, []int64{0}, int64(-1), " "}
	refused := 0
	for _, options := range []queryOptions{&ListIssuesOptions{}, &ListMergeRequestsOptions{}, &ListUsersOptions{}, &ListRunnersOptions{}} {
		kind := reflect.TypeOf(options).Elem()
		for _, place := range []string{"", "Not"} {
			owner := kind
			if field, has := kind.FieldByName(place); has {
				owner = field.Type.Elem()
			} else if place != "" {
				continue
			}
			for field := range owner.Fields() {
				for _, value := range bad {
					if !reflect.TypeOf(value).AssignableTo(field.Type) {
						continue
					}
					all := reflect.New(kind)
					to := all.Elem()
					if place != "" {
						to.FieldByName(place).Set(reflect.New(owner))
						to = to.FieldByName(place).Elem()
					}
					to.FieldByIndex(field.Index).Set(reflect.ValueOf(value))
					err := all.Interface().(queryOptions).checkQuery(c.route)
					var invalid *ValidationError
					if !errors.As(err, &invalid) || invalid.Param == "" {
						continue
					}
					refused++
					if regexp.MustCompile(`\b(None|Any)\b`).MatchString(strings.ReplaceAll(invalid.Reason, fmt.Sprintf("%q", value), "")) {
						assert.True(t, reflect.TypeOf(None).AssignableTo(field.Type), "%s.%s: %s", owner, field.Name, err)
					}
					if strings.Contains(invalid.Reason, "nil") {
						assert.Contains(t, []reflect.Kind{reflect.Interface, reflect.Slice, reflect.Map, reflect.Pointer}, field.Type.Kind(), "%s.%s: %s", owner, field.Name, err)
					}
				}
			}
		}
	}
	assert.Greater(t, refused, 50)
	query, err := encodeQuery(&ListIssuesOptions{Not: &IssueNot{Labels: Labels("None", "No Label"), Milestone: "Any"}})
	require.NoError(t, err)
	assert.Equal(t, url.Values{"not[labels]": {"None,No Label"}, "not[milestone]": {"Any"}}, query)
	require.NoError(t, (&ListIssuesOptions{Not: &IssueNot{Labels: Labels("None"), Milestone: "Any"}}).checkQuery(c.route))
}
