package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	perPage    = 100
	distinct   = 500 // distinct pages; longer lists use them again
	archive    = 1 << 30
	uploadSize = 5 << 20
	home       = "https://forge.example.com/"
)

// tagDocument is the detail of a registry tag.
const tagDocument = `{"name":"release/1.0","path":"group/app:release/1.0","location":"registry.forge.example.com/group/app:release/1.0",` +
	`"revision":"d7a513a663c1a6dcdba9ed832ca53c02ac2af0c333322cd6ca92936d1d9917ac","short_revision":"d7a513a66",` +
	`"digest":"sha256:0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a","created_at":"2026-03-01T09:30:00.123+02:00","total_size":350224384}`

// documents are what the server sends in a row: n documents of a kind. The contenders' values are
// compared with them.
type documents struct {
	kind string
	n    int
	at   func(int) string
}

// page returns the documents as a list.
func (d documents) page() string {
	items := make([]string, d.n)
	for i := range items {
		items[i] = d.at(i)
	}
	return "[" + strings.Join(items, ",") + "]"
}

func someIssues(n int) documents { return documents{"issue", n, issue} }
func someEvents(n int) documents { return documents{"event", n, event} }
func oneTag() documents {
	return documents{"tag", 1, func(int) string { return tagDocument }}
}

// object is a JSON object whose keys have an order. Servers escape <, > and & in texts, as
// encoding/json does.
type object []pair

type pair struct {
	key   string
	value any
}

// write appends the object's JSON.
func (o object) write(b *bytes.Buffer) {
	b.WriteByte('{')
	for i, p := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(b, "%q:", p.key)
		writeValue(b, p.value)
	}
	b.WriteByte('}')
}

func writeValue(b *bytes.Buffer, value any) {
	switch v := value.(type) {
	case object:
		v.write(b)
	case []object:
		b.WriteByte('[')
		for i, o := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			o.write(b)
		}
		b.WriteByte(']')
	default:
		text, err := json.Marshal(v)
		if err != nil {
			panic(err) // the values are numbers, texts and lists of texts
		}
		b.Write(text)
	}
}

func (o object) text() string {
	var b bytes.Buffer
	o.write(&b)
	return b.String()
}

// draw returns a number below n that depends on the item and the purpose only.
func draw(i, purpose, n int) int {
	x := uint64(i)*0x9E3779B97F4A7C15 + uint64(purpose)*0xD1B54A32D192ED03
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return int((x ^ x>>31) % uint64(n))
}

// The purposes of draws.
const (
	byAuthor = iota
	byAssignees
	byCloser
	byState
	byMilestone
	byLabels
	byText
	byTime
	byNulls
	byEvent
)

// stamp returns a time after a start, as servers write it.
func stamp(start time.Time, i, purpose, days int) string {
	return start.Add(time.Duration(draw(i, purpose, days*86_400_000)) * time.Millisecond).Format("2006-01-02T15:04:05.000Z")
}

// either returns value in share of 8 items, and null in the others.
func either(i, purpose, share int, value any) any {
	if draw(i, purpose, 8) < share {
		return value
	}
	return nil
}

// issue returns the JSON of an issue, 3.7 kB on average.
func issue(i int) string {
	project, iid := projectAt(draw(i, byNulls+100, 40)), 318+i
	address := home + "api/v4/projects/" + strconv.Itoa(project.id)
	author, assignees := person(draw(i, byAuthor, people)), assigned(i)
	opened := time.Date(2025, 6, 1, 0, 0, 0, 0, time.UTC)
	state, closedAt, closedBy := "opened", any(nil), any(nil)
	if draw(i, byState, 3) > 0 {
		state, closedAt, closedBy = "closed", stamp(opened.AddDate(0, 5, 0), i, byCloser, 90), person(draw(i, byCloser+100, people))
	}
	assignee := any(nil)
	if len(assignees) > 0 {
		assignee = assignees[0]
	}
	tasks, done := draw(i, byText+300, 6), 0
	if tasks > 0 {
		done = draw(i, byText+301, tasks+1)
	}
	return object{
		{"id", 84021 + 37*i}, {"iid", iid}, {"project_id", project.id}, {"title", title(i)}, {"description", either(i, byNulls+1, 7, description(i))},
		{"state", state}, {"created_at", stamp(opened, i, byTime, 60)}, {"updated_at", stamp(opened.AddDate(0, 3, 0), i, byTime+100, 60)},
		{"closed_at", closedAt}, {"closed_by", closedBy}, {"author", author}, {"assignees", assignees}, {"assignee", assignee},
		{"milestone", milestone(i, project)}, {"labels", labels(i)}, {"type", "ISSUE"}, {"issue_type", "issue"}, {"severity", "UNKNOWN"},
		{"moved_to_id", either(i, byNulls+2, 1, 90_000+i)}, {"upvotes", draw(i, byNulls+3, 12)}, {"downvotes", draw(i, byNulls+4, 3)},
		{"merge_requests_count", draw(i, byNulls+5, 4)}, {"user_notes_count", draw(i, byNulls+6, 40)},
		{"due_date", either(i, byNulls+7, 3, "2026-03-"+strconv.Itoa(10+draw(i, byNulls+8, 19)))}, {"imported", false}, {"imported_from", "none"},
		{"web_url", home + project.path + "/-/issues/" + strconv.Itoa(iid)},
		{"references", object{{"short", "#" + strconv.Itoa(iid)}, {"relative", "#" + strconv.Itoa(iid)}, {"full", project.path + "#" + strconv.Itoa(iid)}}},
		{"time_stats", timeStats(i)}, {"has_tasks", tasks > 0}, {"task_status", fmt.Sprintf("%d of %d checklist items completed", done, tasks)},
		{"task_completion_status", object{{"count", tasks}, {"completed_count", done}}},
		{"confidential", draw(i, byNulls+9, 8) == 0}, {"discussion_locked", either(i, byNulls+10, 1, true)}, {"subscribed", draw(i, byNulls+11, 2) == 0},
		{"_links", object{
			{"self", fmt.Sprint(address, "/issues/", iid)}, {"notes", fmt.Sprint(address, "/issues/", iid, "/notes")},
			{"award_emoji", fmt.Sprint(address, "/issues/", iid, "/award_emoji")}, {"project", address},
			{"closed_as_duplicate_of", either(i, byNulls+12, 1, fmt.Sprint(address, "/issues/", iid-1))},
		}},
		{"weight", either(i, byNulls+13, 4, 1+draw(i, byNulls+14, 8))}, {"epic", epic(i)}, {"epic_iid", either(i, byNulls+15, 2, 40+draw(i, byNulls+16, 20))},
		{"iteration", iteration(i)}, {"health_status", either(i, byNulls+17, 4, "on_track")}, {"blocking_issues_count", draw(i, byNulls+18, 3)},
		{"service_desk_reply_to", either(i, byNulls+19, 1, "customer@example.org")},
	}.text()
}

func assigned(i int) []object {
	users := make([]object, draw(i, byAssignees, 3))
	for u := range users {
		users[u] = person(draw(i, byAssignees+100+u, people))
	}
	return users
}

func labels(i int) []string {
	of := make([]string, draw(i, byLabels, 9))
	for l := range of {
		of[l] = label(draw(i, byLabels+100+l, labelCount))
	}
	return of
}

func milestone(i int, of project) any {
	n := draw(i, byMilestone, 16)
	if n < 4 {
		return nil
	}
	return object{
		{"id", 500 + n}, {"iid", n}, {"project_id", of.id}, {"title", fmt.Sprintf("4.%d", n)}, {"description", "Exports & imports that finish"},
		{"state", "active"}, {"created_at", "2026-01-07T10:00:00.000Z"}, {"updated_at", "2026-02-02T12:31:40.512Z"},
		{"due_date", either(n, byMilestone, 6, "2026-04-30")}, {"start_date", either(n, byMilestone+100, 6, "2026-02-01")}, {"expired", n < 6},
		{"web_url", fmt.Sprint(home, of.path, "/-/milestones/", n)},
	}
}

func timeStats(i int) object {
	estimated, spent := 2*draw(i, byNulls+20, 4), draw(i, byNulls+21, 4)
	return object{
		{"time_estimate", 3600 * estimated}, {"total_time_spent", 3600 * spent},
		{"human_time_estimate", hours(estimated)}, {"human_total_time_spent", hours(spent)},
	}
}

func hours(n int) any {
	if n == 0 {
		return nil
	}
	return strconv.Itoa(n) + "h"
}

func epic(i int) any {
	n := 40 + draw(i, byNulls+16, 20)
	return either(i, byNulls+15, 2, object{
		{"id", 7000 + n}, {"iid", n}, {"title", topics[n%len(topics)]}, {"url", "/groups/platform/-/epics/" + strconv.Itoa(n)}, {"group_id", 61},
		{"human_readable_end_date", "Apr 30, 2026"}, {"human_readable_timestamp", "2 months remaining"},
	})
}

func iteration(i int) any {
	n := draw(i, byNulls+22, 12)
	return either(i, byNulls+23, 4, object{
		{"id", 80 + n}, {"iid", n}, {"sequence", 1 + n%4}, {"group_id", 61}, {"title", nil}, {"description", nil}, {"state", 1 + n%3},
		{"created_at", "2026-01-30T00:10:04.000Z"}, {"updated_at", "2026-02-16T00:10:03.000Z"}, {"start_date", "2026-02-16"},
		{"due_date", "2026-03-01"}, {"web_url", home + "groups/platform/-/iterations/" + strconv.Itoa(80+n)},
	})
}

// event returns the JSON of an audit event.
func event(i int) string {
	author, kind, of := person(draw(i, byEvent, people)), eventKinds[draw(i, byEvent+100, len(eventKinds))], projectAt(draw(i, byEvent+101, 40))
	name, username, address := author.textOf("name"), author.textOf("username"), fmt.Sprintf("10.11.%d.%d", draw(i, byEvent+102, 16), draw(i, byEvent+103, 250))
	details := object{{kind.verb, kind.what}}
	if kind.verb == "change" {
		details = append(details, pair{"from", label(draw(i, byEvent+104, labelCount))}, pair{"to", label(draw(i, byEvent+105, labelCount))})
	}
	target := topics[draw(i, byEvent+106, len(topics))]
	details = append(details, object{
		{"author_name", name}, {"author_email", username + "@example.com"}, {"author_class", "User"}, {"target_id", of.id}, {"target_type", "Project"},
		{"target_details", target}, {"custom_message", either(i, byEvent+107, 4, title(i))}, {"ip_address", address}, {"entity_path", of.path},
	}...)
	return object{
		{"id", 1_000_000_000 - i}, {"author_id", author[0].value}, {"entity_id", of.id}, {"entity_type", "Project"}, {"details", details},
		{"created_at", stamp(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), i, byTime, 28)}, {"ip_address", address}, {"author_name", name},
		{"entity_path", of.path}, {"target_details", target}, {"target_type", "Project"}, {"target_id", of.id},
		{"event_type", kind.name}, {"event_name", kind.name},
	}.text()
}

// pages are the pages of a list. A page is built at its first request.
type pages [distinct]func() []byte

func pagesOf(item func(int) string) *pages {
	all := new(pages)
	for p := range all {
		all[p] = sync.OnceValue(func() []byte {
			return []byte(documents{"", perPage, func(i int) string { return item(p*perPage + i) }}.page())
		})
	}
	return all
}

// at returns the page with an index from 0. The documents of later pages are those of the first
// ones again.
func (all *pages) at(index int) []byte { return all[index%distinct]() }
