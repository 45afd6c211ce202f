package forgetest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// An id is unique in the instance and an iid in one project. Paths use the iid (Document 1 §2.1
// rule 1).
func TestIDsAndIIDs(t *testing.T) {
	s := New(t)
	for _, path := range []string{"group/first", "group/second"} {
		p := s.AddProject(path)
		p.AddIssues(3, nil)
		p.AddMergeRequest(nil)
		p.AddMergeRequest(nil)
		p.AddResourceGroup("production").AddUpcomingJob(nil)
		p.AddSecureFile("a.txt", nil, nil)
		p.AddRegistryRepository("web")
		p.AddRunner(nil)
	}
	c := newCaller(t, s)
	for _, list := range []string{"resource_groups", "resource_groups/production/upcoming_jobs", "secure_files", "registry/repositories", "runners"} {
		first, second := c.get("/projects/1/" + list).array(t)[0]["id"], c.get("/projects/2/" + list).array(t)[0]["id"]
		assert.NotEqual(t, first, second, list)
	}
	for list, perProject := range map[string]int{"/issues?scope=all": 3, "/merge_requests?scope=all": 2} {
		ids, iids := map[any]bool{}, map[any]int{}
		records := c.get(list).array(t)
		assert.Len(t, records, 2*perProject)
		for _, record := range records {
			assert.False(t, ids[record["id"]], "%s: id %v is there twice", list, record["id"])
			ids[record["id"]] = true
			iids[record["iid"]]++
		}
		assert.Len(t, iids, perProject)
		for iid, projects := range iids {
			assert.Equal(t, 2, projects, "%s: iid %v", list, iid)
		}
	}
	for _, kind := range []string{"issues/%d/time_stats", "merge_requests/%d/versions"} {
		last := c.get("/projects/2/" + fmt.Sprintf(kind, 1)).Status
		assert.Equal(t, 200, last, kind)
		id := map[bool]int{true: 6, false: 4}[kind[0] == 'i'] // of the last one in the second project
		assert.Equal(t, 404, c.get("/projects/2/"+fmt.Sprintf(kind, id)).Status, kind)
	}
	last := c.get("/issues?scope=all").array(t)[0]
	assert.Equal(t, []any{6.0, 3.0}, []any{last["id"], last["iid"]})
}

// Every endpoint accepts the id or the encoded path of a project (Document 1 §2.1 rule 2).
func TestEveryProjectByIDAndPath(t *testing.T) {
	s := contractServer(t)
	c := newCaller(t, s)
	checked := 0
	for _, x := range examples() {
		e := specified(t).endpoints[routeOf(x.id)]
		rest, ofProject := strings.CutPrefix(x.path, "/projects/group%2Fapp")
		if !ofProject || e.Method != "GET" {
			continue
		}
		checked++
		byPath, byID := c.get("/projects/group%2Fapp"+rest), c.get("/projects/1"+rest)
		assert.Equal(t, 200, byID.Status, x.id)
		assert.Equal(t, byPath.Body, byID.Body, x.id)
		assert.Equal(t, 404, c.get("/projects/group/app"+rest).Status, x.id)
		assert.Equal(t, 404, c.get("/projects/99"+rest).Status, x.id)
	}
	assert.Greater(t, checked, 25)
	for _, path := range []string{"group/deep/app", "root/own"} { // in a subgroup, and in the namespace of a user
		p := s.AddProject(path)
		p.AddResourceGroup(path)
		for _, rest := range []string{"/resource_groups", "/resource_groups/" + esc(path)} {
			byPath, byID := c.get("/projects/"+esc(path)+rest), c.get(fmt.Sprint("/projects/", p.ID, rest))
			assert.Equal(t, 200, byPath.Status, path)
			assert.Contains(t, byPath.Body, `"key":"`+path+`"`)
			assert.Equal(t, byPath.Body, byID.Body, path)
		}
	}
}
