package contractmodel

import (
	"net/url"
	"strconv"
	"strings"
	"time"

	"pgregory.net/rapid"
)

// trackerRequest is a query as drawn. A value such as "user 2" is replaced by an ID when the server
// has started.
type trackerRequest struct {
	trackerQuery
	Size int // per_page; 0 means not set
}

// trackerValues has values of each parameter. A value with commas is several values of an array.
// The values after the bar are invalid.
var trackerValues = map[string]string{
	"assignee_id":         "user;user;user;None;Any;none;ANY;999999|nonsense;1.5;Upcoming",
	"assignee_username[]": "ann;Bob;bob;any;none;ann,Bob;root",
	"author_id":           "user;user;user;999999|None;any;x",
	"author_username":     "ann;Bob;bob;any;none;root;nobody",
	"confidential":        "true;false|maybe",
	"created_after":       "time;time;time|yesterday", "created_before": "time;time;time|2026-13-01T00:00:00Z",
	"updated_after": "time;time;time|x", "updated_before": "time;time;time|12:00",
	"due_date":            "0;any;today;tomorrow;overdue;week;month;next_month_and_previous_two_weeks|Today;none;2026-03-11",
	"epic_id":             "1;2;7;None;Any;any|x",
	"health_status":       "on_track;at_risk;None;Any;none;On_Track",
	"iids[]":              "1;2;1,2,3;5,9|x;1,x",
	"in":                  "title;description;title,description;description,title|nonsense;Title;title,nonsense",
	"issue_type":          "issue;incident;test_case;task|Issue;epic",
	"iteration_id":        "1;2;None;Any;any;9|x",
	"iteration_title":     "Sprint;sprint;None;any",
	"labels":              "bug;Bug;bug,ux;ux,any;None;Any;none;ANY;No Label;a b;nothing;bug,Bug",
	"milestone_id":        "None;Any;Upcoming;Started;upcoming;STARTED|7;v1",
	"milestone":           "v1;V1;None;Any;none;later;any;nothing",
	"my_reaction_emoji":   "rocket;Rocket;heart;None;Any;none",
	"non_archived":        "true;false|2",
	"scope":               "created_by_me;assigned_to_me;all;all;all|mine;All",
	"search":              "login;LOGIN;fix login;page fix;the page;nothing;100%;a_b",
	"state":               "all;opened;closed|Opened;open",
	"weight":              "0;1;3;None;Any;none|x;3.0",
	"with_labels_details": "true;false|x",

	"approved_by_ids[]": "user;user,user2|user,user2,1,2,3,4;x", "approved_by_ids": "None;Any;any|nonsense",
	"approver_ids[]": "user;user,user2|x", "approver_ids": "None;Any;none|nonsense",
	"deployed_after": "time;time|x", "deployed_before": "time;time|x",
	"environment":   "production;Production;staging;any;nowhere",
	"merge_user_id": "user;user|x;None", "merge_user_username": "ann;Bob;bob;any;none",
	"reviewer_id": "user;user;None;Any|x", "reviewer_username": "ann;bob;Bob;any;None;none;Any",
	"source_branch": "fix;Fix;none;None", "target_branch": "main;Main;any;Any",
	"view": "simple", "wip": "yes;no|true;Yes", "with_merge_status_recheck": "true;false|x",
}

// trackerNotValues has values of the keys of not[].
var trackerNotValues = map[string]string{
	"assignee_id": "user;user;999999|None;Any;x", "assignee_username[]": "ann;Bob;bob;any;ann,Bob", "assignee_username": "ann;Bob;bob;any",
	"author_id": "user;user;999999|None;x", "author_username": "ann;Bob;bob;any;none",
	"iids[]": "1;1,2|x", "iteration_id": "1;2;9|x", "iteration_title": "Sprint;sprint;None",
	"labels": "bug;Bug;bug,ux;nothing;None;Any;any", "milestone": "v1;V1;None;later;nothing;Any",
	"milestone_id": "None;Any;Upcoming;Started|7", "weight": "0;1;3|x;None",
	"my_reaction_emoji": "rocket;Rocket;None;Any", "search": "login;LOGIN;fix login;nothing", "in": "title;description;title,description|nonsense",
	"reviewer_id": "user;user|x;None", "reviewer_username": "ann;bob;Bob;any;None",
	"state": "opened", "confidential": "true",
}

// trackerNamesOf has the requested parameters, for issues (false) and for merge requests (true).
// Each also has a parameter of the other.
var trackerNamesOf = map[bool][]string{
	false: strings.Fields(`assignee_id assignee_username[] author_id author_username confidential created_after created_before updated_after
		updated_before due_date due_date due_date epic_id health_status iids[] in issue_type iteration_id iteration_title labels labels milestone_id milestone_id
		milestone my_reaction_emoji non_archived non_archived search search state weight with_labels_details wip reviewer_id`),
	true: strings.Fields(`approved_by_ids[] approved_by_ids approver_ids[] approver_ids assignee_id author_id author_username created_after
		created_before updated_after updated_before deployed_after deployed_before environment iids[] in labels merge_user_id merge_user_username
		milestone my_reaction_emoji reviewer_id reviewer_username search search source_branch target_branch state view with_labels_details
		with_merge_status_recheck wip confidential weight non_archived assignee_username[]`),
}

var trackerNotNamesOf = map[bool][]string{
	false: strings.Fields(`assignee_id assignee_username[] author_id author_username iids[] iteration_id iteration_title labels milestone milestone_id
		weight my_reaction_emoji search in state confidential`),
	true: strings.Fields(`assignee_id assignee_username author_id author_username labels milestone reviewer_id reviewer_username my_reaction_emoji state`),
}

var trackerOrders = map[bool][]string{
	false: {"created_at", "due_date", "label_priority", "milestone_due", "popularity", "priority", "relative_position", "title", "updated_at", "weight"},
	true:  {"created_at", "title", "updated_at", "merged_at"},
}

// trackerDrawRequest draws a query with up to five filters.
func trackerDrawRequest(t *rapid.T, w *trackerWorld, list string) *trackerRequest {
	merges := list == trackerMerges || list == trackerProjectMerges
	q := &trackerRequest{trackerQuery: trackerQuery{List: list, Params: url.Values{}}}
	q.Who = pick(t, "who", 0, 0, 0, 0, 1, 2, 3, 4, trackerNobody)
	if q.Who > 0 && w.Users[q.Who].State == "blocked" { // the documents do not specify the access of a blocked user
		q.Who = 0
	}
	places := len(w.Groups)
	if merges {
		places = len(w.Projects)
	}
	q.Target = rapid.IntRange(0, places-1).Draw(t, "target")
	if chance(t, "no target", 30) {
		q.Target = trackerNobody
	}
	d := &trackerDrawer{t: t, w: w, illegal: chance(t, "illegal", 12)}
	if (list == trackerIssues || list == trackerMerges) && !chance(t, "own scope", 4) {
		q.Params.Set("scope", "all")
	}
	for range pick(t, "filters", 1, 0, 2, 1, 2, 3, 4, 5) {
		d.filter(q.Params, merges)
	}
	if rapid.Bool().Draw(t, "ordered") {
		q.Params.Set("order_by", pick(t, "order_by", trackerOrders[merges]...))
		if d.illegal {
			q.Params.Set("order_by", pick(t, "bad order_by", "id", "Title", "created_at"))
		}
	}
	if rapid.Bool().Draw(t, "sorted") {
		q.Params.Set("sort", pick(t, "sort", "asc", "desc", "asc"))
		if d.illegal {
			q.Params.Set("sort", pick(t, "bad sort", "ASC", "up", "asc"))
		}
	}
	if rapid.Bool().Draw(t, "sized") {
		q.Size = pick(t, "per_page", 1, 2, 3, 5, 7, 11, 30, 100)
	}
	return q
}

type trackerDrawer struct {
	t       *rapid.T
	w       *trackerWorld
	illegal bool
}

func (d *trackerDrawer) filter(params url.Values, merges bool) {
	if chance(d.t, "not", 4) {
		name := pick(d.t, "key", trackerNotNamesOf[merges]...)
		wire := "not[" + name + "]"
		if array, ok := strings.CutSuffix(name, "[]"); ok {
			wire = "not[" + array + "][]"
		}
		params[wire] = d.value(trackerNotValues[name], strings.HasSuffix(name, "[]"))
		return
	}
	if chance(d.t, "scoped", 10) {
		params["scope"] = d.value(trackerValues["scope"], false)
		return
	}
	name := pick(d.t, "parameter", trackerNamesOf[merges]...)
	if array, ok := strings.CutSuffix(name, "[]"); ok && params.Has(array) || params.Has(name+"[]") {
		return // the documents do not define both forms of an array together
	}
	params[name] = d.value(trackerValues[name], strings.HasSuffix(name, "[]"))
}

// value draws a value. For an invalid query it draws an invalid value, if the row has one.
func (d *trackerDrawer) value(all string, array bool) []string {
	legal, illegal, _ := strings.Cut(all, "|")
	if d.illegal && illegal != "" {
		legal = illegal
	}
	value := pick(d.t, "value", strings.Split(legal, ";")...)
	values := []string{value}
	if array {
		values = strings.Split(value, ",")
	}
	for i, v := range values {
		switch v {
		case "user", "user2":
			values[i] = "user " + strconv.Itoa(rapid.IntRange(0, len(d.w.Users)-1).Draw(d.t, v))
		case "time":
			values[i] = d.time()
		}
	}
	return values
}

// time draws the time of an item, or a time shortly before or after it.
func (d *trackerDrawer) time() string {
	at := d.w.Now.Add(-time.Duration(pick(d.t, "hours", trackerHours...)) * time.Hour)
	at = at.Add(pick(d.t, "beside", 0, 0, time.Second, -time.Second, 500*time.Millisecond))
	switch pick(d.t, "form", "Z", "Z", "zone", "date") {
	case "zone":
		return at.In(time.FixedZone("", 2*3600)).Format(time.RFC3339Nano)
	case "date":
		return at.Format(time.DateOnly)
	}
	return at.Format(time.RFC3339Nano)
}

// resolve replaces the references of a query by the server's IDs.
func (q *trackerRequest) resolve(w *trackerWorld) {
	for _, values := range q.Params {
		for i, value := range values {
			if user, ok := strings.CutPrefix(value, "user "); ok {
				n, _ := strconv.Atoi(user)
				values[i] = strconv.FormatInt(w.Users[n].ID, 10)
			}
		}
	}
}
