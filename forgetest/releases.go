package forgetest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// The contract describes release 18.2. This file adds what later releases have at its endpoints, and
// marks what they no longer have, from GitLab's OpenAPI document of 19.5. Where no source states the
// release that brought something, it is the one in which it was seen, newest. Not added are
// properties that no record here can have: the group of a to-do, and the resolution and the position
// of a note.

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

// addLaterFields adds the fields to their types. Of the users of a merge request only the author has
// the field bot.
func (c *contract) addLaterFields() {
	c.shapes["RunnerGroup"] = &shape{name: "RunnerGroup", index: map[string]int{}}
	for name, fields := range laterFields() {
		c.shapes[name].add(fields)
	}
	mr := c.shapes["MergeRequest"]
	mr.fields[mr.index["author"]].view = "author"
}

// addLaterParameters adds the parameters of later releases, and the values of those that exist.
func (c *contract) addLaterParameters() {
	query := func(id string, params ...parameter) {
		c.find(id).QueryParams = append(c.find(id).QueryParams, params...)
	}
	for _, id := range []string{"merge_requests.list", "merge_requests.list_project"} {
		query(id, parameter{Name: "assignee_username", Wire: "assignee_username[]", Type: "array<string>", ExclusiveWith: []string{"assignee_id"}, Only: since(newest)},
			parameter{Name: "merged_after", Wire: "merged_after", Type: "datetime", Only: since(newest)},
			parameter{Name: "merged_before", Wire: "merged_before", Type: "datetime", Only: since(newest)},
			parameter{Name: "draft", Wire: "draft", Type: "boolean", ExclusiveWith: []string{"wip"}, Only: since(release{19, 0})})
		find(c.find(id).QueryParams, "assignee_id").ExclusiveWith = []string{"assignee_username"}
		find(c.find(id).QueryParams, "wip").ExclusiveWith = []string{"draft"}
		c.addValues(id, "order_by", "label_priority", "milestone_due", "popularity", "priority")
	}
	c.addValues("merge_requests.list_project", "order_by", "merged_at")
	query("merge_requests.list", parameter{Name: "non_archived", Wire: "non_archived", Type: "boolean", Only: since(newest)})
	query("repositories.archive", parameter{Name: "ref_type", Wire: "ref_type", Type: "string", Enum: []string{"heads", "tags"}, Only: since(newest)})
	query("repositories.tree", parameter{Name: "with_last_commit", Wire: "with_last_commit", Type: "boolean", ExclusiveWith: []string{"recursive"}, Only: since(newest)})
	find(c.find("repositories.tree").QueryParams, "recursive").ExclusiveWith = []string{"with_last_commit"}
	c.addValues("repositories.tree", "pagination", "none")
	query("runners.list_project", parameter{Name: "version_prefix", Wire: "version_prefix", Type: "string", Only: since(newest)})
	for _, id := range []string{"runners.list_all", "runners.list_project"} {
		c.addValues(id, "scope", "instance_type", "group_type", "project_type", "never_contacted", "stale")
	}
	query("runners.get", parameter{Name: "include_projects", Wire: "include_projects", Type: "boolean", Only: since(newest)})
	query("users.list", parameter{Name: "public_email", Wire: "public_email", Type: "string", Only: since(newest)})
	for _, id := range []string{"approval_settings.update_group", "approval_settings.update_project"} {
		e := c.find(id)
		e.BodyParams = append(e.BodyParams, parameter{Name: "require_password_to_approve", Wire: "require_password_to_approve", Type: "boolean", Only: since(newest)})
	}
	notes := c.find("issues.promote_by_note")
	notes.BodyParams = append(notes.BodyParams, parameter{Name: "internal", Wire: "internal", Type: "boolean", Only: since(newest)},
		parameter{Name: "created_at", Wire: "created_at", Type: "datetime", Only: since(newest)})
	jobs := &c.find("runners.list_jobs").Pagination
	jobs.Keyset, jobs.Only, jobs.Who = true, since(newest), "authenticated"
	jobs.Order = &keysetOrder{OrderBy: []string{"id"}, Sort: []string{"asc", "desc"}}
	c.changeIssueLists()
}

// changeIssueLists adds what the lists of issues accept since newest, and marks the keys of not that
// the list of a group ignores since then.
func (c *contract) changeIssueLists() {
	all := c.find("issues.list")
	group := find(c.find("issues.list_group").QueryParams, "not")
	iids := *find(find(all.QueryParams, "not").Keys, "iids")
	iids.Only = since(newest)
	group.Keys = append(group.Keys, iids)
	for _, name := range []string{"my_reaction_emoji", "search", "in"} {
		find(group.Keys, name).Removed = newest
	}
	for _, id := range []string{"issues.list", "issues.list_group"} {
		c.addValues(id, "issue_type", "requirement", "ticket")
		params := c.find(id).QueryParams
		for _, p := range []*parameter{find(params, "iteration_id"), find(find(params, "not").Keys, "iteration_id")} {
			before := p.Special
			p.Special = []string{"None", "Any", "Current"}
			p.EnumSince = map[string]release{}
			for _, word := range p.Special {
				if !slices.Contains(before, word) {
					p.EnumSince[word] = newest
				}
			}
		}
	}
}

// addValues adds values of newest to a query parameter.
func (c *contract) addValues(id, name string, values ...string) {
	p := find(c.find(id).QueryParams, name)
	p.Enum, p.EnumSince = slices.Concat(p.Enum, values), maps.Clone(p.EnumSince)
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
