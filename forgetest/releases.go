package forgetest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// The contract describes release 18.2. This file adds what later releases have at its endpoints,
// and marks what they no longer have, by GitLab's OpenAPI document and code of 19.5. A row
// without a stated release has newest, in which it was seen. Not added are fields that no record
// here can have: the group of a to-do, and the resolution and the position of a note.

// newest is the release of a server without [WithRelease].
var newest = release{19, 5}

// lastMinors has the last minor release of each known major release.
var lastMinors = map[int]int{13: 12, 14: 10, 15: 11, 16: 11, 17: 11, 18: 11, newest.major: newest.minor}

// mustBeKnown panics for a release that does not exist: nothing states what it has.
func (r release) mustBeKnown(number string) {
	if last, known := lastMinors[r.major]; known && r.minor >= 0 && r.minor <= last {
		return
	}
	var ranges []string
	for _, major := range slices.Sorted(maps.Keys(lastMinors)) {
		ranges = append(ranges, fmt.Sprintf("%d.0 to %d.%d", major, major, lastMinors[major]))
	}
	panic(fmt.Sprintf("forgetest: WithRelease: no release %q: known are %s", number, strings.Join(ranges, ", ")))
}

// version is the text of GET /version.
func (r release) version() string { return fmt.Sprintf("%d.%d.0-ee", r.major, r.minor) }

func since(r release) *availability { return &availability{Introduced: r} }

// added returns fields of newest. kind is a type of JSON, a format of times, or a type of the
// contract. With views, only these have the fields.
func added(kind string, names []string, views ...string) []*field {
	fields := make([]*field, len(names))
	for i, name := range names {
		f := &field{Name: name, Type: kind, Nullable: true, Views: views, Only: since(newest)}
		if kind == "timestamp" || kind == "date" {
			f.Type, f.Format = "string", kind
		}
		fields[i] = f
	}
	return fields
}

// laterFields returns the fields that were added, by type.
func laterFields() map[string][]*field {
	names := strings.Fields
	pipeline := slices.Concat(added("integer", names("iid project_id")), added("string", names("source")), added("timestamp", names("created_at updated_at")))
	fields := map[string][]*field{
		"AuditEventDetails":    slices.Concat(added("string", names("with as remove failed_login event_name")), added("unknown", names("changes"))),
		"Issue":                added("date", names("start_date")),
		"MergeRequestPipeline": pipeline,
		"Note": slices.Concat(added("boolean", names("internal imported")), added("integer", names("project_id")),
			added("string", names("imported_from commit_id"))),
		"Runner":            slices.Concat(added("timestamp", names("created_at"), "list", "detail"), added("array", names("groups"), "detail")),
		"RunnerGroup":       slices.Concat(added("integer", names("id")), added("string", names("web_url name"))),
		"RunnerJob":         slices.Concat(added("boolean", names("allow_failure")), added("timestamp", names("erased_at")), added("string", names("failure_reason web_url"))),
		"RunnerJobPipeline": append(slices.Clone(pipeline), added("string", names("web_url"))...),
		"UpcomingJob":       slices.Concat(added("timestamp", names("erased_at")), added("string", names("failure_reason"))),
		"User": slices.Concat(added("string", names("bio_html"), "by id"), added("string", names("preferred_language"), "full"),
			added("integer", names("provisioned_by_project_id enterprise_group_id"), "full"), added("timestamp", names("enterprise_group_associated_at"), "full")),
		"UserSummary": slices.Concat(added("string", names("public_email")), added("boolean", names("bot"), "author")),
	}
	fields["Issue"][0].Only = since(release{19, 1})
	for _, f := range fields["Runner"] {
		if f.Name == "groups" {
			f.Items = &itemType{Type: "object", Ref: "RunnerGroup"}
		}
	}
	for _, f := range fields["User"] {
		if strings.HasPrefix(f.Name, "enterprise_") {
			f.Only = &availability{Introduced: newest, Tiers: []Tier{Premium, Ultimate}}
		}
	}
	return fields
}

// addLaterFields adds the fields to their types. Of the users of a merge request only the author
// has the field bot.
func (c *contract) addLaterFields() {
	c.shapes["RunnerGroup"] = &shape{name: "RunnerGroup", index: map[string]int{}}
	for name, fields := range laterFields() {
		c.shapes[name].add(fields)
	}
	mr := c.shapes["MergeRequest"]
	mr.fields[mr.index["author"]].view = "author"
}

// query sets the rows of query parameters of newest.
func (c *contract) query(id, kind string, names ...string) { put(&c.find(id).QueryParams, kind, names) }

// body is query for parameters of the body.
func (c *contract) body(id, kind string, names ...string) { put(&c.find(id).BodyParams, kind, names) }

// put replaces the rows of these names, or adds rows.
func put(rows *[]parameter, kind string, names []string) {
	for _, name := range names {
		p := parameter{Name: name, Wire: name, Type: kind, Only: since(newest)}
		if strings.HasPrefix(kind, "array") {
			p.Wire += "[]"
		}
		*rows = append(slices.DeleteFunc(*rows, func(old parameter) bool { return old.Name == name }), p)
	}
}

// exclude makes two query parameters of an endpoint exclude each other.
func (c *contract) exclude(id, a, b string) {
	params := c.find(id).QueryParams
	find(params, a).ExclusiveWith, find(params, b).ExclusiveWith = []string{b}, []string{a}
}

// addLaterParameters adds the parameters of later releases, and the values of those that exist.
func (c *contract) addLaterParameters() {
	for _, id := range []string{"merge_requests.list", "merge_requests.list_project"} {
		c.query(id, "array<string>", "assignee_username")
		c.exclude(id, "assignee_username", "assignee_id")
		c.query(id, "datetime", "merged_after", "merged_before")
		c.query(id, "boolean", "draft")
		find(c.find(id).QueryParams, "draft").Only = since(release{19, 0})
		c.exclude(id, "draft", "wip")
		c.addValues(id, "order_by", "label_priority", "milestone_due", "popularity", "priority")
	}
	c.query("merge_requests.list", "boolean", "non_archived")
	c.addValues("merge_requests.list_project", "order_by", "merged_at")
	c.query("repositories.archive", "string", "ref_type")
	find(c.find("repositories.archive").QueryParams, "ref_type").Enum = []string{"heads", "tags"}
	c.query("repositories.tree", "boolean", "with_last_commit")
	c.exclude("repositories.tree", "with_last_commit", "recursive")
	c.addValues("repositories.tree", "pagination", "none")
	for _, id := range []string{"runners.list_all", "runners.list_project"} {
		c.addValues(id, "scope", "instance_type", "group_type", "project_type", "never_contacted", "stale")
	}
	c.query("runners.list_project", "string", "version_prefix")
	c.query("runners.get", "boolean", "include_projects")
	c.query("users.list", "string", "public_email")
	c.body("approval_settings.update_group", "boolean", "require_password_to_approve")
	c.body("approval_settings.update_project", "boolean", "require_password_to_approve")
	for _, id := range []string{"approval_settings.update_group", "approval_settings.update_project", "runners.update", "runners.pause"} {
		c.find(id).needsOne = true
	}
	c.body("issues.promote_by_note", "boolean", "internal")
	c.body("issues.promote_by_note", "datetime", "created_at")
	jobs := &c.find("runners.list_jobs").Pagination
	jobs.Keyset, jobs.Only, jobs.Who = true, since(newest), "authenticated"
	jobs.Order = &keysetOrder{OrderBy: []string{"id"}, Sort: []string{"asc", "desc"}}
	c.changeIssueLists()
}

// changeIssueLists adds what the lists of issues accept since newest, and marks the keys of not
// that the list of a group ignores since then.
func (c *contract) changeIssueLists() {
	group := find(c.find("issues.list_group").QueryParams, "not")
	put(&group.Keys, "array<integer>", []string{"iids"})
	find(group.Keys, "iids").Wire = "not[iids][]"
	for _, name := range []string{"my_reaction_emoji", "search", "in"} {
		find(group.Keys, name).Removed = newest
	}
	for _, id := range []string{"issues.list", "issues.list_group"} {
		c.addValues(id, "issue_type", "requirement", "ticket")
		params := c.find(id).QueryParams
		own, not := find(params, "iteration_id"), find(find(params, "not").Keys, "iteration_id")
		own.addValues(&own.Special, "Current")
		not.addValues(&not.Special, "None", "Any", "Current")
	}
}

// addValues adds values of newest to the enum of a query parameter.
func (c *contract) addValues(id, name string, values ...string) {
	p := find(c.find(id).QueryParams, name)
	p.addValues(&p.Enum, values...)
}

// addValues adds values of newest to one of the lists of values that a parameter has.
func (p *parameter) addValues(list *[]string, values ...string) {
	*list, p.EnumSince = slices.Concat(*list, values), maps.Clone(p.EnumSince)
	if p.EnumSince == nil {
		p.EnumSince = map[string]release{}
	}
	for _, value := range values {
		p.EnumSince[value] = newest
	}
}

// find returns an endpoint by its id.
func (c *contract) find(id string) *endpoint {
	for _, e := range c.endpoints {
		if e.ID == id {
			return e
		}
	}
	panic("forgetest: no endpoint " + id)
}
