package forge

import (
	"cmp"
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
	hash := url.Values{}
	require.NoError(t, Hash{"x_1": "[]"}.EncodeValues("custom_attributes", &hash))
	assert.Equal(t, url.Values{"custom_attributes[x_1]": {"[]"}}, hash)
	var invalid *ValidationError
	for _, name := range []string{"", "a[b", "a]"} {
		require.ErrorAs(t, Hash{name: "1"}.EncodeValues("custom_attributes", &hash), &invalid)
		assert.Equal(t, `the key "`+name+`" is empty or has brackets`, invalid.Reason)
	}
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

// Of all pairs of parameters only those that exclude each other are refused.
func TestExclusiveParameters(t *testing.T) {
	assertExclusive(t, &ListIssuesOptions{
		AssigneeID: ID(1), AssigneeUsername: []string{"x"}, AuthorID: 1, AuthorUsername: "x", IterationID: None, IterationTitle: "x", MilestoneID: None, Milestone: Text("x"),
	}, map[string]string{
		"AssigneeID AssigneeUsername": "assignee_id: it cannot be combined with assignee_username", "AuthorID AuthorUsername": "author_id: it cannot be combined with author_username",
		"IterationID IterationTitle": "iteration_id: it cannot be combined with iteration_title", "MilestoneID Milestone": "milestone_id: it cannot be combined with milestone",
	})
	assertExclusive(t, &IssueNot{
		AssigneeID: 1, AssigneeUsername: []string{"x"}, AuthorID: 1, AuthorUsername: "x", IterationID: None, IterationTitle: "x", Milestone: "x", MilestoneID: None,
	}, map[string]string{
		"AssigneeID AssigneeUsername": "not[assignee_id]: it cannot be combined with not[assignee_username]", "AuthorID AuthorUsername": "not[author_id]: it cannot be combined with not[author_username]",
		"IterationID IterationTitle": "not[iteration_id]: it cannot be combined with not[iteration_title]", "Milestone MilestoneID": "not[milestone_id]: it cannot be combined with not[milestone]",
	})
	assertExclusive(t, &ListMergeRequestsOptions{
		AssigneeID: ID(1), AssigneeUsername: []string{"x"}, AuthorID: 1, AuthorUsername: "x", Draft: new(false), WIP: "no", MergeUserID: 1, MergeUserUsername: "x", ReviewerID: ID(1), ReviewerUsername: Text("x"),
	}, map[string]string{
		"AssigneeID AssigneeUsername": "assignee_id: it cannot be combined with assignee_username", "AuthorID AuthorUsername": "author_id: it cannot be combined with author_username",
		"Draft WIP": "draft: it cannot be combined with wip", "MergeUserID MergeUserUsername": "merge_user_id: it cannot be combined with merge_user_username",
		"ReviewerID ReviewerUsername": "reviewer_id: it cannot be combined with reviewer_username",
	})
	assertExclusive(t, &MergeRequestNot{AuthorID: 1, AuthorUsername: "x", ReviewerID: 1, ReviewerUsername: "x"}, map[string]string{
		"AuthorID AuthorUsername": "not[author_id]: it cannot be combined with not[author_username]", "ReviewerID ReviewerUsername": "not[reviewer_id]: it cannot be combined with not[reviewer_username]",
	})
	assertExclusive(t, &UpdateApprovalSettingsOptions{
		SelectiveCodeOwnerRemovals: new(true), RetainApprovalsOnPush: new(true), RequirePasswordToApprove: new(false), RequireReauthenticationToApprove: new(false),
	}, map[string]string{
		"RetainApprovalsOnPush SelectiveCodeOwnerRemovals":          "selective_code_owner_removals: it cannot be combined with retain_approvals_on_push, which must be off",
		"RequirePasswordToApprove RequireReauthenticationToApprove": "require_password_to_approve: it is deprecated, and require_reauthentication_to_approve is set too: omit require_password_to_approve",
	})
	assert.NoError(t, (*IssueNot)(nil).check())
	assert.NoError(t, (*MergeRequestNot)(nil).check())
}

// assertExclusive sets each two of the fields that are set in full.
func assertExclusive(t *testing.T, full checker, want map[string]string) {
	t.Helper()
	from, found := reflect.ValueOf(full).Elem(), 0
	for i := range from.NumField() {
		for j := range i {
			if from.Field(i).IsZero() || from.Field(j).IsZero() {
				continue
			}
			pair := reflect.New(from.Type())
			pair.Elem().Field(i).Set(from.Field(i))
			pair.Elem().Field(j).Set(from.Field(j))
			one, two := from.Type().Field(j).Name, from.Type().Field(i).Name
			reason := cmp.Or(want[one+" "+two], want[two+" "+one])
			err := pair.Interface().(checker).check()
			var invalid *ValidationError
			switch {
			case reason == "":
				assert.NoError(t, err, "%s and %s", one, two)
			case assert.ErrorAs(t, err, &invalid, "%s and %s", one, two):
				found++
				assert.Equal(t, reason, invalid.Param+": "+invalid.Reason)
			}
		}
	}
	assert.Len(t, want, found)
}

// What is required is missing if it is empty.
func TestRequiredParameters(t *testing.T) {
	for want, o := range map[string]checker{
		"from": &CompareOptions{To: "x"}, "to": &CompareOptions{From: "x"}, "version": &CreateChangelogOptions{}, "blocking_merge_request_id": &CreateBlockOptions{},
	} {
		var invalid *ValidationError
		require.ErrorAs(t, o.check(), &invalid)
		assert.Equal(t, want+": it is required", invalid.Param+": "+invalid.Reason)
	}
	for _, o := range []checker{&CompareOptions{From: "x", To: "x"}, &CreateChangelogOptions{Version: "x"}, &CreateBlockOptions{BlockingMergeRequestID: 1}} {
		assert.NoError(t, o.check())
	}
	assert.Empty(t, (*ArchiveOptions)(nil).format())
	assert.Equal(t, "zip", (&ArchiveOptions{Format: "zip"}).format())
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
	count := refusalOf(reflect.TypeFor[int](), true, false)
	assert.Equal(t, []string{"-1 is negative", ""}, []string{count(reflect.ValueOf(-1)), count(reflect.ValueOf(0))})
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
	require.NoError(t, issues.checkDocumented(url.Values{"state": nil, "iids[]": nil, "not[labels]": nil, "not[assignee_username][]": nil}))
	r := &request{route: issues, core: silentServer(t).core, queryOptions: new(ListIssuesOptions)}
	require.ErrorAs(t, r.check(&callOptions{}, query), &invalid)
	r.custom = true
	require.NoError(t, r.check(&callOptions{}, query), "a Call may have other parameters")
}
