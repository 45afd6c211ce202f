package forgetest

import (
	"fmt"
	"hash/fnv"
	"strings"
	"time"
)

// tracker is the issue tracker of a project. Issues are numbered from 1 without gaps. Issues of a
// generated range are made when they are read; an issue that a call changes is stored.
type tracker struct {
	project       *Project
	stored        map[int64]*Issue // by iid
	generated     []generatedRange
	last          int64     // highest iid
	newest        time.Time // latest created_at
	disordered    bool      // an issue is older than one with a lower iid
	gaps          bool      // an issue was deleted, or is not visible yet
	labels        map[string]*Document
	priorities    map[string]int
	milestones    []*Document
	mergeRequests []*MergeRequest
}

type generatedRange struct{ first, last, id int64 }

// Issue is an issue of a project.
type Issue struct {
	ID  int64 // instance-wide
	IID int64 // number inside the project; used in paths

	item
	notes   []*Document
	related []*MergeRequest
}

func (t *tracker) init(p *Project) {
	t.project = p
	t.stored = map[int64]*Issue{}
	t.labels = map[string]*Document{}
	t.priorities = map[string]int{}
}

// at finds an issue by iid; nil if there is none.
func (t *tracker) at(iid int64) *Issue {
	var own *Issue
	return t.load(iid, &own)
}

// AddIssue creates an issue. fill, if not nil, changes its document; the author is the default user
// unless fill sets another one. The issue gets its id and iid afterwards.
func (p *Project) AddIssue(fill func(issue *Document)) *Issue {
	p.srv.edit()
	now := p.srv.now()
	p.srv.mu.Unlock()

	i := p.tracker.newIssue(now)
	i.doc.fillWith(fill, "id", "iid", "project_id", "web_url", "references", "type", "subscribed", "has_tasks", "task_completion_status",
		"_links.self", "_links.notes", "_links.award_emoji", "_links.project", "time_stats.human_time_estimate", "time_stats.human_total_time_spent")

	p.srv.edit()
	defer p.srv.mu.Unlock()
	p.tracker.last++
	i.complete(p.tracker.last, p.srv.store.nextID("issue", 1))
	p.tracker.save(i)
	p.srv.showAdded(&i.item)
	p.tracker.recordTime(i.doc.time("created_at"))
	return i
}

// AddIssues creates n issues; fill, if not nil, is called with the index and the document of each.
func (p *Project) AddIssues(n int, fill func(i int, issue *Document)) []*Issue {
	issues := make([]*Issue, n)
	for i := range n {
		issues[i] = p.AddIssue(func(d *Document) {
			if fill != nil {
				fill(i, d)
			}
		})
	}
	return issues
}

// AddGeneratedIssues adds n issues that use no memory: each issue is generated from its number when
// it is read. Their creation times start at 2020-01-01, a minute apart; two of three issues are
// open.
func (p *Project) AddGeneratedIssues(n int) {
	p.srv.edit()
	defer p.srv.mu.Unlock()
	t := &p.tracker
	t.generated = append(t.generated, generatedRange{first: t.last + 1, last: t.last + int64(n), id: p.srv.store.nextID("issue", n)})
	t.recordTime(generatedTime(t.last + 1))
	t.last += int64(n)
	t.recordTime(generatedTime(t.last))
}

func generatedTime(iid int64) time.Time {
	return time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(iid) * time.Minute)
}

func (t *tracker) newIssue(at time.Time) *Issue {
	d := NewDocument("Issue").Set("state", "opened").Set("created_at", at).
		Set("author", t.project.srv.store.root).Set("assignees", []*Document{}).
		Set("issue_type", "issue").Set("severity", "UNKNOWN").Set("imported_from", "none")
	return &Issue{item: item{project: t.project, doc: d}}
}

// complete sets the id and iid of the issue and the fields that are derived from other fields.
func (i *Issue) complete(iid, id int64) {
	i.IID, i.ID = iid, id
	d := i.doc.Set("id", id).Set("iid", iid).Set("project_id", i.project.ID)
	if d.text("title") == "" {
		d.Set("title", fmt.Sprintf("Issue %d", iid))
	}
	d.completeAssignees()
	if d.Get("updated_at") == nil {
		d.Set("updated_at", d.Get("created_at"))
	}
	if d.text("state") == "closed" && d.Get("closed_at") == nil {
		d.Set("closed_at", d.Get("updated_at"))
	}
}

// save stores an issue, which is then no longer generated.
func (t *tracker) save(i *Issue) {
	if t.stored[i.IID] == i {
		return
	}
	i.item.init()
	t.stored[i.IID] = i
}

func (t *tracker) recordTime(created time.Time) {
	t.disordered = t.disordered || created.Before(t.newest)
	t.newest = created
}

// Get reads a field of the issue's document.
func (i *Issue) Get(name string) any {
	i.project.srv.mu.Lock()
	defer i.project.srv.mu.Unlock()
	return i.render(scopeOf(nil)).Get(name)
}

// AddAwardEmoji adds a reaction ("thumbsup", "rocket") of a user to the issue.
func (i *Issue) AddAwardEmoji(u *User, emoji string) { i.award(u, emoji) }

// Relate adds a merge request to the issue's related merge requests.
func (i *Issue) Relate(mr *MergeRequest) {
	i.project.srv.edit()
	defer i.project.srv.mu.Unlock()
	i.related = append(i.related, mr)
}

// readableBy reports whether a user can read the issue. Only Reporters, the author and the
// assignees can read a confidential issue.
func (i *Issue) readableBy(u *User) bool {
	if i.hidden {
		return false
	}
	if !i.doc.bool("confidential") || i.project.role(u) >= Reporter {
		return true
	}
	return i.writtenBy(u) || i.assignedTo(u)
}

// AddMilestone creates a milestone; the dates may be zero. Assign it to issues with
// Set("milestone", m).
func (p *Project) AddMilestone(title string, start, due time.Time) *Document {
	p.srv.edit()
	defer p.srv.mu.Unlock()
	t := &p.tracker
	iid := len(t.milestones) + 1
	m := NewDocument("Milestone").Set("id", p.srv.store.nextID("milestone", 1)).Set("iid", iid).Set("project_id", p.ID).
		Set("title", title).Set("state", "active").Set("created_at", p.srv.now()).Set("updated_at", p.srv.now()).
		Set("web_url", link(fmt.Sprintf("/%s/-/milestones/%d", p.Path, iid)))
	if !start.IsZero() {
		m.Set("start_date", start)
	}
	if !due.IsZero() {
		m.Set("due_date", due).Set("expired", due.Before(p.srv.now()))
	}
	t.milestones = append(t.milestones, m)
	return m
}

// AddLabel adds a label. Labels that issues use without it get a generated color. priority 0 means
// unprioritized, 1 is the highest.
func (p *Project) AddLabel(name, color, description string, priority int) {
	p.srv.edit()
	defer p.srv.mu.Unlock()
	p.tracker.labels[name] = newLabel(name, color, description)
	if priority > 0 {
		p.tracker.priorities[name] = priority
	}
}

func newLabel(name, color, description string) *Document {
	return NewDocument("LabelDetails").Set("name", name).Set("color", color).Set("description", description).
		Set("description_html", description).Set("text_color", "#FFFFFF")
}

// label returns the long form of a label (with_labels_details).
func (t *tracker) label(name string) *Document {
	if l := t.labels[name]; l != nil {
		return l
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(name))
	return newLabel(name, fmt.Sprintf("#%06x", h.Sum32()&0xffffff), "")
}

// priority returns the best priority among labels; found is false if no label has a priority.
func (t *tracker) priority(labels []string) (best int, found bool) {
	for _, name := range labels {
		if p, ok := t.priorities[name]; ok && (!found || p < best) {
			best, found = p, true
		}
	}
	return best, found
}

// upcoming returns the open milestone with the earliest due date after today.
func (t *tracker) upcoming(today time.Time) *Document {
	var next *Document
	for _, m := range t.milestones {
		due := m.time("due_date")
		if m.text("state") == "active" && due.After(today) && (next == nil || due.Before(next.time("due_date"))) {
			next = m
		}
	}
	return next
}

// checklist counts the task items of a Markdown text.
func checklist(text string) (all, done int) {
	for line := range strings.Lines(text) {
		line = strings.TrimLeft(line, " -*+")
		switch {
		case strings.HasPrefix(line, "[x]"), strings.HasPrefix(line, "[X]"):
			all, done = all+1, done+1
		case strings.HasPrefix(line, "[ ]"):
			all++
		}
	}
	return all, done
}
