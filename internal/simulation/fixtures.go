package simulation

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/forge-sdk/forge-go/forgetest"
)

// Amount has the number of objects of each kind that lists return.
type Amount struct {
	Issues, MergeRequests, Tags, Events, Users, Files, Emails, Jobs, Tree, Small int
	Blob                                                                         int64 // bytes
}

// fixtures are the objects that the steps use. Reads use acme/app, which no step changes. Writes
// use acme/work.
type fixtures struct {
	server               *forgetest.Server
	app, work            *forgetest.Project
	group                *forgetest.Group
	member               *forgetest.User
	issues, workIssues   []*forgetest.Issue
	merges, workMerges   []*forgetest.MergeRequest
	image                *forgetest.RegistryRepository
	versioned            *forgetest.MergeRequest
	blob                 string // the ID of a blob
	commits              []string
	workCommit           string
	file                 *forgetest.Document
	content              []byte
	emails, memberEmails []int64
	runner, workRunner   *forgetest.Runner
	events               [3]int64         // one of the instance, one of the group, one of the project
	own                  map[string]int64 // the object that a step writes to, by its ID
	names                map[string]string
}

// past returns a time before the clock of a world begins. The data of a world has such times.
func past(minutes int) time.Time {
	return time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(minutes) * time.Minute)
}

// furnish creates the data of a plan in a server.
func furnish(s *forgetest.Server, a Amount) *fixtures {
	f := &fixtures{server: s, own: map[string]int64{}, names: map[string]string{}}
	f.group = s.AddGroup("acme")
	s.AddGroup("quiet")
	f.app, f.work = s.AddProject("acme/app"), s.AddProject("acme/work")
	f.member = s.AddUser("maya")
	s.AddUsers(a.Users, "crowd")
	f.fillIssues(a)
	f.fillCode(a)
	f.fillOperations(a)
	return f
}

func (f *fixtures) fillIssues(a Amount) {
	f.issues = f.app.AddIssues(a.Issues, func(i int, d *forgetest.Document) {
		d.Set("title", "Issue "+strconv.Itoa(i)).Set("created_at", past(i)).Set("updated_at", past(i)).
			Set("labels", []string{"app", "l" + strconv.Itoa(i%3)}).Set("description", strings.Repeat("grün \"<&>\" ", i%5))
	})
	f.workIssues = f.work.AddIssues(4, func(i int, d *forgetest.Document) {
		d.Set("title", "Work "+strconv.Itoa(i)).Set("created_at", past(i)).Set("updated_at", past(i))
	})
	f.merges = f.app.AddMergeRequests(a.MergeRequests, func(i int, d *forgetest.Document) {
		d.Set("title", "Change "+strconv.Itoa(i)).Set("created_at", past(i)).Set("updated_at", past(i))
	})
	f.workMerges = f.work.AddMergeRequests(4, func(i int, d *forgetest.Document) {
		d.Set("title", "Work "+strconv.Itoa(i)).Set("created_at", past(i)).Set("updated_at", past(i))
	})
	for i, issue := range f.issues {
		if i < 2 {
			for _, mr := range f.merges[:min(len(f.merges), a.Small)] {
				issue.Relate(mr)
			}
		}
	}
}

func (f *fixtures) fillCode(a Amount) {
	files := map[string]string{"README.md": "# App\n", "docs/größe & mehr.md": "Größe\n"}
	for i := range a.Tree {
		files[fmt.Sprintf("src/file%03d.go", i)] = "package src // " + strconv.Itoa(i) + "\n"
	}
	commit := func(p *forgetest.Project, message string, files map[string]string, minute int) string {
		return p.AddCommit(forgetest.Change{Message: message, Files: files, Date: past(minute)}).ID
	}
	f.commits = []string{commit(f.app, "Begin", files, 1),
		commit(f.app, "Add a feature\n\nChangelog: added", map[string]string{"feature.go": "package app\n"}, 2),
		commit(f.app, "Mend it\n\nChangelog: fixed", map[string]string{"feature.go": "package app // 2\n"}, 3)}
	f.workCommit = commit(f.work, "Begin", map[string]string{"README.md": "# Work\n"}, 1)
	commit(f.work, "Go on\n\nChangelog: added", map[string]string{"README.md": "# Work 2\n"}, 2)
	f.app.AddCommit(forgetest.Change{Branch: "topic", Message: "Topic", Files: map[string]string{"topic.md": "1\n"}, Date: past(4)})
	f.versioned = f.app.AddMergeRequest(func(d *forgetest.Document) {
		d.Set("title", "Topic").Set("source_branch", "topic").Set("target_branch", "main").
			Set("created_at", past(900)).Set("updated_at", past(900))
	})
	for i := range min(a.Small, 3) {
		f.versioned.Push(forgetest.Change{Message: "Go on", Files: map[string]string{"topic.md": strconv.Itoa(i)}, Date: past(5 + i)})
	}
	for _, mr := range f.merges[:min(len(f.merges), a.Small)] {
		f.versioned.AddBlocker(mr)
	}
	f.blob = f.app.AddGeneratedBlob("big.bin", a.Blob)
}

func (f *fixtures) fillOperations(a Amount) {
	f.image = f.app.AddRegistryRepository("web").AddTags(a.Tags, func(i int, d *forgetest.Document) { d.Set("created_at", past(i)) })
	for i := range a.Small {
		f.app.AddRegistryRepository("image"+strconv.Itoa(i)).AddTag("v1", nil)
	}
	lock := f.app.AddResourceGroup("production_eu")
	for range a.Jobs {
		lock.AddUpcomingJob(func(d *forgetest.Document) { d.Set("created_at", past(1)) })
	}
	f.work.AddResourceGroup("staging")
	f.content = []byte(strings.Repeat("secret \x00\xff", a.Files))
	f.file = f.app.AddSecureFile("release.p12", f.content, nil)
	for i := range a.Files {
		f.app.AddSecureFile("file"+strconv.Itoa(i), []byte{byte(i)}, nil)
	}
	for i := range a.Emails {
		email := f.server.Root().AddEmail(fmt.Sprintf("root%d@example.com", i))
		f.emails = append(f.emails, email.Get("id").(int64))
		email = f.member.AddEmail(fmt.Sprintf("maya%d@example.com", i))
		f.memberEmails = append(f.memberEmails, email.Get("id").(int64))
	}
	never := func(d *forgetest.Document) { d.Set("contacted_at", nil) } // its status does not change with time
	f.runner, f.workRunner = f.app.AddRunner(never), f.work.AddRunner(never)
	for range a.Small {
		f.app.AddRunner(never)
		f.server.AddRunner(never)
	}
	f.runner.AddManager("s_1", never)
	for range a.Jobs {
		f.runner.AddJob(f.app, "s_1", func(d *forgetest.Document) {
			d.Set("created_at", past(2)).Set("started_at", past(3)).Set("status", "success")
		})
	}
	for i := range a.Events {
		at := func(d *forgetest.Document) { d.Set("created_at", past(i)) }
		f.events = [3]int64{f.server.AddAuditEvent(at).Get("id").(int64), f.group.AddAuditEvent(at).Get("id").(int64),
			f.app.AddAuditEvent(at).Get("id").(int64)}
	}
	for i := range a.Small {
		f.group.AddPlaceholder(forgetest.Placeholder{SourceHost: "https://old.example.com", ImportType: "bitbucket",
			SourceID: strconv.Itoa(i), SourceName: "N, " + strconv.Itoa(i), SourceUser: "u" + strconv.Itoa(i)})
	}
}

// pick returns element n modulo the length of a list, or the zero value if the list is empty.
func pick[T any](list []T, n int) (one T) {
	if len(list) == 0 {
		return one
	}
	return list[n%len(list)]
}

// data returns the records that faults may delete or extend.
func (f *fixtures) data() Data {
	d := Data{Group: f.group, Project: f.app, Registry: f.image, Issues: f.issues, MergeRequests: f.merges}
	for _, id := range f.emails {
		d.Emails = append(d.Emails, strconv.FormatInt(id, 10))
	}
	return d
}
