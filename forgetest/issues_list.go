package forgetest

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"
)

// keptLists is the number of filtered lists in the cache. With the cache a list is filtered once,
// not once for each page.
const keptLists = 8

// issueRef refers to an issue of a filtered list.
type issueRef struct {
	project *Project
	iid     int64
}

func listIssues(c *call) response { return c.issueList(c.store.projects) }

func listGroupIssues(c *call) response {
	var projects []*Project
	for _, p := range c.store.projects {
		if within(p.Path, c.group.Path) {
			projects = append(projects, p)
		}
	}
	return c.issueList(projects)
}

// issueList returns the issues of the projects that the caller can see and that match the filters
// (Document 2 §4.1.1).
func (c *call) issueList(projects []*Project) response {
	projects = slices.DeleteFunc(slices.Clone(projects), func(p *Project) bool {
		return !p.readableBy(c.user) || p.archived && c.text("non_archived") != "false" || p.tracker.last == 0
	})
	viewpoint := scope{group: c.group, labels: c.flag("with_labels_details")}
	conditions := c.conditions()
	if len(projects) == 1 && len(conditions) == 0 && c.inOrder(projects[0]) {
		return c.page(projects[0].tracker.newestFirst(viewpoint))
	}
	if c.textOr("order_by", "created_at") == "created_at" && inCreationOrder(projects) {
		page, _ := c.number("page", 1)
		perPage, _ := c.number("per_page", defaultPerPage)
		reach := max(maxTotal, min(page, math.MaxInt32)*min(perPage, maxPerPage)) + 1
		scan := c.scanned(projects, c.textOr("sort", "desc") == "desc", conditions)
		return c.page(scan.listing(reach, func(i *Issue) *Document { return i.render(viewpoint) }))
	}
	refs := c.issueRefs(projects, conditions)
	return c.page(listing{n: len(refs), at: func(i int) *Document { return refs[i].issue().render(viewpoint) }})
}

func (r issueRef) issue() *Issue { return r.project.tracker.at(r.iid) }

// inOrder reports whether the list without conditions has all issues of the project by descending
// iid. A page of such a list is found without reading the others.
func (c *call) inOrder(p *Project) bool {
	return !p.tracker.disordered && !p.tracker.gaps && p.role(c.user) >= Reporter &&
		c.textOr("order_by", "created_at") == "created_at" && c.textOr("sort", "desc") == "desc"
}

func (t *tracker) newestFirst(viewpoint scope) listing {
	return listing{n: int(t.last), at: func(i int) *Document { return t.at(t.last - int64(i)).render(viewpoint) }}
}

// listKey returns the cache key of a list: everything that the list depends on, except for the
// page.
func (c *call) listKey() string {
	query := maps.Clone(c.params)
	query.Del("page")
	query.Del("per_page")
	viewer := "anonymous"
	if c.user != nil {
		viewer = c.user.Username
	}
	return fmt.Sprint(c.route.name, c.args["id"], viewer, c.server.now().Format(time.DateOnly), query.Encode())
}

// issueRefs filters and sorts the issues, or returns the result that an earlier page has cached.
func (c *call) issueRefs(projects []*Project, conditions []condition) []issueRef {
	key := c.listKey()
	if refs, known := c.store.lists[key]; known {
		return refs
	}
	order := c.textOr("order_by", "created_at")
	var rows []issueRow
	for _, p := range projects {
		var scratch *Issue
		for iid := range p.tracker.last {
			i := p.tracker.load(iid+1, &scratch)
			if i.readableBy(c.user) && allHold(conditions, &i.item) {
				rows = append(rows, issueRow{issueRef{p, i.IID}, i.ID, i.sortKey(order)})
			}
		}
	}
	descending := c.textOr("sort", "desc") == "desc"
	slices.SortFunc(rows, func(a, b issueRow) int { return compareRecords(a.key, b.key, a.id, b.id, descending) })
	refs := make([]issueRef, len(rows))
	for i, row := range rows {
		refs[i] = row.issueRef
	}
	if len(c.store.lists) >= keptLists {
		clear(c.store.lists)
	}
	c.store.lists[key] = refs
	return refs
}

// issueRow is an issue with its sort key.
type issueRow struct {
	issueRef
	id  int64
	key sortKey
}

// sortKey is the value by which records are sorted, and a second value for records with equal first
// values.
type sortKey [2]sortPart

type sortPart struct {
	null   bool
	number int64
	text   string
}

func byNumber(n int64) sortKey   { return sortKey{{number: n}} }
func byText(text string) sortKey { return sortKey{{text: text}} }

// compareRecords compares two records. The documents specify neither the position of records
// without a value nor the order of equal records. The interpretation follows the deployed server:
// for each part of the key, records without a value are last in both directions, and equal records
// are sorted by id in the direction of the list.
func compareRecords(a, b sortKey, aID, bID int64, descending bool) int {
	directed := func(order int) int {
		if descending {
			return -order
		}
		return order
	}
	for i := range a {
		switch x, y := a[i], b[i]; {
		case x.null && y.null:
		case x.null:
			return 1
		case y.null:
			return -1
		default:
			if order := cmp.Or(cmp.Compare(x.number, y.number), cmp.Compare(x.text, y.text)); order != 0 {
				return directed(order)
			}
		}
	}
	return directed(cmp.Compare(aID, bID))
}

// sortKey returns the key for a value of order_by.
func (i *item) sortKey(order string) sortKey {
	d := i.doc
	switch order {
	case "title":
		return byText(d.text("title"))
	case "popularity":
		return byNumber(d.int("upvotes") + i.countAwards("thumbsup"))
	case "relative_position":
		return byNumber(d.int("iid"))
	case "weight":
		return sortKey{{null: d.Get("weight") == nil, number: d.int("weight")}}
	case "milestone_due":
		return sortKey{timeKey(d.Get("milestone.due_date"))}
	case "label_priority":
		return sortKey{i.labelPriority()}
	case "priority":
		return sortKey{timeKey(d.Get("milestone.due_date")), i.labelPriority()}
	}
	return sortKey{timeKey(d.Get(order))} // created_at, updated_at, merged_at, due_date
}

func (i *item) labelPriority() sortPart {
	n, found := i.project.tracker.priority(i.doc.labels())
	return sortPart{null: !found, number: int64(n)}
}

func timeKey(value any) sortPart {
	t, ok := value.(time.Time)
	if !ok {
		return sortPart{null: true}
	}
	return sortPart{number: t.UnixMicro()}
}
