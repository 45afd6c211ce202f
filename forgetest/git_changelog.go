package forgetest

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	changelogCommits = 15_000 // longest range (Document 1 §8)
	changelogConfig  = ".gitlab/changelog_config.yml"
)

// version is a version number without its pre-release part.
type version [3]int

// parseVersion reads X.Y.Z with an optional v and an optional pre-release part; stable is false if
// there is a pre-release part.
func parseVersion(s string) (v version, stable, valid bool) {
	s = strings.TrimPrefix(s, "v")
	s, _, _ = strings.Cut(s, "+")
	core, _, preRelease := strings.Cut(s, "-")
	parts := strings.Split(core, ".")
	if len(parts) != 3 {
		return v, false, false
	}
	for i, part := range parts {
		n, err := strconv.Atoi(part)
		if err != nil || n < 0 {
			return v, false, false
		}
		v[i] = n
	}
	return v, !preRelease, true
}

func (v version) compare(other version) int { return slices.Compare(v[:], other[:]) }

// getChangelog returns the section that addChangelog would commit.
func getChangelog(c *call) response {
	notes, a := c.changelog(defaultBranch)
	if a != nil {
		return *a
	}
	return ok(NewDocument("ChangelogData").Set("notes", notes))
}

// addChangelog commits the section to a file and returns the number 200, as the deployed server
// does.
func addChangelog(c *call) response {
	branch := c.textOr("branch", defaultBranch)
	repo := &c.project.repo
	if repo.branches[branch] == nil {
		return changelogFailure("The branch %q does not exist", branch)
	}
	notes, a := c.changelog(branch)
	if a != nil {
		return *a
	}
	number := strings.TrimPrefix(c.text("version"), "v")
	file, old := c.textOr("file", "CHANGELOG.md"), ""
	if e := repo.branches[branch].tree.find(file); e.blob != nil {
		old = string(e.blob.data)
	}
	repo.commit(Change{
		Branch: branch, Author: c.user, Message: c.textOr("message", "Add changelog for version "+number),
		Files: map[string]string{file: insertSection(old, notes, number)},
	}, nil)
	return ok(http.StatusOK)
}

func changelogFailure(format string, args ...any) response {
	return failure(http.StatusUnprocessableEntity, "Failed to generate the changelog: "+format, args...)
}

// changelog writes the section for the commits of a range that have the trailer (Document 1
// §4.3.1).
func (c *call) changelog(branch string) (notes string, problem *response) {
	repo := &c.project.repo
	wanted, _, valid := parseVersion(c.text("version"))
	if !valid || strings.HasPrefix(c.text("version"), "v") && !c.server.release.has(release{17, 0}) {
		return "", fail(rejected(http.StatusBadRequest, "version is invalid"))
	}
	from, to := repo.resolve(c.text("from")), repo.resolve(c.textOr("to", branch))
	if c.text("from") == "" {
		from = repo.tagBefore(wanted)
	}
	switch {
	case from == nil && c.text("from") == "":
		return "", fail(changelogFailure("The commit start range is unspecified, and no previous tag could be found to use instead"))
	case from == nil || to == nil:
		return "", fail(changelogFailure("The range of commits could not be found"))
	}
	commits := between(from, to)
	if len(commits) > changelogCommits {
		return "", fail(changelogFailure("The commits range exceeds %d commits", changelogCommits))
	}
	date := c.server.now()
	if given, ok := parseTime(c.text("date")); ok {
		date = given
	}
	return c.changelogNotes(commits, date), nil
}

func (c *call) changelogNotes(commits []*Commit, date time.Time) string {
	titles := c.changelogCategories()
	entries := map[string][]string{}
	var categories []string
	for _, commit := range commits {
		trailers, _ := commit.trailers()
		category, found := trailers[c.textOr("trailer", "Changelog")]
		if !found {
			continue
		}
		if title := titles[category]; title != "" {
			category = title
		}
		if entries[category] == nil {
			categories = append(categories, category)
		}
		entries[category] = append(entries[category], fmt.Sprintf("- [%s](%s@%s)", commit.title(), c.project.Path, commit.ID))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "## %s (%s)\n\n", strings.TrimPrefix(c.text("version"), "v"), date.Format(time.DateOnly))
	for _, category := range categories {
		unit := "changes"
		if len(entries[category]) == 1 {
			unit = "change"
		}
		fmt.Fprintf(&b, "### %s (%d %s)\n\n%s\n\n", category, len(entries[category]), unit, strings.Join(entries[category], "\n"))
	}
	if len(categories) == 0 {
		b.WriteString("No changes.\n")
	}
	return strings.TrimSpace(b.String()) + "\n"
}

// changelogCategories reads the names of the categories from the configuration file: the lines
// indented below "categories:". It ignores other settings of the file.
func (c *call) changelogCategories() map[string]string {
	commit := c.project.repo.resolveOr(c.text("config_file_ref"))
	if commit == nil {
		return nil
	}
	e := commit.tree.find(c.textOr("config_file", changelogConfig))
	if e.blob == nil {
		return nil
	}
	titles, inside := map[string]string{}, false
	for line := range strings.Lines(string(e.blob.data)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		if !strings.HasPrefix(line, " ") {
			inside = key == "categories"
		} else if inside {
			titles[key] = strings.Trim(strings.TrimSpace(value), `"'`)
		}
	}
	return titles
}

// tagBefore returns the latest stable version tag (vX.Y.Z or X.Y.Z) before a version.
func (r *repository) tagBefore(wanted version) *Commit {
	var best version
	var commit *Commit
	for name, tagged := range r.tags {
		v, stable, valid := parseVersion(name)
		if valid && stable && v.compare(wanted) < 0 && v.compare(best) >= 0 {
			best, commit = v, tagged
		}
	}
	return commit
}

// insertSection inserts a section before the first older version of a changelog, or at its end. A
// header with a v does not count as a version: the document requires the form X.Y.Z.
func insertSection(old, section, number string) string {
	wanted, _, _ := parseVersion(number)
	offset := 0
	for line := range strings.Lines(old) {
		header, isHeader := strings.CutPrefix(line, "## ")
		name, _, _ := strings.Cut(strings.TrimSpace(header), " ")
		if v, _, valid := parseVersion(name); isHeader && valid && name[0] != 'v' && v.compare(wanted) < 0 {
			return old[:offset] + section + "\n" + old[offset:]
		}
		offset += len(line)
	}
	if old == "" {
		return section
	}
	return strings.TrimRight(old, "\n") + "\n\n" + section
}
