package forgetest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestChangelog(t *testing.T) {
	s, p, c, commits := gitWorld(t)
	want := fmt.Sprintf("## 1.1.0 (2026-03-04)\n\n### fixed (1 change)\n\n- [Side work](group/app@%s)\n\n### added (2 changes)\n\n- [Two](group/app@%s)\n- [Move](group/app@%s)\n",
		commits["side"].ID, commits["two"].ID, commits["last"].ID)
	r := c.get(repo + "/changelog?version=1.1.0")
	assert.Equal(t, want, r.object(t)["notes"])
	notes := func(query string) string { return c.get(repo + "/changelog?" + query).object(t)["notes"].(string) }
	assert.Equal(t, want, notes("version=v1.1.0"))
	assert.Contains(t, notes("version=1.1.0&date=2025-01-02"), "## 1.1.0 (2025-01-02)")
	assert.Contains(t, notes("version=1.1.0&date=2025-01-02T03:04:05Z"), "## 1.1.0 (2025-01-02)")
	assert.NotContains(t, notes("version=1.1.0&to="+commits["merge"].ID), "Move")
	assert.NotContains(t, notes("version=1.1.0&from="+commits["two"].ID), "Two")
	assert.Equal(t, "## 1.1.0 (2026-03-04)\n\nNo changes.\n", notes("version=1.1.0&trailer=changelog"))
	p.AddCommit(Change{Branch: "config", Files: map[string]string{"log.yml": "date_format: x\ncategories:\n  added: New things\n"}})
	assert.Contains(t, notes("version=1.1.0&config_file=log.yml&config_file_ref=config"), "### New things (2 changes)")
	for query, body := range map[string]string{
		"": `{"error":"version is missing"}`, "version=one": `{"error":"version is invalid"}`, "version=1.1": `{"error":"version is invalid"}`,
		"version=1.0.0":           "The commit start range is unspecified, and no previous tag could be found to use instead",
		"version=1.1.0&from=none": "The range of commits could not be found", "version=1.1.0&to=none": "The range of commits could not be found",
		"version=1.1.0&date=x": `{"error":"date is invalid"}`,
	} {
		r := c.get(repo + "/changelog?" + query)
		assert.Equal(t, map[bool]int{true: 400, false: 422}[strings.HasPrefix(body, "{")], r.Status, query)
		assert.Contains(t, r.Body, body, query)
	}

	for _, more := range []string{"", "&branch=none", "&file=x.md", "&message=x"} { // parameters of the commit of a write
		assert.Equal(t, r.Body, c.get(repo+"/changelog?version=1.1.0"+more).Body, more)
	}
	assert.Same(t, commits["last"], p.repo.branches["main"], "reads commit nothing")
	assert.Zero(t, s.CountApplied("*"))
	post := c.send("POST", repo+"/changelog", "version=1.1.0")
	assert.Equal(t, 200, post.Status)
	assert.Equal(t, "200", post.Body)
	head := p.repo.branches["main"]
	assert.Equal(t, "Add changelog for version 1.1.0", head.Message)
	assert.Equal(t, want, readFile(head, "CHANGELOG.md"))
	assert.Equal(t, 1, s.CountApplied("POST /projects/:id/repository/changelog"))

	p.AddTag("v1.1.0", "main")
	p.AddCommit(Change{Message: "Later\n\nChangelog: added"})
	p.AddTag("v1.1.1-rc1", "main") // a range does not start at a pre-release
	c.send("POST", repo+"/changelog", "version=1.2.0&message=Release+notes&date=2026-04-01")
	head = p.repo.branches["main"]
	assert.Equal(t, "Release notes", head.Message)
	log := readFile(head, "CHANGELOG.md")
	assert.True(t, strings.HasPrefix(log, "## 1.2.0 (2026-04-01)\n\n### added (1 change)\n\n- [Later]"), log)
	assert.Less(t, strings.Index(log, "1.2.0"), strings.Index(log, "## 1.1.0"))
	c.send("POST", repo+"/changelog", "version=v1.3.0&file=docs/LOG.md&branch=config&from=v1.1.0")
	assert.Equal(t, "Add changelog for version 1.3.0", p.repo.branches["config"].Message)
	assert.Contains(t, readFile(p.repo.branches["config"], "docs/LOG.md"), "## 1.3.0")
	assert.Same(t, head, p.repo.branches["main"], "another branch than the target")
	assert.Equal(t, 422, c.send("POST", repo+"/changelog", "version=1.3.0&branch=none").Status)
	p.AddCommit(Change{Branch: "kinds", Message: "Kinds\n\nKind: other"})
	assert.Contains(t, notes("version=1.4.0&to=kinds&trailer=Kind"), "### other (1 change)\n\n- [Kinds]")
	assert.NotContains(t, notes("version=1.4.0&to=kinds"), "[Kinds]")
}

// The range ends with the commit of to, inclusive. Without to it ends with the branch to which a
// write commits, or for a read with the tip of the default branch.
func TestChangelogRange(t *testing.T) {
	_, p, c, commits := gitWorld(t)
	notes := func(query string) string {
		return fmt.Sprint(c.get(repo + "/changelog?version=1.1.0&" + query).object(t)["notes"])
	}
	two := notes("to=" + commits["two"].ID)
	assert.Contains(t, two, "[Two]")
	assert.NotContains(t, two, "[Move]")
	rest := notes("from=" + commits["two"].ID)
	assert.NotContains(t, rest, "[Two]", "the start is not in it")
	assert.Contains(t, rest, "[Move]")
	assert.Contains(t, notes(""), "[Move]")

	p.AddCommit(Change{Branch: "release", Message: "Only here\n\nChangelog: added", Files: map[string]string{"r.txt": "r\n"}})
	assert.NotContains(t, notes(""), "[Only here]")
	assert.Equal(t, 200, c.send("POST", repo+"/changelog", "version=1.1.0&branch=release").Status)
	assert.Contains(t, readFile(p.repo.branches["release"], "CHANGELOG.md"), "[Only here]")
	assert.Equal(t, 200, c.send("POST", repo+"/changelog", "version=1.1.0&branch=release&file=two.md&to="+commits["two"].ID).Status)
	assert.Equal(t, two, readFile(p.repo.branches["release"], "two.md"))
}

// The configuration is the file in the hidden folder of the default branch, unless the call names
// another file.
func TestChangelogConfiguration(t *testing.T) {
	_, p, c, _ := gitWorld(t)
	title := func(query string) string {
		notes := fmt.Sprint(c.get(repo + "/changelog?version=1.1.0" + query).object(t)["notes"])
		_, rest, _ := strings.Cut(notes, "[Side work]")
		_, rest, _ = strings.Cut(rest, "### ")
		first, _, _ := strings.Cut(rest, " (")
		return first
	}
	config := func(title string) string { return "categories:\n  added: " + title + "\n" }
	assert.Equal(t, "added", title(""))
	p.AddCommit(Change{Branch: "other", Files: map[string]string{".gitlab/changelog_config.yml": config("Other"), "own.yml": config("Own other")}})
	assert.Equal(t, "added", title(""), "a file of another branch")
	p.AddFiles(map[string]string{".gitlab/changelog_config.yml": config("Default"), "own.yml": config("Own")})
	for query, want := range map[string]string{
		"": "Default", "&config_file=own.yml": "Own", "&config_file_ref=other": "Other", "&config_file=own.yml&config_file_ref=other": "Own other",
		"&config_file=none.yml": "added", "&to=side%2Fbranch": "",
	} {
		assert.Equal(t, want, title(query), query)
	}
}

// The previous version is the latest tag of the form vX.Y.Z or X.Y.Z below the version.
func TestChangelogPreviousVersion(t *testing.T) {
	_, p, c, commits := gitWorld(t)
	first := func(version string) bool { // reports whether the range begins before "Two"
		return strings.Contains(fmt.Sprint(c.get(repo + "/changelog?version=" + version).object(t)["notes"]), "[Two]")
	}
	assert.True(t, first("1.3.0%2Bbuild.7"))
	for _, other := range []string{"release-1.2.0", "1.2", "1.2.0.0", "v1.2.0-rc1", "1.2.0-beta", "x1.2.0"} {
		p.AddTag(other, commits["merge"].ID)
		assert.True(t, first("1.3.0"), other)
	}
	p.AddTag("1.2.0", commits["merge"].ID)
	assert.False(t, first("1.3.0"))
	assert.True(t, first("1.2.0"), "the tag of the version itself is not before it")
	assert.True(t, first("1.1.9"))
	p.AddTag("v1.2.5", commits["base"].ID)
	assert.True(t, first("1.3.0"), "the later one, with v")
	p.AddTag("1.2.10", commits["merge"].ID)
	assert.False(t, first("1.3.0"), "10 is more than 5")
}

// A range has at most 15000 commits (Document 1 §8).
func TestChangelogLongestRange(t *testing.T) {
	s, p, c, _ := gitWorld(t)
	add := func(n int) {
		for range n {
			head := p.repo.branches["long"]
			if head == nil {
				head = p.repo.branches["main"]
			}
			p.repo.branches["long"] = &Commit{
				ID: fmt.Sprintf("%040x", s.store.nextID("commit", 1)), Message: "More", number: s.store.nextID("commit", 1), parents: []*Commit{head}, tree: head.tree,
			}
		}
	}
	add(changelogCommits)
	for _, step := range []struct{ more, status int }{{0, 200}, {1, 422}} {
		add(step.more)
		r := c.get(repo + "/changelog?version=1.1.0&from=main&to=long")
		assert.Equal(t, step.status, r.Status, r.Body)
		if step.status != 200 {
			assert.Contains(t, r.Body, "exceeds 15000 commits")
		}
		assert.Equal(t, step.status, c.send("POST", repo+"/changelog", "version=1.1.0&from=main&to=long").Status)
	}
}

// Differences of older releases (Document 1 §4.3 and §4.3.1).
func TestChangelogOfOlderReleases(t *testing.T) {
	const config = "&config_file=log.yml&config_file_ref=config"
	for number, want := range map[string]struct {
		job, leadingV int
		ref           string
	}{
		"16.11": {401, 400, "added"}, "17.0": {401, 200, "added"}, "17.6": {401, 200, "added"}, "17.7": {200, 200, "added"},
		"18.1": {200, 200, "added"}, "18.2": {200, 200, "From config"},
	} {
		s := New(t, WithRelease(number))
		p := s.AddProject("group/app")
		p.AddFiles(map[string]string{"README.md": "x\n"})
		p.AddTag("v0.0.0", "main")
		p.AddCommit(Change{Message: "More\n\nChangelog: added"})
		p.AddCommit(Change{Branch: "config", Files: map[string]string{"log.yml": "categories:\n  added: From config\n"}})
		c := newCaller(t, s)
		assert.Equal(t, want.job, c.as("").with("GET", repo+"/changelog?version=1.1.0", "JOB-TOKEN", s.JobToken).Status, number)
		assert.Equal(t, want.leadingV, c.get(repo+"/changelog?version=v1.1.0").Status, number)
		assert.Equal(t, want.leadingV, c.send("POST", repo+"/changelog", "version=v1.1.0&branch=config").Status, number)
		r := c.get(repo + "/changelog?version=1.1.0" + config)
		assert.Contains(t, r.Body, "### "+want.ref+" (1 change)", number)
	}
}

func TestInsertSection(t *testing.T) {
	assert.Equal(t, "## 3.0.0\nx\n\n## 2.0.0 (d)\n", insertSection("## 3.0.0\nx\n", "## 2.0.0 (d)\n", "2.0.0"))
	assert.Equal(t, "intro\n\n## 2.0.0 (d)\n\n## 1.0.0\nx\n", insertSection("intro\n\n## 1.0.0\nx\n", "## 2.0.0 (d)\n", "2.0.0"))
	for _, header := range []string{"Unreleased", "v1.0.0", "1.0", "1.0.0.0", "[1.0.0]"} { // not headers of a version (Document 1 §4.3.1)
		old := "## " + header + " (d)\nx\n"
		assert.Equal(t, old+"\n## 2.0.0 (d)\n", insertSection(old, "## 2.0.0 (d)\n", "2.0.0"), header)
	}
}

func readFile(c *Commit, path string) string {
	return string(c.tree.find(path).blob.data)
}
