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
