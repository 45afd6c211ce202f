package forgetest

import (
	"crypto/fips140"
	"crypto/sha1" //nolint:gosec // the object ids of git
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"slices"
	"sort"
	"strings"
	"time"
)

// repository is the git repository of a project: real object ids, no packs. Blobs, trees and
// commits never change.
type repository struct {
	project   *Project
	commits   map[string]*Commit
	blobs     map[string]*blob
	branches  map[string]*Commit
	tags      map[string]*Commit
	generated map[string]bool // paths
}

// defaultBranch is the default branch of every project.
const defaultBranch = "main"

// Commit is a commit of a repository.
type Commit struct {
	ID      string // 40 hex digits
	Message string // with its trailers

	number      int64 // order of creation: parents have lower numbers
	parents     []*Commit
	tree        *tree
	name, email string
	date        time.Time
}

// Change is the content of a commit of [Project.AddCommit]. All fields are optional.
type Change struct {
	Branch    string            // default: the default branch; a new one starts at the default branch
	Message   string            // default: "Update files"
	Author    *User             // default: the default user
	Date      time.Time         // default: the server's clock
	Files     map[string]string // path to content
	Delete    []string          // paths
	MergeFrom string            // a ref that becomes the second parent; its changes are merged
	// GeneratedFiles are paths of generated files, in this and all later commits of the project.
	GeneratedFiles []string
}

// blob is the content of a file: bytes, or a pattern of a given length that is generated when it is
// read.
type blob struct {
	id   string
	data []byte
	size int64 // of a generated blob
}

type tree struct {
	id      string
	entries []treeEntry // in git's order
}

type treeEntry struct {
	name, mode string
	blob       *blob
	tree       *tree // nil for a file
}

func (r *repository) init(p *Project) {
	*r = repository{
		project: p, commits: map[string]*Commit{}, blobs: map[string]*blob{}, branches: map[string]*Commit{}, tags: map[string]*Commit{},
		generated: map[string]bool{},
	}
}

// AddFiles commits files to the default branch.
func (p *Project) AddFiles(files map[string]string) *Commit { return p.AddCommit(Change{Files: files}) }

// AddCommit commits a change and returns the commit.
func (p *Project) AddCommit(change Change) *Commit {
	p.srv.edit()
	defer p.srv.mu.Unlock()
	return p.repo.commit(change, nil)
}

// AddGeneratedBlob commits a file of the given size and returns its blob id. The content is
// generated when it is read, and the id is not its hash.
func (p *Project) AddGeneratedBlob(path string, size int64) string {
	p.srv.edit()
	defer p.srv.mu.Unlock()
	b := &blob{id: objectID("generated", []byte(fmt.Sprint(path, size))), size: size}
	p.repo.blobs[b.id] = b
	p.repo.commit(Change{Message: "Add " + path}, map[string]*blob{path: b})
	return b.id
}

// AddBranch creates a branch at a ref.
func (p *Project) AddBranch(name, ref string) { p.addRef(p.repo.branches, name, ref) }

// AddTag creates a tag at a ref.
func (p *Project) AddTag(name, ref string) { p.addRef(p.repo.tags, name, ref) }

func (p *Project) addRef(refs map[string]*Commit, name, ref string) {
	p.srv.edit()
	defer p.srv.mu.Unlock()
	c := p.repo.resolve(ref)
	if c == nil {
		panic(fmt.Sprintf("forgetest: %s has no ref %q: add a commit or a branch first", p.Path, ref))
	}
	refs[name] = c
}

// commit makes a commit; extra are additional files.
func (r *repository) commit(change Change, extra map[string]*blob) *Commit {
	s := r.project.srv
	if change.Author == nil {
		change.Author = s.store.root
	}
	if change.Date.IsZero() {
		change.Date = s.now()
	}
	branch, message := orElse(change.Branch, defaultBranch), orElse(change.Message, "Update files")
	c := &Commit{
		Message: message, number: s.store.nextID("commit", 1), name: change.Author.Name, email: change.Author.Email,
		date: change.Date.UTC().Truncate(time.Second),
	}
	files := map[string]*blob{}
	head, merged := r.branches[branch], r.resolve(change.MergeFrom)
	if head == nil {
		head = r.branches[defaultBranch]
	}
	if head != nil {
		c.parents = append(c.parents, head)
		head.tree.walk("", func(path string, e treeEntry) { addBlob(files, path, e) })
	}
	if merged != nil {
		c.parents = append(c.parents, merged)
		mergeFiles(files, head, merged)
	}
	for path, content := range change.Files {
		files[path] = r.blob([]byte(content))
	}
	maps.Copy(files, extra)
	for _, path := range change.GeneratedFiles {
		r.generated[path] = true
	}
	for _, path := range change.Delete {
		delete(files, path)
	}
	c.tree = buildTree(files)
	c.ID = objectID("commit", c.encode())
	r.commits[c.ID] = c
	r.branches[branch] = c
	return c
}

// mergeFiles applies the changes of a branch since its merge base with head.
func mergeFiles(files map[string]*blob, head, merged *Commit) {
	var base *tree
	if common := mergeBase([]*Commit{head, merged}); common != nil {
		base = common.tree
	}
	for _, change := range diffTrees(base, merged.tree) {
		if change.oldPath != change.newPath || change.new.blob == nil {
			delete(files, change.oldPath)
		}
		addBlob(files, change.newPath, change.new)
	}
}

func addBlob(files map[string]*blob, path string, e treeEntry) {
	if e.blob != nil {
		files[path] = e.blob
	}
}

func orElse(s, fallback string) string {
	if s == "" {
		return fallback
	}
	return s
}

// resolve finds a branch, a tag, or a commit by its id or at least 7 digits of it; nil for "".
func (r *repository) resolve(ref string) *Commit {
	for _, refs := range []map[string]*Commit{r.branches, r.tags, r.commits} {
		if c := refs[ref]; c != nil {
			return c
		}
	}
	if ref == "HEAD" {
		return r.branches[defaultBranch]
	}
	for id, c := range r.commits {
		if len(ref) >= 7 && strings.HasPrefix(id, ref) {
			return c
		}
	}
	return nil
}

// resolveOr is resolve with the default branch for "".
func (r *repository) resolveOr(ref string) *Commit { return r.resolve(orElse(ref, defaultBranch)) }

func (r *repository) size() (sum int64) {
	for _, b := range r.blobs {
		sum += b.length()
	}
	return sum
}

func (r *repository) blob(data []byte) *blob {
	id := objectID("blob", data)
	if r.blobs[id] == nil {
		r.blobs[id] = &blob{id: id, data: data}
	}
	return r.blobs[id]
}

func (b *blob) length() int64 { return max(b.size, int64(len(b.data))) }

// copyTo writes the content; a generated one line by line.
func (b *blob) copyTo(w io.Writer) error {
	if b.size == 0 {
		_, err := w.Write(b.data)
		return err
	}
	chunk := []byte(strings.Repeat("The quick brown fox jumps over the lazy dog; forgetest made it.\n", 1024))
	for left := b.size; left > 0; left -= int64(len(chunk)) {
		chunk = chunk[:min(int64(len(chunk)), left)]
		if _, err := w.Write(chunk); err != nil {
			return err
		}
	}
	return nil
}

// buildTree makes trees from a flat list of files.
func buildTree(files map[string]*blob) *tree {
	t := &tree{}
	below := map[string]map[string]*blob{}
	for path, b := range files {
		dir, rest, nested := strings.Cut(path, "/")
		if !nested {
			t.entries = append(t.entries, treeEntry{name: path, mode: fileMode(path), blob: b})
			continue
		}
		if below[dir] == nil {
			below[dir] = map[string]*blob{}
		}
		below[dir][rest] = b
	}
	for dir, content := range below {
		t.entries = append(t.entries, treeEntry{name: dir, mode: "040000", tree: buildTree(content)})
	}
	sort.Slice(t.entries, func(i, j int) bool { return t.entries[i].sortName() < t.entries[j].sortName() })
	var data []byte
	for _, e := range t.entries {
		raw, _ := hex.DecodeString(e.id())
		data = append(fmt.Appendf(data, "%s %s\x00", strings.TrimPrefix(e.mode, "0"), e.name), raw...)
	}
	t.id = objectID("tree", data)
	return t
}

func fileMode(path string) string {
	if strings.HasSuffix(path, ".sh") {
		return "100755"
	}
	return "100644"
}

func (e treeEntry) sortName() string {
	if e.tree != nil {
		return e.name + "/"
	}
	return e.name
}

func (e treeEntry) id() string {
	if e.tree != nil {
		return e.tree.id
	}
	return e.blob.id
}

// walk visits all entries below, folders before their content.
func (t *tree) walk(prefix string, visit func(path string, e treeEntry)) {
	for _, e := range t.entries {
		visit(prefix+e.name, e)
		if e.tree != nil {
			e.tree.walk(prefix+e.name+"/", visit)
		}
	}
}

// find follows a path to an entry; "" is the tree itself. The entry is zero if there is none.
func (t *tree) find(path string) treeEntry {
	e := treeEntry{tree: t}
	for _, part := range strings.FieldsFunc(path, func(r rune) bool { return r == '/' }) {
		if e.tree == nil {
			return treeEntry{}
		}
		i := slices.IndexFunc(e.tree.entries, func(e treeEntry) bool { return e.name == part })
		if i < 0 {
			return treeEntry{}
		}
		e = e.tree.entries[i]
	}
	return e
}

// encode returns the commit object as git writes it.
func (c *Commit) encode() []byte {
	b := fmt.Appendf(nil, "tree %s\n", c.tree.id)
	for _, p := range c.parents {
		b = fmt.Appendf(b, "parent %s\n", p.ID)
	}
	who := fmt.Sprintf("%s <%s> %d +0000", c.name, c.email, c.date.Unix())
	return fmt.Appendf(b, "author %s\ncommitter %s\n\n%s", who, who, c.Message)
}

// objectID returns the id of a git object. The hash is a name and protects nothing: it is allowed
// in the FIPS-only mode of Go.
func objectID(kind string, data []byte) (id string) {
	fips140.WithoutEnforcement(func() {
		h := sha1.New() //nolint:gosec // the object ids of git
		fmt.Fprintf(h, "%s %d\x00", kind, len(data))
		h.Write(data)
		id = hex.EncodeToString(h.Sum(nil))
	})
	return id
}
