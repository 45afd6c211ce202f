package forgetest

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// The token of a project or a group belongs to a bot, which has a role only there (Document 1 §5
// rule 1).
func TestTokensOfProjectsAndGroups(t *testing.T) {
	s := New(t)
	app, other := s.AddProject("group/app", Private), s.AddProject("other/app", Private)
	for _, p := range []*Project{app, other} {
		p.AddIssue(nil)
		p.AddResourceGroup("production")
	}
	ofProject, ofGroup := s.AddBot("project_1_bot", ProjectBot), s.AddBot("group_1_bot", ProjectBot)
	app.AddMember(ofProject, Developer)
	s.AddGroup("group").AddMember(ofGroup, Maintainer)
	c := newCaller(t, s)
	for _, bot := range []*User{ofProject, ofGroup} {
		for path, status := range map[string]int{
			"/projects/1/resource_groups": 200, "/projects/1/issues/1/time_stats": 200, "/user": 200,
			"/projects/2/resource_groups": 404, "/projects/2/issues/1/time_stats": 404,
			"/groups/group/integrations": map[bool]int{true: 200, false: 403}[bot == ofGroup],
		} {
			assert.Equal(t, status, c.as("").with("GET", path, "PRIVATE-TOKEN", bot.Token).Status, "%s %s", bot.Username, path)
			assert.Equal(t, status, c.as("").with("GET", path, "Authorization", "Bearer "+bot.Token).Status, "%s %s", bot.Username, path)
		}
		assert.Len(t, c.as(bot.Token).get("/issues?scope=all").array(t), 1)
	}
}
