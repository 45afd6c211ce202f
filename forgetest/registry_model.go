package forgetest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// RegistryRepository is a repository of a project's container registry.
type RegistryRepository struct {
	ID   int64  // instance-wide
	Name string // "" for the repository at the project path
	// Path is the name of the repository in the registry: the project's path and the name.
	Path string

	project   *Project
	createdAt time.Time
	status    any // nil, or text
	cleanup   any // cleanup_policy_started_at: nil, or a time
	tags      []*registryTag
	cleaned   time.Time // the latest bulk deletion
}

// registryTag is a tag: a name that points to a manifest.
type registryTag struct {
	name string
	doc  *Document
}

// AddRegistryRepository creates a repository of the project's container registry; the name "" is
// the repository at the project path. If the repository exists, it is returned unchanged.
func (p *Project) AddRegistryRepository(name string) *RegistryRepository {
	p.srv.edit()
	defer p.srv.mu.Unlock()
	for _, r := range p.registry.repositories {
		if r.Name == name {
			return r
		}
	}
	path := strings.ToLower(strings.TrimSuffix(p.Path+"/"+name, "/"))
	r := &RegistryRepository{ID: p.srv.store.nextID("registry repository", 1), Name: name, Path: path, project: p, createdAt: p.srv.now()}
	p.registry.repositories = append(p.registry.repositories, r)
	return r
}

// AddTag creates a tag, or replaces the one with this name. fill, if not nil, changes its document:
// its name, its digest (two tags with one digest share one image), the created_at of its manifest,
// and its total_size, which is 1 MB by default.
func (r *RegistryRepository) AddTag(name string, fill func(tag *Document)) *RegistryRepository {
	srv := r.project.srv
	srv.edit()
	sum := sha256.Sum256(fmt.Append(nil, r.Path, ":", name, srv.store.nextID("manifest", 1)))
	now := srv.now()
	srv.mu.Unlock()

	d := NewDocument("RegistryTagDetail").Set("name", name).Set("created_at", now).Set("total_size", 1_000_000).
		Set("digest", "sha256:"+hex.EncodeToString(sum[:]))
	d.fillWith(fill, "path", "location")
	name = orElse(d.text("name"), name)
	d.Set("name", name)
	revision := sha256.Sum256([]byte(d.text("digest"))) // the digest of the image's configuration, which differs from that of the manifest
	if d.text("revision") == "" {
		d.Set("revision", hex.EncodeToString(revision[:]))
	}
	if d.text("short_revision") == "" {
		d.Set("short_revision", d.text("revision")[:min(9, len(d.text("revision")))])
	}

	srv.edit()
	defer srv.mu.Unlock()
	at, found := r.find(name)
	if found {
		r.tags[at].doc = d
		return r
	}
	r.tags = slices.Insert(r.tags, at, &registryTag{name, d})
	return r
}

// AddTags creates n tags; fill, if not nil, is called with the index and the document of each. They
// are named v0001, v0002 and so on, unless fill sets another name.
func (r *RegistryRepository) AddTags(n int, fill func(i int, tag *Document)) *RegistryRepository {
	for i := range n {
		r.AddTag(fmt.Sprintf("v%04d", i+1), func(d *Document) {
			if fill != nil {
				fill(i, d)
			}
		})
	}
	return r
}

// Tags returns the sorted names of the remaining tags.
func (r *RegistryRepository) Tags() []string {
	r.project.srv.mu.Lock()
	defer r.project.srv.mu.Unlock()
	r.project.srv.runDue(r.project.srv.now())
	names := make([]string, len(r.tags))
	for i, t := range r.tags {
		names[i] = t.name
	}
	return names
}

// ProtectRegistryTags adds a protection rule: tags whose whole name matches the RE2 expression are
// not deleted. It panics if the expression is invalid.
func (p *Project) ProtectRegistryTags(expression string) {
	rule, err := regexp.Compile(`\A(?:` + expression + `)\z`)
	if err != nil {
		panic(fmt.Sprintf("forgetest: ProtectRegistryTags(%q): it is not an RE2 pattern, such as v.*: %v", expression, err))
	}
	p.srv.edit()
	defer p.srv.mu.Unlock()
	p.registry.protected = append(p.registry.protected, rule)
}

// AddJobToken returns a CI job token of a pipeline of the project, the value of CI_JOB_TOKEN. It
// has access to this project only.
func (p *Project) AddJobToken(u *User) string {
	p.srv.edit()
	defer p.srv.mu.Unlock()
	token := newToken("job")
	p.srv.store.tokens[token] = credential{scheme: "job_token", user: u, project: p}
	return token
}

// registry is the container registry of a project.
type registry struct {
	access       string // "" is enabled
	repositories []*RegistryRepository
	protected    []*regexp.Regexp
}

func (g *registry) accessLevel() string {
	if g.access == "" {
		return "enabled"
	}
	return g.access
}

func (g *registry) isProtected(tag string) bool {
	return slices.ContainsFunc(g.protected, func(rule *regexp.Regexp) bool { return rule.MatchString(tag) })
}

// registryReadableBy reports whether a user can read the registry. It depends on the visibility of
// the registry (Document 1 §4.1).
func (p *Project) registryReadableBy(u *User) bool {
	switch p.registry.accessLevel() {
	case "disabled":
		return false
	case "private":
		return p.role(u) >= Reporter
	}
	return p.readableBy(u)
}

// registryRepositories lists the repositories of all projects.
func (s *store) registryRepositories() (list []*RegistryRepository) {
	for _, p := range s.projects {
		list = append(list, p.registry.repositories...)
	}
	return list
}

// find returns the index of a tag in the list, which is sorted by name.
func (r *RegistryRepository) find(name string) (int, bool) {
	return slices.BinarySearchFunc(r.tags, name, func(t *registryTag, name string) int { return strings.Compare(t.name, name) })
}

func (r *RegistryRepository) tag(name string) *registryTag {
	if at, found := r.find(name); found {
		return r.tags[at]
	}
	return nil
}

func (r *RegistryRepository) remove(gone ...*registryTag) {
	set := map[*registryTag]bool{}
	for _, t := range gone {
		set[t] = true
	}
	r.tags = slices.DeleteFunc(r.tags, func(t *registryTag) bool { return set[t] })
}

// drop schedules the deletion of the repository (Document 1 §3).
func (r *RegistryRepository) drop() {
	if r.status != nil {
		return
	}
	r.status = "delete_scheduled"
	srv := r.project.srv
	srv.schedule(func() {
		r.status = "delete_ongoing"
		srv.schedule(func() {
			list := &r.project.registry.repositories
			*list = slices.DeleteFunc(*list, func(other *RegistryRepository) bool { return other == r })
		})
	})
}

// render returns the repository as it is in responses, without the optional fields.
func (r *RegistryRepository) render(host string) *Document {
	return NewDocument("RegistryRepository").Set("id", r.ID).Set("name", r.Name).Set("path", r.Path).
		Set("project_id", r.project.ID).Set("location", host+"/"+r.Path).Set("created_at", r.createdAt).Set("status", r.status).
		Set("cleanup_policy_started_at", r.cleanup).Omit("tags_count").Omit("tags").Omit("size")
}

func (r *RegistryRepository) renderTag(t *registryTag, d *Document, host string) *Document {
	path := r.Path + ":" + t.name
	return d.Set("name", t.name).Set("path", path).Set("location", host+"/"+path)
}

// size returns the sum of the image sizes. An image with several tags counts once.
func (r *RegistryRepository) size() int64 {
	var size int64
	seen := map[string]bool{}
	for _, t := range r.tags {
		if digest := t.doc.text("digest"); !seen[digest] {
			seen[digest] = true
			size += t.doc.int("total_size")
		}
	}
	return size
}

// Edit changes the created_at, the cleanup_policy_started_at and the status of the repository's
// document.
func (r *RegistryRepository) Edit(fill func(repository *Document)) *RegistryRepository {
	r.project.srv.edit()
	defer r.project.srv.mu.Unlock()
	d := r.render("")
	d.fillWith(fill, "id", "name", "path", "project_id", "location", "tags_count", "tags", "size")
	r.createdAt, r.status, r.cleanup = d.time("created_at"), d.Get("status"), d.Get("cleanup_policy_started_at")
	return r
}

// SetCreatedAt changes the creation time of the repository. The size of repositories that were
// created before 2021-11-05 is unknown.
func (r *RegistryRepository) SetCreatedAt(at time.Time) {
	r.project.srv.edit()
	defer r.project.srv.mu.Unlock()
	r.createdAt = at
}
