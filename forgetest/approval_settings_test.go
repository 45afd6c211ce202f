package forgetest

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
)

// setting returns one setting of a response in a short form: "true", "false locked group".
func setting(t *testing.T, r reply, name string) string {
	t.Helper()
	object := r.object(t)
	v := object[name].(map[string]any)
	if v["locked"] == true {
		return fmt.Sprintf("%v locked %v", v["value"], v["inherited_from"])
	}
	assert.Nil(t, v["inherited_from"])
	return fmt.Sprint(v["value"])
}

func TestApprovalSettings(t *testing.T) {
	for _, path := range []string{"/groups/group%2Fsub", "/projects/group%2Fsub%2Fapp"} {
		s := New(t)
		s.AddProject("group/sub/app")
		c := newCaller(t, s)
		path += "/merge_request_approval_setting"
		for name, want := range map[string]string{
			"allow_author_approval": "true", "allow_committer_approval": "true", "allow_overrides_to_approver_list_per_merge_request": "true",
			"retain_approvals_on_push": "true", "selective_code_owner_removals": "false", "require_password_to_approve": "false",
			"require_reauthentication_to_approve": "false",
		} {
			assert.Equal(t, want, setting(t, c.get(path), name), name)
			if name == "selective_code_owner_removals" || name == "require_password_to_approve" {
				continue
			}
			changed := map[string]string{"true": "false", "false": "true"}[want]
			r := c.send("PUT", path, name+"="+changed)
			assert.Equal(t, 200, r.Status)
			assert.Equal(t, changed, setting(t, r, name))
			assert.Equal(t, r.Body, c.get(path).Body)
		}
		assert.Equal(t, "true", setting(t, c.send("PUT", path, "selective_code_owner_removals=true"), "selective_code_owner_removals"))
		before := c.get(path).Body
		for form, body := range map[string]string{
			"retain_approvals_on_push=true&allow_author_approval=true": `{"message":{"selective_code_owner_removals":["can only be enabled when retain_approvals_on_push is disabled"]}}`,
			"allow_author_approval=maybe":                              `{"error":"allow_author_approval is invalid"}`,
		} {
			r := c.send("PUT", path, form)
			assert.Equal(t, 400, r.Status)
			assert.Equal(t, body, r.Body)
			assert.Equal(t, before, c.get(path).Body)
		}
		assert.Equal(t, before, c.send("PUT", path, "require_password_to_approve=true").Body) // no parameter
		assert.Equal(t, before, c.send("PUT", path, "").Body)
		assert.Equal(t, 200, c.send("PUT", path, "retain_approvals_on_push=true&selective_code_owner_removals=false").Status)
		assert.Equal(t, 400, c.send("PUT", path, "selective_code_owner_removals=true").Status)
	}
}

func TestApprovalSettingsAreInherited(t *testing.T) {
	s := New(t)
	s.AddProject("group/sub/app")
	c := newCaller(t, s)
	const top, sub, app = "/groups/group/merge_request_approval_setting", "/groups/group%2Fsub/merge_request_approval_setting", "/projects/1/merge_request_approval_setting"
	look := func(name string) []string {
		return []string{setting(t, c.get(top), name), setting(t, c.get(sub), name), setting(t, c.get(app), name)}
	}
	for _, name := range []string{"allow_author_approval", "allow_committer_approval", "allow_overrides_to_approver_list_per_merge_request", "retain_approvals_on_push"} {
		c.send("PUT", app, name+"=true")
		assert.Equal(t, []string{"true", "true", "true"}, look(name))
		c.send("PUT", top, name+"=false")
		assert.Equal(t, []string{"false", "false locked group", "false locked group"}, look(name))
		assert.Equal(t, "false locked group", setting(t, c.send("PUT", app, name+"=true"), name))
		c.send("PUT", top, name+"=true")
		c.send("PUT", sub, name+"=false")
		assert.Equal(t, []string{"true", "false", "false locked group"}, look(name))
		c.send("PUT", sub, name+"=true")
		assert.Equal(t, []string{"true", "true", "true"}, look(name)) // own values of the project
	}
	c.send("PUT", sub, "require_reauthentication_to_approve=true")
	assert.Equal(t, []string{"false", "true", "true locked group"}, look("require_reauthentication_to_approve"))
	c.send("PUT", top, "retain_approvals_on_push=false&selective_code_owner_removals=true")
	assert.Equal(t, []string{"true", "false", "false"}, look("selective_code_owner_removals"))
	assert.Equal(t, 200, c.send("PUT", app, "selective_code_owner_removals=true").Status) // the group has disabled retain
}

func TestApprovalSettingsNeedRoleAndTier(t *testing.T) {
	for tier, want := range map[Tier]int{Free: 403, Premium: 200, Ultimate: 200} {
		s := New(t, WithTier(tier))
		p := s.AddProject("group/app")
		g := s.AddGroup("group")
		c := newCaller(t, s)
		for name, tc := range map[string]struct {
			role           Role
			group, project int
		}{"maintainer": {Maintainer, 403, want}, "owner": {Owner, want, want}, "developer": {Developer, 403, 403}} {
			u := s.AddUser(name)
			g.AddMember(u, tc.role)
			for _, method := range []string{"GET", "PUT"} {
				assert.Equal(t, tc.group, c.as(u.Token).send(method, "/groups/group/merge_request_approval_setting", "").Status, name)
				assert.Equal(t, tc.project, c.as(u.Token).send(method, "/projects/1/merge_request_approval_setting", "").Status, name)
			}
		}
		assert.Equal(t, 401, c.as("").get("/groups/group/merge_request_approval_setting").Status)
		assert.Equal(t, int64(1), p.ID)
	}
}
