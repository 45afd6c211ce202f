package forgetest

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"
)

// keptLists is how many filtered lists are remembered, so that walking the pages of one filters it once.
const keptLists = 8

// issueRef is the place of an issue in a filtered list.
type issueRef struct {
	project *Project
	iid     int64
}

func listIssues(c *call) answer { return c.issueList(c.projects, "created_by_me") }

func listGroupIssues(c *call) answer {
	var projects []*Project
	for _, p := range c.projects {
		if within(p.Path, c.group.Path) {
			projects = append(projects, p)
		}
	}
	return c.issueList(projects, "all")
}

// issueList answers the issues of the projects that the caller can see and that pass the filters (document 2 §4.1.1).
func (c *call) issueList(projects []*Project, defaultScope string) answer {
	projects = slices.DeleteFunc(slices.Clone(projects), func(p *Project) bool {
		return !p.readableBy(c.user) || p.archived && c.text("non_archived") != "false" || p.tracker.last == 0
	})
	look := scope{group: c.group, labels: c.flag("with_labels_details")}
	conditions := c.conditions(defaultScope)
	if len(projects) == 1 && len(conditions) == 0 && c.inOrder(projects[0]) {
		return c.page(projects[0].tracker.newestFirst(look))
	}
	if c.textOr("order_by", "created_at") == "created_at" && ordered(projects) {
		page, _ := c.number("page", 1)
		perPage, _ := c.number("per_page", defaultPerPage)
		reach := max(maxTotal, min(page, math.MaxInt32)*min(perPage, maxPerPage)) + 1
		scan := c.scanned(projects, c.textOr("sort", "desc") == "desc", conditions)
		return c.page(scan.listing(reach, func(i *Issue) *Document { return i.render(look) }))
	}
	refs := c.issueRefs(projects, conditions)
	return c.page(listing{n: len(refs), at: func(i int) *Document { return refs[i].issue().render(look) }})
}

func (r issueRef) issue() *Issue { return r.project.tracker.at(r.iid) }

// inOrder reports whether the list is the project's issues from the highest iid down, so that a page of a very long list
// needs none of the others.
func (c *call) inOrder(p *Project) bool {
	return !p.tracker.disordered && p.role(c.user) >= Reporter &&
		c.textOr("order_by", "created_at") == "created_at" && c.textOr("sort", "desc") == "desc"
}

func (t *tracker) newestFirst(look scope) listing {
	return listing{n: int(t.last), at: func(i int) *Document { return t.at(t.last - int64(i)).render(look) }}
}

// listKey names a list: everything that it depends on, apart from the page.
func (c *call) listKey() string {
	query := maps.Clone(c.params)
	query.Del("page")
	query.Del("per_page")
	viewer := "anonymous"
	if c.user != nil {
		viewer = c.user.Username
	}
	return fmt.Sprint(c.route.name, c.args["id"], viewer, c.now().Format(time.DateOnly), query.Encode())
}

// issueRefs filters and sorts, or takes the result from an earlier page.
func (c *call) issueRefs(projects []*Project, conditions []condition) []issueRef {
	key := c.listKey()
	if refs, known := c.lists[key]; known {
		return refs
	}
	order := c.textOr("order_by", "created_at")
	var rows []issueRow
	for _, p := range projects {
		var scratch *Issue
		for iid := range p.tracker.last {
			i := p.tracker.look(iid+1, &scratch)
			if i.readableBy(c.user) && all(conditions, &i.item) {
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
	if len(c.lists) >= keptLists {
		clear(c.lists)
	}
	c.lists[key] = refs
	return refs
}

// issueRow is an issue with what it is sorted by.
type issueRow struct {
	issueRef
	id  int64
	key sortKey
}

// sortKey is what a record is sorted by, and what decides among equals.
type sortKey [2]sortPart

type sortPart struct {
	null   bool
	number int64
	text   string
}

func byNumber(n int64) sortKey   { return sortKey{{number: n}} }
func byText(text string) sortKey { return sortKey{{text: text}} }

// compareRecords is the order of two records. The documents do not say where records without a value
// are, nor what decides among equals. The interpretation, as of the deployed server: in each part of
// the key those without a value are last in both directions, and equals are sorted by id in the
// direction of the list.
func compareRecords(a, b sortKey, aID, bID int64, descending bool) int {
	sign := 1
	if descending {
		sign = -1
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
				return sign * order
			}
		}
	}
	return sign * cmp.Compare(aID, bID)
}

// sortKey is the value of an order_by.
func (i *Issue) sortKey(order string) sortKey {
	d := i.doc
	switch order {
	case "title":
		return byText(d.text("title"))
	case "popularity":
		return byNumber(d.int("upvotes") + i.countAwards("thumbsup"))
	case "relative_position":
		return byNumber(i.IID)
	case "weight":
		return sortKey{{null: d.Get("weight") == nil, number: d.int("weight")}}
	case "milestone_due":
		return sortKey{timeKey(d.Get("milestone.due_date"))}
	case "label_priority":
		return sortKey{i.labelPriority()}
	case "priority":
		return sortKey{timeKey(d.Get("milestone.due_date")), i.labelPriority()}
	}
	return sortKey{timeKey(d.Get(order))} // created_at, updated_at, due_date
}

func (i *Issue) labelPriority() sortPart {
	n, found := i.project.tracker.priority(i.doc.labels())
	return sortPart{null: !found, number: int64(n)}
}

func timeKey(value any) sortPart {
	t, ok := value.(time.Time)
	if !ok {
		return sortPart{null: true}
	}
	return sortPart{number: t.UnixMilli()}
}
