package forgetest

import (
	"cmp"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

func registryRoutes() []route {
	return []route{
		{name: "PUT /projects/:id/", role: Maintainer, handle: setRegistryAccess},
		{name: "GET /projects/:id/registry/repositories", handle: listRegistry},
		{name: "GET /groups/:id/registry/repositories", handle: listGroupRegistry},
		{name: "GET /registry/repositories/:id", handle: getRegistryRepository},
		{name: "DELETE /projects/:id/registry/repositories/:repository_id", role: Maintainer, handle: inRegistry(deleteRegistryRepository)},
		{name: "GET /projects/:id/registry/repositories/:repository_id/tags", handle: inRegistry(listTags)},
		{name: "GET /projects/:id/registry/repositories/:repository_id/tags/:tag_name", handle: inRegistry(getTag)},
		{name: "DELETE /projects/:id/registry/repositories/:repository_id/tags/:tag_name", role: Developer, handle: inRegistry(deleteTag)},
		{name: "DELETE /projects/:id/registry/repositories/:repository_id/tags", role: Maintainer, handle: inRegistry(deleteTags)},
	}
}

const (
	cleanupInterval = time.Hour // between two bulk deletions of a repository (Document 1 §8)
	hostedCleanup   = 200       // tags that one bulk deletion removes on the hosted offering
)

// setRegistryAccess changes the access level of the registry. Without the parameter nothing
// changes.
func setRegistryAccess(c *call) response {
	p := c.project
	from := p.registry.accessLevel()
	if to := c.textOr("container_registry_access_level", from); to != from {
		p.registry.access = to
		c.audit(p, "container_registry_access_level", from, to)
	}
	return ok(NewDocument("RegistryProject").Set("id", p.ID).Set("name", p.Name).
		Set("container_registry_access_level", p.registry.accessLevel()))
}

// host returns the address of the registry in locations.
func (c *call) host() string {
	_, host, _ := strings.Cut(c.server.RegistryURL, "://")
	return host
}

func listRegistry(c *call) response {
	if !c.project.registryReadableBy(c.user) {
		return failure(http.StatusForbidden, "403 Forbidden")
	}
	return c.registryPage(c.project.registry.repositories, c.withTags)
}

func listGroupRegistry(c *call) response {
	list := slices.DeleteFunc(c.store.registryRepositories(), func(r *RegistryRepository) bool {
		return !within(r.project.Path, c.group.Path) || !r.project.registryReadableBy(c.user)
	})
	return c.registryPage(list, func(*RegistryRepository, *Document) {})
}

func (c *call) registryPage(list []*RegistryRepository, add func(*RegistryRepository, *Document)) response {
	return c.page(listing{n: len(list), at: func(i int) *Document {
		d := list[i].render(c.host())
		add(list[i], d)
		return d
	}})
}

// withTags adds the tags and their number if the caller requested them.
func (c *call) withTags(r *RegistryRepository, d *Document) {
	if c.flag("tags_count") {
		d.Set("tags_count", len(r.tags))
	}
	if c.flag("tags") {
		tags := make([]*Document, len(r.tags))
		for i, t := range r.tags {
			tags[i] = r.renderTag(t, NewDocument("RegistryTagSummary"), c.host())
		}
		d.Set("tags", tags)
	}
}

func getRegistryRepository(c *call) response {
	id, _ := parseID(c.args["id"])
	list := c.store.registryRepositories()
	i := slices.IndexFunc(list, func(r *RegistryRepository) bool { return r.ID == id })
	switch {
	case i < 0 || !list[i].project.readableBy(c.user):
		return notFound("Container Repository")
	case c.job != nil && c.job != list[i].project, !list[i].project.registryReadableBy(c.user):
		return failure(http.StatusForbidden, "403 Forbidden")
	}
	r := list[i]
	d := r.render(c.host())
	c.withTags(r, d)
	// Document 1 §2.2: for repositories created after 2021-11-04, and on the hosted offering only,
	// as the field is.
	if c.flag("size") && !r.createdAt.Before(time.Date(2021, 11, 5, 0, 0, 0, 0, time.UTC)) {
		d.Set("size", r.size())
	}
	return ok(d)
}

// inRegistry finds the repository that the path names.
func inRegistry(handle func(*call, *RegistryRepository) response) func(*call) response {
	return func(c *call) response {
		if !c.project.registryReadableBy(c.user) {
			return failure(http.StatusForbidden, "403 Forbidden")
		}
		id, _ := parseID(c.args["repository_id"])
		for _, r := range c.project.registry.repositories {
			if r.ID == id {
				return handle(c, r)
			}
		}
		return notFound("Container Repository")
	}
}

// deleteRegistryRepository always accepts the call and deletes in the background.
func deleteRegistryRepository(_ *call, r *RegistryRepository) response {
	r.drop()
	return accepted()
}

// accepted returns a 202 with its own number as the body, as the deployed server does.
func accepted() response { return response{status: http.StatusAccepted, doc: http.StatusAccepted} }

// listTags lists the tags by name.
func listTags(c *call, r *RegistryRepository) response {
	tags := slices.Clone(r.tags)
	descending := c.text("sort") == "desc"
	if descending {
		slices.Reverse(tags)
	}
	behind := func(name string) (int, bool) {
		i := slices.IndexFunc(tags, func(t *registryTag) bool { return t.name != name && (t.name < name) == descending })
		if i < 0 {
			i = len(tags)
		}
		return i, true
	}
	position := ""
	if c.server.release.has(newest) {
		position = "last"
	}
	return c.page(listing{
		n: len(tags), position: position, key: func(i int) string { return tags[i].name }, after: behind,
		at: func(i int) *Document { return r.renderTag(tags[i], NewDocument("RegistryTagSummary"), c.host()) },
	})
}

func getTag(c *call, r *RegistryRepository) response {
	t := r.tag(c.args["tag_name"])
	if t == nil {
		return notFound("Tag")
	}
	return ok(r.renderTag(t, t.doc.clone(), c.host()))
}

func deleteTag(c *call, r *RegistryRepository) response {
	t := r.tag(c.args["tag_name"])
	switch {
	case t == nil:
		return notFound("Tag")
	case c.project.registry.isProtected(t.name):
		return failure(http.StatusForbidden, "403 Forbidden - Protected tag")
	}
	r.remove(t)
	return ok(http.StatusOK)
}

// cleanup is a bulk deletion.
type cleanup struct {
	wanted, kept *regexp.Regexp
	newest       int           // number of newest matching tags to keep
	age          time.Duration // younger tags are kept
	limit        int           // number of tags that are deleted
}

// deleteTags schedules a bulk deletion, at most once an hour (Document 1 §4.1.1).
func deleteTags(c *call, r *RegistryRepository) response {
	job, problems := c.cleanup()
	now := c.server.now()
	switch {
	case len(problems) > 0:
		return rejected(http.StatusBadRequest, problems...)
	case !r.cleaned.IsZero() && now.Sub(r.cleaned) < cleanupInterval:
		return failure(http.StatusBadRequest,
			"This request has already been made. You can run this at most once an hour for a given container repository")
	}
	r.cleaned = now
	c.server.schedule(func() { r.remove(job.selectTags(r, c.server.now())...) })
	return accepted()
}

// cleanup reads the parameters of a bulk deletion.
func (c *call) cleanup() (job cleanup, problems []string) {
	expression := func(name string) *regexp.Regexp {
		text := c.text(name)
		if text == "" {
			return nil
		}
		_, err := regexp.Compile(text)                       // alone, so that the message is about the caller's text
		compiled, err2 := regexp.Compile(`\A` + text + `\z`) // as on the deployed server, where an alternation needs parentheses
		if err := cmp.Or(err, err2); err != nil {
			problems = append(problems, name+" is an invalid regexp: "+err.Error())
		}
		return compiled
	}
	job.wanted, job.kept = expression("name_regex_delete"), expression("name_regex_keep")
	if alias := expression("name_regex"); job.wanted == nil {
		job.wanted = alias
	}
	job.newest, _ = strconv.Atoi(c.text("keep_n"))
	if job.newest < 0 {
		problems = append(problems, "keep_n does not have a valid value")
	}
	if text := c.text("older_than"); text != "" {
		var valid bool
		if job.age, valid = parseAge(text); !valid {
			problems = append(problems, "older_than is invalid")
		}
	}
	if job.limit = math.MaxInt; c.server.offering == Hosted {
		job.limit = hostedCleanup
	}
	return job, problems
}

// selectTags returns the matching tags to delete, newest first. It keeps the tag latest, protected
// tags, the newest tags and tags below the age.
func (j cleanup) selectTags(r *RegistryRepository, now time.Time) []*registryTag {
	tags := slices.DeleteFunc(slices.Clone(r.tags), func(t *registryTag) bool {
		return !j.wanted.MatchString(t.name) || j.kept != nil && j.kept.MatchString(t.name) ||
			t.name == "latest" || r.project.registry.isProtected(t.name)
	})
	slices.SortStableFunc(tags, func(a, b *registryTag) int {
		return b.doc.time("created_at").Compare(a.doc.time("created_at"))
	})
	tags = tags[min(j.newest, len(tags)):]
	tags = slices.DeleteFunc(tags, func(t *registryTag) bool {
		return j.age > 0 && now.Sub(t.doc.time("created_at")) < j.age
	})
	return tags[max(0, len(tags)-j.limit):] // the oldest first
}
