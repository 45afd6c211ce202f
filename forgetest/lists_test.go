package forgetest

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The tests of this file are derived from the catalogue. They call every list with every parameter.

// listCall is a list with a call that finds records.
type listCall struct {
	*endpoint
	route, path string
}

// ask adds a query to the call.
func (l listCall) ask(query string) string {
	mark := "?"
	if strings.Contains(l.path, "?") {
		mark = "&"
	}
	return l.path + mark + query
}

// everyList returns the documented lists of the API, in the paths of examples.
func everyList(t *testing.T) (lists []listCall) {
	t.Helper()
	for _, x := range examples() {
		for route, e := range specified(t).endpoints {
			if e.ID != x.id || e.Method != "GET" || e.Base != "api" || e.Response.Kind != "array" {
				continue
			}
			l := listCall{e, route, x.path}
			if scope := find(e.QueryParams, "scope"); scope != nil && slices.Contains(scope.Enum, "created_by_me") {
				l.path = l.ask("scope=all")
			}
			lists = append(lists, l)
		}
	}
	return lists
}

// wires returns the wire names of a parameter and of its keys.
func (p parameter) wires() (names []string) {
	if len(p.Keys) == 0 {
		return []string{p.Wire}
	}
	for _, key := range p.Keys {
		names = append(names, key.Wire)
	}
	return names
}

// A list ignores parameters that only another list documents (Document 2).
func TestListsIgnoreParametersOfOthers(t *testing.T) {
	s := contractServer(t, WithOffering(Dedicated))
	c := newCaller(t, s)
	foreign := map[string]string{"iids": "nonsense", "labels[]": "nonsense", "not[in]": "nonsense", "nonsense": "nonsense"}
	for _, l := range everyList(t) {
		for _, p := range l.QueryParams {
			for _, wire := range p.wires() {
				foreign[wire] = "nonsense"
			}
		}
	}
	for name, value := range map[string]string{ // values that all records have
		"state": "opened", "author_id": "1", "author_username": "root", "iids": "1", "confidential": "false", "issue_type": "issue", "scope": "all",
	} {
		foreign["not["+name+"]"], foreign["not["+name+"][]"] = value, value
	}
	shared := []string{"page", "per_page", "pagination", "order_by", "sort", "sudo"}
	count := 0
	for _, l := range everyList(t) {
		own := slices.Clone(shared)
		for _, p := range l.QueryParams {
			own = append(own, p.wires()...)
		}
		plain := c.get(l.path)
		require.Equal(t, 200, plain.Status, "%s %s", l.route, plain.Body)
		for wire, value := range foreign {
			if slices.Contains(own, wire) || slices.Contains(own, wire+"[]") {
				continue
			}
			count++
			r := c.get(l.ask(url.QueryEscape(wire) + "=" + value))
			assert.Equal(t, plain.Body, r.Body, "%s %s", l.route, wire)
		}
	}
	assert.Greater(t, count, 500)
	for _, wire := range []string{"iids", "iids[]", "iids[][]"} { // a filter of the project's list (Document 2 §4.2.1)
		all, none := "/merge_requests?scope=all", url.QueryEscape(wire)+"=99"
		assert.Equal(t, c.get(all).Body, c.get(all+"&"+none).Body, wire)
	}
	assert.Empty(t, c.get("/projects/1/merge_requests?iids[]=99").array(t))
}

// textWorld has three issues and three merge requests whose filtered texts are Fix, any and None,
// and one of each without these texts.
func textWorld(t *testing.T) (*Server, caller) {
	s := New(t)
	s.SetClock(noon)
	p := s.AddProject("group/app")
	for _, text := range []string{"Fix", "any", "None", ""} {
		u := s.AddUser(text + "user")
		if text != "" {
			u = s.AddUser(text)
		}
		milestone := p.AddMilestone(text, time.Time{}, time.Time{})
		p.AddIssue(func(d *Document) {
			d.Set("author", u)
			if text != "" {
				d.Set("assignees", []*User{u}).Set("health_status", text).Set("labels", []string{text}).Set("milestone", milestone).
					Set("iteration", NewDocument("Iteration").Set("id", 1).Set("title", text))
			}
		})
		mr := p.AddMergeRequest(func(d *Document) {
			d.Set("author", u).Set("source_branch", text).Set("target_branch", text)
			if text != "" {
				d.Set("assignees", []*User{u}).Set("reviewers", []*User{u}).Set("labels", []string{text}).
					Set("milestone", milestone).Set("merge_user", u)
			}
		})
		if text != "" {
			p.tracker.at(p.tracker.last).AddAwardEmoji(s.Root(), text)
			mr.AddAwardEmoji(s.Root(), text)
			mr.Deploy(text)
		}
	}
	return s, newCaller(t, s)
}

// freeText reports whether a parameter of the issue and merge request lists accepts any text and is
// compared with one value.
func (p parameter) freeText() bool {
	return (p.Type == "string" || p.Type == "array<string>") && len(p.Enum) == 0 && p.Name != "search" && p.Name != "milestone_id"
}

// wantText returns the matches of a text filter among Fix (1), any (2), None (3) and nothing (4).
func (p parameter) wantText(value string) []any {
	has := func(list []string, word string) bool {
		return slices.ContainsFunc(list, func(s string) bool { return strings.EqualFold(s, word) })
	}
	switch {
	case value == "":
		return []any{4.0, 3.0, 2.0, 1.0}
	case has(p.Special, value) && strings.EqualFold(value, "none"), strings.EqualFold(value, "no label") && p.SpecialOld != nil:
		return []any{4.0}
	case has(p.Special, value):
		return []any{3.0, 2.0, 1.0}
	}
	found := []any{}
	if i := slices.Index([]string{"Fix", "any", "None"}, value); i >= 0 {
		found = append(found, float64(i+1))
	}
	return found
}

// The list of a group has its own row of not, and parameters that only deployed servers accept.
func TestGroupIssueFilters(t *testing.T) {
	checkFiltersOf(t, "/groups/group/issues", []filterCase{
		{"not[my_reaction_emoji]=rocket", []int{10, 8, 7, 6, 5, 4, 3, 2, 1}},
		{"not[search]=needle", []int{10, 9, 6, 5, 4, 3, 2, 1}},
		{"not[search]=needle&not[in]=title", []int{10, 9, 7, 6, 5, 4, 3, 2, 1}},
		{"not[search]=needle&not[in]=description,title", []int{10, 9, 6, 5, 4, 3, 2, 1}},
		{"search=needle&in=title", []int{8}},
		{"search=needle&in=title,description", []int{8, 7}},
		{"health_status=Any", []int{7}},
		{"closed_by_id=2", []int{6}},
		{"closed_by_id=1", []int{}},
		{"milestone_id=Started", []int{4}},
		{"not[milestone_id]=None", []int{5, 4, 3}},
		{"not[weight]=5", []int{10, 9, 8, 7, 6, 5, 4, 3, 2}},
		{"not[iteration_title]=sprint", []int{10, 9, 7, 6, 5, 4, 3, 2, 1}},
		{"scope=created_by_me", []int{10, 9, 8, 7, 6, 5, 2, 1}},
		{"scope=assigned_to_me", []int{}},
	})
	s, c := filterWorld(t)
	tom := c.as(s.store.userByName("tom").Token)
	assert.Len(t, tom.get("/groups/group/issues?per_page=100").array(t), 10, "all but the confidential one, by default")
	assert.Empty(t, tom.get("/issues").array(t), "his own, by default")
	for _, list := range []string{"/groups/group/issues", "/issues"} {
		assert.Equal(t, []any{5.0, 4.0}, tom.get(list+"?scope=assigned_to_me").column(t, "iid"), list)
		assert.Equal(t, []any{4.0}, tom.get(list+"?scope=assigned_to_me&author_id=2").column(t, "iid"), list)
	}
}

// Texts are compared exactly. None and Any are keywords only for a parameter whose row has them
// (Document 2 §4.1.1 and §4.2.1).
func TestTextFilters(t *testing.T) {
	_, c := textWorld(t)
	all := []any{4.0, 3.0, 2.0, 1.0}
	values := []string{"", "Fix", "fix", "FIX", "Fi", "any", "Any", "ANY", "None", "none", "No Label", "unknown"}
	count := 0
	for _, l := range everyList(t) {
		if l.Response.Type != "Issue" && l.Response.Type != "MergeRequest" || strings.Contains(l.path, "issues/") {
			continue
		}
		for _, p := range l.QueryParams {
			for _, value := range values {
				if p.freeText() {
					count++
					query := url.QueryEscape(p.Wire) + "=" + url.QueryEscape(value)
					assert.Equal(t, p.wantText(value), c.get(l.ask(query)).column(t, "iid"), "%s %s", l.route, query)
				}
				for _, key := range p.Keys {
					if !key.freeText() {
						continue
					}
					count++
					query := url.QueryEscape(key.Wire) + "=" + url.QueryEscape(value)
					want := slices.Clone(all)
					if value != "" { // a keyword is an ordinary text here
						found := parameter{}.wantText(value)
						want = slices.DeleteFunc(want, func(v any) bool { return slices.Contains(found, v) })
					}
					assert.Equal(t, want, c.get(l.ask(query)).column(t, "iid"), "%s %s", l.route, query)
				}
			}
		}
	}
	assert.Greater(t, count, 500)
}

// Every list rejects values that are not in the row of a parameter, also in its hash.
func TestListsRefuseOtherValues(t *testing.T) {
	s := contractServer(t, WithOffering(Dedicated))
	c := newCaller(t, s)
	count := 0
	check := func(l listCall, p parameter, value string, valid bool) {
		count++
		status := map[bool]int{true: 200, false: 400}[valid]
		query := url.QueryEscape(p.Wire) + "=" + url.QueryEscape(value)
		for _, other := range slices.Concat(p.Requires, p.UsedWith) {
			query += "&" + other + "=" + map[string]string{"entity_type": "Project", "order_by": "id"}[other]
		}
		r := c.get(l.ask(query))
		assert.Equal(t, status, r.Status, "%s %s: %.80s", l.route, query, r.Body)
	}
	for _, l := range everyList(t) {
		for _, outer := range l.QueryParams {
			for _, p := range append(slices.Clone(outer.Keys), outer) {
				if p.Name == "pagination" || p.Name == "saml_provider_id" || p.Type == "hash" {
					continue
				}
				for _, word := range []string{"None", "Any", "Upcoming"} {
					has := slices.Contains(p.Special, word)
					if free := p.freeText(); !free || has {
						for _, value := range []string{word, strings.ToLower(word), strings.ToUpper(word)} {
							check(l, p, value, has || p.Name == "search" || p.Enum != nil && slices.Contains(p.Enum, value))
						}
					}
				}
				switch {
				case len(p.Enum) > 0:
					check(l, p, "", false)
					check(l, p, "nonsense", false)
					for _, value := range p.Enum {
						check(l, p, value, true)
						if upper := strings.ToUpper(value); upper != value && len(p.Special) == 0 {
							check(l, p, upper, false)
						}
					}
				case p.Type == "boolean":
					for _, value := range []string{"1", "TRUE", "yes", "null"} {
						check(l, p, value, false)
					}
					check(l, p, "true", true)
					check(l, p, "false", len(p.Allowed) == 0)
				case strings.Contains(p.Type, "integer"):
					for _, value := range []string{"x", "1.5", "99999999999999999999", "0x1"} {
						check(l, p, value, false)
					}
					check(l, p, "7", true)
				case p.Format == strictTime:
					for _, value := range []string{
						"2026-03-05", "2026-03-05T00:00:00", "2026-03-05T00:00:00+00:00", "2026-03-05T02:00:00+02:00", "2026-03-05T00:00:00.5Z",
						"2026-03-05T00:00:00.000Z", "2026-03-05 00:00:00Z", "2026-03-05t00:00:00z", "2026-03-05T00:00Z", "20260305T000000Z",
						"2026-3-5T00:00:00Z", "2026-03-05T24:00:00Z", " 2026-03-05T00:00:00Z", "1772668800",
					} {
						check(l, p, value, false)
					}
					check(l, p, "2026-03-05T00:00:00Z", true)
				case p.Type == "datetime":
					for _, value := range []string{"yesterday", "2026", "2026-13-01T00:00:00Z", "2026-02-30"} {
						check(l, p, value, false)
					}
				}
			}
		}
	}
	assert.Greater(t, count, 500)
}

// everyPlatform calls use for servers of all tiers and offerings, and an old one, each with an
// administrator and with a user.
func everyPlatform(t *testing.T, use func(name string, s *Server, c caller)) {
	var options [][]Option
	for _, tier := range []Tier{Free, Premium, Ultimate} {
		for _, offering := range []Offering{Hosted, SelfManaged, Dedicated} {
			options = append(options, []Option{WithTier(tier), WithOffering(offering)})
		}
	}
	options = append(options, []Option{WithRelease("16.0")})
	for _, o := range options {
		s := contractServer(t, o...)
		name := fmt.Sprint(s.tier, " ", s.offering, " ", s.release)
		use(name, s, newCaller(t, s))
		jane := s.store.userByName("jane")
		s.store.projects[0].AddMember(jane, Owner)
		use(name+" jane", s, newCaller(t, s).as(jane.Token))
	}
}

// A parameter has an effect only for the tiers, the offerings, the releases and the users in its
// row. For others its value is not even checked.
func TestListsIgnoreParametersOfOtherPlatforms(t *testing.T) {
	count := 0
	everyPlatform(t, func(name string, s *Server, c caller) {
		user := s.Root()
		if c.token != s.Token {
			user = s.store.userByName("jane")
		}
		for _, l := range everyList(t) {
			plain := c.get(l.path)
			if plain.Status != 200 { // not of this platform, or not for this user
				continue
			}
			for _, outer := range l.QueryParams {
				for _, p := range append(slices.Clone(outer.Keys), outer) {
					only := p.Only
					if row := find(l.QueryParams, p.Name); row != nil { // the row of a key of a hash
						only = row.Only
					}
					if only == nil || p.Name == "page_token" || p.Name == "pagination" {
						continue
					}
					count++
					query := url.QueryEscape(p.Wire) + "=nonsense"
					if p.Type == "hash" {
						query = "custom_attributes[team]=nonsense"
					}
					for _, other := range p.UsedWith {
						query += "&" + other + "=nonsense"
					}
					r := c.get(l.ask(query))
					if !only.allowed(s, user) {
						assert.Equal(t, plain.Body, r.Body, "%s: %s %s", name, l.route, query)
						continue
					}
					assert.NotEqual(t, strings.HasPrefix(p.Wire, "not[iteration_title"), plain.Body != r.Body, "%s: %s %s", name, l.route, query)
				}
			}
		}
	})
	assert.Greater(t, count, 300)
}
