package forgetest

import (
	_ "embed"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

//go:embed demo/history.txt
var demoHistory string

// demoIssues is the number of issues of each demo project.
const demoIssues = 76

// DemoTime returns the time at which the clock of a server with demo data is stopped: 2026-03-02,
// 09:00 UTC.
func DemoTime() time.Time { return time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC) }

// seedDemo fills the server: the group acme with four projects, their issues over a year, one
// repository, and the records for administrators of demo_operations.go.
func (s *Server) seedDemo() {
	acme := s.AddGroup("acme")
	team := map[string]*User{}
	var names []string
	for i, name := range []string{"maya.lindqvist", "tomas.berg", "aisha.khan", "daniel.okafor", "yuki.tanaka", "priya.raman"} {
		team[name] = s.AddUser(name)
		names = append(names, name)
		acme.AddMember(team[name], []Role{Owner, Maintainer, Developer, Developer, Developer, Reporter}[i])
	}
	d := demo{team: team, names: names, random: rand.New(rand.NewPCG(42, 2026))}
	for _, path := range []string{"acme/storefront", "acme/billing-api", "acme/platform/gateway", "acme/mobile-app"} {
		d.seedProject(s.AddProject(path))
	}
	gateway, _ := s.store.findProject("acme/platform/gateway")
	d.seedRepository(gateway)
	gateway.AddMergeRequest(func(doc *Document) { // the one with a diff
		at := DemoTime().AddDate(0, 0, -3)
		doc.Set("title", "Serve HTTP/3").Set("author", team["yuki.tanaka"]).Set("source_branch", "experiment/http3").Set("labels", []string{"feature"}).
			Set("assignees", []*User{team["yuki.tanaka"]}).Set("reviewers", []*User{team["tomas.berg"]}).Set("created_at", at).Set("updated_at", at)
	})
	d.seedOperations(s, acme)
}

type demo struct {
	team   map[string]*User
	names  []string
	random *rand.Rand
}

func pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

func (d *demo) user() *User { return d.team[pick(d.random, d.names)] }

// seedProject adds labels, milestones, merge requests and issues.
func (d *demo) seedProject(p *Project) {
	p.AddLabel("bug", "#d9534f", "Something is broken", 1)
	p.AddLabel("security", "#8e44ad", "Affects confidentiality or integrity", 2)
	p.AddLabel("feature", "#428bca", "New behavior", 3)
	p.AddLabel("performance", "#f0ad4e", "Too slow or too large", 4)
	p.AddLabel("documentation", "#5cb85c", "Texts and examples", 0)
	p.AddLabel("good first issue", "#1aaa55", "A place to start", 0)
	var milestones []*Document
	for i := range 5 {
		start := time.Date(2025, time.Month(3+3*i), 1, 0, 0, 0, 0, time.UTC)
		m := p.AddMilestone(fmt.Sprintf("1.%d", i), start, start.AddDate(0, 3, -1))
		if start.AddDate(0, 3, 0).Before(DemoTime()) {
			m.Set("state", "closed")
		}
		milestones = append(milestones, m)
	}
	for i := range demoIssues {
		age := time.Duration(demoIssues-i) * 365 * 24 * time.Hour / demoIssues
		opened := DemoTime().Add(-age).Add(time.Duration(d.random.IntN(40)) * time.Hour)
		issue := p.AddIssue(func(doc *Document) { d.fillIssue(doc, p, opened, milestones) })
		for range d.random.IntN(4) {
			issue.AddAwardEmoji(d.user(), "thumbsup")
		}
		if i%6 == 0 {
			issue.Relate(d.mergeRequest(p, issue))
		}
	}
}

func (d *demo) fillIssue(doc *Document, p *Project, opened time.Time, milestones []*Document) {
	r := d.random
	if opened.After(DemoTime()) {
		opened = DemoTime().Add(-time.Hour)
	}
	title, kind := d.title(p.slug())
	updated := opened.Add(time.Duration(r.Int64N(int64(DemoTime().Sub(opened)) + 1)))
	doc.Set("title", title).Set("author", d.user()).Set("created_at", opened).Set("updated_at", updated).
		Set("labels", d.labels(kind)).Set("description", d.description(title)).Set("user_notes_count", r.IntN(9)).
		Set("health_status", pick(r, []any{nil, "on_track", "needs_attention", "at_risk"}))
	if age := DemoTime().Sub(opened); r.Float64() < age.Hours()/(24*365) {
		doc.Set("state", "closed").Set("closed_at", updated).Set("closed_by", d.user())
	}
	if r.IntN(10) < 7 {
		assignees := []*User{d.user()}
		if second := d.user(); r.IntN(5) == 0 && second != assignees[0] {
			assignees = append(assignees, second)
		}
		doc.Set("assignees", assignees)
	}
	if r.IntN(10) < 7 {
		doc.Set("milestone", milestones[min(4, int(opened.Sub(milestones[0].time("start_date")).Hours()/24/91))])
	}
	if r.IntN(3) > 0 {
		doc.Set("weight", pick(r, []int{1, 2, 3, 5, 8}))
	}
	if r.IntN(3) == 0 {
		doc.Set("due_date", opened.AddDate(0, 0, 7+r.IntN(80)).Truncate(24*time.Hour))
	}
	if r.IntN(2) == 0 {
		estimate := (1 + r.IntN(30)) * secondsPerHour
		doc.Set("time_stats.time_estimate", estimate).Set("time_stats.total_time_spent", r.IntN(estimate/1800)*1800)
	}
	if kind == "security" {
		doc.Set("confidential", true)
	}
}

// title returns a title and the label that belongs to it.
func (d *demo) title(project string) (title, kind string) {
	r := d.random
	areas := map[string][]string{
		"storefront":  {"checkout", "product search", "the cart", "gift cards", "the size guide", "order history", "image zoom"},
		"billing-api": {"invoices", "refunds", "tax rates", "currency rounding", "dunning mails", "webhooks", "the ledger export"},
		"gateway":     {"token checks", "route reloads", "access logs", "rate limits", "upstream timeouts", "health probes", "TLS settings"},
		"mobile-app":  {"push messages", "offline mode", "the sign-in screen", "dark mode", "barcode scans", "deep links", "app start"},
	}
	kind = pick(r, []string{"bug", "bug", "bug", "feature", "feature", "performance", "documentation", "security"})
	forms := map[string][]string{
		"bug":           {"Crash in %s after an update", "%s: wrong result for empty input", "Flaky test around %s", "%s fails behind a proxy"},
		"feature":       {"Let teams configure %s", "Add an audit trail to %s", "Support bulk changes in %s", "Keyboard access for %s"},
		"performance":   {"%s: too many queries", "Cut the memory use of %s", "Cache results of %s"},
		"documentation": {"Document %s", "Example for %s is out of date"},
		"security":      {"Check permissions in %s", "%s: do not log personal data"},
	}
	title = fmt.Sprintf(pick(r, forms[kind]), pick(r, areas[project]))
	return strings.ToUpper(title[:1]) + title[1:], kind
}

func (d *demo) labels(kind string) []string {
	labels := []string{kind}
	if d.random.IntN(6) == 0 {
		labels = append(labels, "good first issue")
	}
	return labels
}

func (d *demo) description(title string) string {
	text := "## What happens\n\n" + title + ". Seen by " + d.user().Name + " on the staging system.\n\n## What should happen\n\nNo surprise.\n"
	if d.random.IntN(2) == 0 {
		text += "\n- [x] reproduce\n- [ ] fix\n- [ ] add a test\n"
	}
	return text
}

func (d *demo) mergeRequest(p *Project, issue *Issue) *MergeRequest {
	return p.AddMergeRequest(func(doc *Document) {
		at := issue.doc.time("created_at").Add(30 * time.Hour)
		doc.Set("title", "Resolve \""+issue.doc.text("title")+"\"").Set("author", d.user()).Set("created_at", at).
			Set("updated_at", at.Add(5*time.Hour)).Set("labels", issue.doc.labels()).Set("assignees", []*User{d.user()}).
			Set("reviewers", []*User{d.user()}).Set("source_branch", fmt.Sprintf("%d-fix", issue.IID))
		if issue.doc.text("state") == "closed" {
			doc.Set("state", "merged").Set("merged_at", at.Add(5*time.Hour)).Set("merge_user", d.user())
		}
	})
}

// seedRepository replays demo/history.txt. Each commit starts with "=== date author branch merge
// tag", followed by the message, "--- path" for a deleted file, and "+++ path" with the new
// content.
func (d *demo) seedRepository(p *Project) {
	for _, record := range strings.Split("\n"+demoHistory, "\n=== ")[1:] {
		head, rest, _ := strings.Cut(record, "\n")
		facts := strings.Fields(head)
		date, _ := parseTime(facts[0])
		change := Change{Date: date, Author: d.team[facts[1]], Branch: facts[2], MergeFrom: strings.Trim(facts[3], "-"), Files: map[string]string{}}
		for i, part := range strings.Split(rest, "\n+++ ") {
			if i == 0 {
				message, deleted, _ := strings.Cut(part, "\n--- ")
				change.Message, change.Delete = message, strings.Fields(deleted)
				continue
			}
			path, content, _ := strings.Cut(part, "\n")
			change.Files[path] = strings.TrimSuffix(content, "\n") + "\n"
		}
		commit := p.AddCommit(change)
		if tag := facts[4]; tag != "-" {
			p.AddTag(tag, commit.ID)
		}
	}
}
