package forgetest

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

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
		if x.Method != "GET" || x.Base != "api" || x.Response.Kind != "array" {
			continue
		}
		l := listCall{x.endpoint, x.Method + " " + x.Path, x.path}
		if scope := find(x.QueryParams, "scope"); scope != nil && slices.Contains(scope.Enum, "created_by_me") {
			l.path = l.ask("scope=all")
		}
		lists = append(lists, l)
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

// freeText reports whether a parameter of the issue and merge request lists accepts any text and is
// compared with one value.
func (p parameter) freeText() bool {
	return (p.Type == "string" || p.Type == "array<string>") && len(p.Enum) == 0 && p.Name != "search" && p.Name != "milestone_id"
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
				if p.Name == "pagination" || p.Removed != (release{}) || p.Type == "hash" {
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

// TestDeployedBooleans checks the boolean values that python-gitlab sends in a query. The test of all bodies is
// TestTextMeansTheSameInEveryBody.
func TestDeployedBooleans(t *testing.T) {
	s := New(t)
	s.AddProject("group/app").AddIssues(4, func(i int, d *Document) { d.Set("confidential", i == 0) })
	c := newCaller(t, s)
	assert.Len(t, c.get("/issues?confidential=True").array(t), 1)
	assert.Len(t, c.get("/issues?confidential=False").array(t), 3)
}

// A keyset list without sort has the server's default order.
func TestKeysetWithoutSort(t *testing.T) {
	s := New(t, WithOffering(Hosted))
	s.AddUsers(30, "u")
	group := s.AddGroup("group")
	for range 30 {
		group.AddAuditEvent(nil)
	}
	images := s.AddProject("group/app").AddRegistryRepository("x").AddTags(30, nil)
	c := newCaller(t, s)
	for path, by := range map[string][2]string{
		"/users":                     {"id", "desc"},
		"/groups/group/audit_events": {"id", "desc"},
		fmt.Sprintf("/projects/group%%2Fapp/registry/repositories/%d/tags", images.ID): {"name", "asc"},
	} {
		keyset := path + "?pagination=keyset&per_page=7&order_by=" + by[0]
		given, _ := c.walk(keyset+"&sort="+by[1], by[0])
		without, _ := c.walk(keyset, by[0])
		assert.GreaterOrEqual(t, len(given), 30, path)
		assert.Equal(t, given, without, path)
		assert.Equal(t, 400, c.get(keyset+"&sort=up").Status, path)
	}
}

// A decimal is sent as text, except with the names of the documents.
func TestDeployedDecimals(t *testing.T) {
	for number, text := range map[float64]string{1: "1.0", 1.5: "1.5", 0: "0.0", 1e6: "1000000.0"} {
		for _, neutral := range []bool{false, true} {
			var options []Option
			want := any(text)
			if neutral {
				options, want = []Option{WithNeutralNames()}, number
			}
			s := New(t, options...)
			s.EditSettings(func(d *Document) { d.Set("polling_interval_multiplier", number) })
			assert.Equal(t, want, newCaller(t, s).get("/application/settings").object(t)["polling_interval_multiplier"])
		}
	}
}

// A boolean of a record may be null, which means false (Document 1 §2.1 rule 3).
func TestNullBooleans(t *testing.T) {
	s := New(t)
	p := s.AddProject("group/app")
	p.AddIssue(func(d *Document) { d.Set("confidential", nil) })
	p.AddMergeRequest(func(d *Document) { d.Set("draft", nil) })
	c := newCaller(t, s)
	for _, tc := range []struct{ list, field, yes, no string }{
		{"/issues?scope=all", "confidential", "&confidential=true", "&confidential=false"},
		{"/merge_requests?scope=all", "draft", "&wip=yes", "&wip=no"},
	} {
		record := c.get(tc.list).array(t)[0]
		assert.Contains(t, record, tc.field)
		assert.Nil(t, record[tc.field])
		assert.Empty(t, c.get(tc.list+tc.yes).array(t))
		assert.Len(t, c.get(tc.list+tc.no).array(t), 1, tc.list)
	}
}
