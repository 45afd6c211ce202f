package forgetest

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// A fine-grained token reaches the routes whose permissions it has, and no others.
func TestPermissions(t *testing.T) {
	s := contractServer(t)
	c := newCaller(t, s).as(s.Root().AddToken(Permissions("read_issue", "read_resource_group")))
	assert.Equal(t, 200, c.get("/issues").Status)
	for path, lacks := range map[string]string{
		"/runners": "[read_runner]",
		"/projects/1/resource_groups/production/upcoming_jobs": "[read_job]", // of two
		"/merge_requests": "does not support fine-grained",
	} {
		r := c.get(path)
		assert.Equal(t, 403, r.Status, path)
		assert.Equal(t, "insufficient_granular_scope", r.object(t)["error"], path)
		assert.Contains(t, r.object(t)["error_description"], lacks, path)
	}
	assert.Contains(t, trySet(func() { Permissions("read_isue") }),
		`forgetest: Permissions: no permission "read_isue": known are add_issue_spent_time, create_issue_time_estimate, `)
}
