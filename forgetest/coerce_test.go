package forgetest

import (
	"fmt"
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestDeployedBooleans checks the boolean values that python-gitlab sends, for every boolean of the
// contract.
func TestDeployedBooleans(t *testing.T) {
	booleans := 0
	var check func(c *call, p parameter)
	check = func(c *call, p parameter) {
		for _, key := range p.Keys {
			check(c, key)
		}
		if p.Type != "boolean" {
			return
		}
		booleans++
		for sent, read := range map[string]string{"True": "true", "False": "false", "true": "true", "tRUE": "tRUE", "1": "1"} {
			c.params = url.Values{p.Wire: {sent}}
			c.coerce([]parameter{p})
			assert.Equal(t, read, c.text(p.Wire), p.Wire)
		}
	}
	for _, r := range routes() {
		for _, p := range append(r.endpoint.QueryParams, r.endpoint.BodyParams...) {
			check(&call{route: r}, p)
		}
	}
	assert.Greater(t, booleans, 100)

	s := New(t)
	s.AddProject("group/app").AddIssues(4, func(i int, d *Document) { d.Set("confidential", i == 0) })
	c := newCaller(t, s)
	assert.Len(t, c.get("/issues?confidential=True").array(t), 1)
	assert.Len(t, c.get("/issues?confidential=False").array(t), 3)
	assert.Equal(t, 400, c.get("/issues?confidential=tRUE").Status)
	assert.Equal(t, 400, c.get("/issues?confidential=1").Status)
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

// A decimal is sent as text if the server has the terms of the deployed product.
func TestDeployedDecimals(t *testing.T) {
	for number, text := range map[float64]string{1: "1.0", 1.5: "1.5", 0: "0.0", 1e6: "1000000.0"} {
		for _, gitlab := range []bool{false, true} {
			var options []Option
			want := any(number)
			if gitlab {
				options, want = []Option{WithGitLabVocabulary()}, text
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
