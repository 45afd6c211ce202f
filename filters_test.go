package forge

import (
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Filters can be compared: lists with slices.Equal, the others with ==. IDs and Labels copy their
// arguments.
func TestFiltersAreValues(t *testing.T) {
	ids, names := []int64{1, 2}, []string{"a", "b"}
	o := &ListIssuesOptions{AssigneeID: ID(7), Labels: Any, Milestone: Text("v1"), Weight: Number(0), Not: &IssueNot{Labels: Labels(names...)}}
	assert.True(t, o.AssigneeID == ID(7) && o.Labels == Any && o.Milestone == Text("v1") && o.Weight == Number(0) && o.IterationID == nil)
	list := IDs(ids...)
	ids[0], names[0] = 0, ""
	assert.Equal(t, IDList{1, 2}, list)
	assert.Equal(t, LabelNames{"a", "b"}, o.Not.Labels)
	assert.NotNil(t, Labels(), "Not omits nil")
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
	bad := []any{Text(""), Text(" "), Text("None"), Text("aNY"), Labels(), Labels(""), Labels("none"), Labels("No Label"), IDs(), IDs(0), ID(-1), Hash{}, Hash{"": "x"}, []string{}, []string{""}, []int64{}, []int64{0}, int64(-1), " "}
	refused := 0
	for _, options := range []any{&ListIssuesOptions{}, &ListMergeRequestsOptions{}, &ListUsersOptions{}, &ListRunnersOptions{}} {
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
					err := checkFields(all.Interface())
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
	require.NoError(t, checkFields(&ListIssuesOptions{Not: &IssueNot{Labels: Labels("None"), Milestone: "Any"}}))
}

// A filter names why it is refused, and a valid one gives no reason.
func TestFilterRefusals(t *testing.T) {
	const keyword = " cannot be selected: the server reads it as a keyword. For the keyword, use forge."
	for _, row := range []struct {
		filter refuser
		want   string
	}{
		{IDs(7), ""}, {IDs(), "no ids: leave the filter nil, or use None"}, {IDs(7, 0), "id 0 is not positive"}, {ID(1), ""}, {ID(0), "id 0 is not positive"},
		{Labels("a"), ""}, {Labels(), "no labels: leave the filter nil, or use None"}, {Labels("a", "\t"), "a label is blank"}, {Labels("no label"), `"no label" is a word of the server: use None`},
		{Labels("nONE"), `"nONE"` + keyword + "None"}, {Text("a"), ""}, {Text(" "), "the text is blank: leave the filter nil, or use None"}, {Text("any"), `"any"` + keyword + "Any"},
		{Hash{"a": ""}, ""}, {Hash{}, "it is empty, which servers treat as no filter: use nil to omit it"}, {Hash{"": "a"}, "a key of it is blank"}, {Hash{" ": "a"}, "a key of it is blank"},
	} {
		assert.Equal(t, row.want, row.filter.refusal(), "%#v", row.filter)
	}
	for want, names := range map[string][]string{"": {"a"}, "no labels: omit the field": {}, "a label is blank": {"a", " "}} {
		assert.Equal(t, want, refusedNames(names))
	}
	_, err := encodeQuery(&ListIssuesOptions{Labels: Labels("a\n,b")})
	require.ErrorContains(t, err, `label "a\n,b" has a comma, which separates labels on the wire`)
	field := func(v any) reflect.Value { return reflect.ValueOf(struct{ F any }{v}).Field(0) }
	for value, want := range map[any]string{(*ID)(nil): "", ID(1): "", ID(0): "id 0 is not positive", 7: ""} {
		assert.Equal(t, want, refusedFilter(field(value)), "%#v", value)
	}
}

// The rule of a field follows from its type. A struct in a body has rules of its own, if any.
func TestFieldRules(t *testing.T) {
	assert.Nil(t, refusalOf(reflect.TypeFor[[]bool](), true, false))
	assert.Equal(t, "element 1 is blank", refusalOf(reflect.TypeFor[[]Scope](), false, false)(reflect.ValueOf([]Scope{"a", " "})))
	type inner struct {
		ID int64 `json:"id" url:"id"`
	}
	type body struct {
		In *inner `json:"in"`
	}
	type query struct {
		In *inner `url:"in"`
	}
	require.NoError(t, checkFields(&body{&inner{-1}}))
	err := checkFields(&query{&inner{-1}})
	var invalid *ValidationError
	require.ErrorAs(t, err, &invalid)
	assert.Equal(t, "in[id]", invalid.Param)
	require.NoError(t, checkFields(&query{&inner{1}}))
	require.NoError(t, checkFields(&query{}))
}

// A route that the contract does not know takes any parameter. Of several that are refused, the
// first is named.
func TestUndocumentedParameters(t *testing.T) {
	query := url.Values{"c": nil, "a": nil, "b": nil, "state": nil}
	require.NoError(t, new(route).checkDocumented(query))
	assert.Nil(t, new(route).documented())
	issues := silentServer(t).customRequest(Call{Route: "/issues"}).route
	var invalid *ValidationError
	for range 20 { // in any order of the map
		require.ErrorAs(t, issues.checkDocumented(query), &invalid)
		assert.Equal(t, "a", invalid.Param)
	}
	require.NoError(t, issues.checkDocumented(url.Values{"state": nil, "iids[]": nil, "not[labels]": nil}))
}
