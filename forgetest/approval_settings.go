package forgetest

import (
	"maps"
	"slices"
	"strconv"
)

func approvalSettingRoutes() []route {
	return []route{
		{name: "GET /groups/:id/merge_request_approval_setting", role: Owner, handle: getApprovals},
		{name: "PUT /groups/:id/merge_request_approval_setting", role: Owner, handle: setApprovals},
		{name: "GET /projects/:id/merge_request_approval_setting", role: Maintainer, handle: getApprovals},
		{name: "PUT /projects/:id/merge_request_approval_setting", role: Maintainer, handle: setApprovals},
	}
}

// strictApprovals returns, for each setting that groups pass on, the value that locks the setting
// for everything below the group. The other value is the default.
func strictApprovals() map[string]bool {
	return map[string]bool{
		"allow_author_approval": false, "allow_committer_approval": false, "retain_approvals_on_push": false,
		"allow_overrides_to_approver_list_per_merge_request": false,
		"require_password_to_approve":                        true, "require_reauthentication_to_approve": true,
	}
}

// sameApproval returns the two names of one setting. The server copies each to the other.
func sameApproval() map[string]string {
	return map[string]string{
		"require_password_to_approve": "require_reauthentication_to_approve", "require_reauthentication_to_approve": "require_password_to_approve",
	}
}

// approvals are the settings of a group or project and of the groups above it.
type approvals struct {
	subject any
	own     *map[string]bool
	above   *Group
}

func (c *call) approvals() approvals {
	if c.project != nil {
		return approvals{c.project, &c.project.approvals, c.project.group}
	}
	return approvals{c.group, &c.group.approvals, c.group.parent}
}

// value returns the effective value of a setting, and whether a group above locks it.
func (s approvals) value(name string, own map[string]bool) (value, locked bool) {
	strict, inherited := strictApprovals()[name]
	for g := s.above; g != nil && inherited; g = g.parent {
		if set, given := g.approvals[name]; given && set == strict {
			return strict, true
		}
	}
	if set, given := own[name]; given {
		return set, false
	}
	return inherited && !strict, false
}

func (s approvals) render() *Document {
	d := NewDocument("ApprovalSettings")
	for _, name := range d.Fields() {
		value, locked := s.value(name, *s.own)
		setting := NewDocument("ApprovalSettingValue").Set("value", value).Set("locked", locked)
		if locked {
			setting.Set("inherited_from", "group")
		}
		d.Set(name, setting)
	}
	return d
}

func getApprovals(c *call) response { return ok(c.approvals().render()) }

// setApprovals changes settings. A setting that is locked by a group above keeps that group's
// value.
func setApprovals(c *call) response {
	s := c.approvals()
	own := maps.Clone(*s.own)
	if own == nil {
		own = map[string]bool{}
	}
	for _, p := range c.route.endpoint.BodyParams {
		if c.has(p.Wire) {
			own[p.Name] = c.flag(p.Wire)
			if other := sameApproval()[p.Name]; other != "" && c.server.release.has(newest) {
				own[other] = own[p.Name]
			}
		}
	}
	value := func(name string) bool {
		v, _ := s.value(name, own)
		return v
	}
	for _, p := range c.route.endpoint.BodyParams {
		if problem := p.unmetNeed(value); value(p.Name) && problem != "" {
			return invalid(p.Name, problem)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(own)) {
		from, _ := s.value(name, *s.own)
		if to, _ := s.value(name, own); to != from {
			c.audit(s.subject, name, strconv.FormatBool(from), strconv.FormatBool(to))
		}
	}
	*s.own = own
	return ok(s.render())
}
