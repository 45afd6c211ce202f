package forgetest

import (
	"cmp"
	"slices"
	"strings"
)

// title returns the first line of the message.
func (c *Commit) title() string {
	title, _, _ := strings.Cut(c.Message, "\n")
	return title
}

func (c *Commit) parentIDs() []string {
	ids := make([]string, len(c.parents))
	for i, p := range c.parents {
		ids[i] = p.ID
	}
	return ids
}

// trailers returns the "Key: value" lines of the message's last paragraph: the last value of each
// key, and all values for extended_trailers.
func (c *Commit) trailers() (last map[string]string, all map[string]any) {
	last, all = map[string]string{}, map[string]any{}
	if paragraphs := strings.Split(strings.TrimSpace(c.Message), "\n\n"); len(paragraphs) > 1 {
		for line := range strings.Lines(paragraphs[len(paragraphs)-1]) {
			key, value, ok := strings.Cut(strings.TrimSpace(line), ": ")
			if !ok || strings.Contains(key, " ") {
				continue
			}
			before, _ := all[key].([]string)
			last[key], all[key] = value, append(before, value)
		}
	}
	return last, all
}

// ancestors returns the commit and all its ancestors.
func (c *Commit) ancestors() map[*Commit]bool {
	seen := map[*Commit]bool{}
	for stack := []*Commit{c}; len(stack) > 0; {
		next := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if !seen[next] {
			seen[next] = true
			stack = append(stack, next.parents...)
		}
	}
	return seen
}

// between lists the ancestors of to, itself included, that are not ancestors of from, oldest first.
// from may be nil.
func between(from, to *Commit) []*Commit {
	known := map[*Commit]bool{}
	if from != nil {
		known = from.ancestors()
	}
	var list []*Commit
	for c := range to.ancestors() {
		if !known[c] {
			list = append(list, c)
		}
	}
	slices.SortFunc(list, func(a, b *Commit) int { return cmp.Compare(a.number, b.number) })
	return list
}

// mergeBase returns the latest common ancestor; nil if there is none.
func mergeBase(commits []*Commit) *Commit {
	common := commits[0].ancestors()
	for _, c := range commits[1:] {
		other := c.ancestors()
		for candidate := range common {
			if !other[candidate] {
				delete(common, candidate)
			}
		}
	}
	var best *Commit
	for c := range common {
		if best == nil || c.number > best.number {
			best = c
		}
	}
	return best
}

// fileChange is one path that differs between two trees.
type fileChange struct {
	oldPath, newPath string
	old, new         treeEntry // no blob if the file does not exist
}

// diffTrees lists the files that differ, by path. A file that was only moved is one change.
func diffTrees(from, to *tree) []fileChange {
	before, after := map[string]treeEntry{}, map[string]treeEntry{}
	collect := func(into map[string]treeEntry) func(string, treeEntry) {
		return func(path string, e treeEntry) {
			if e.blob != nil {
				into[path] = e
			}
		}
	}
	if from != nil {
		from.walk("", collect(before))
	}
	to.walk("", collect(after))
	var changes []fileChange
	for path, e := range after {
		if old, existed := before[path]; !existed || old.id() != e.id() {
			changes = append(changes, fileChange{path, path, old, e})
		}
	}
	for path, old := range before {
		if _, kept := after[path]; !kept {
			changes = append(changes, fileChange{path, path, old, treeEntry{}})
		}
	}
	slices.SortFunc(changes, func(a, b fileChange) int { return strings.Compare(a.newPath, b.newPath) })
	return joinRenames(changes)
}

// joinRenames joins a deletion and an addition of the same content.
func joinRenames(changes []fileChange) []fileChange {
	gone := map[string]fileChange{}
	for _, c := range changes {
		if c.new.blob == nil {
			gone[c.old.id()] = c
		}
	}
	moved := map[string]bool{}
	for i, c := range changes {
		if c.old.blob != nil {
			continue
		}
		if from, ok := gone[c.new.id()]; ok && !moved[from.oldPath] {
			changes[i].oldPath, changes[i].old = from.oldPath, from.old
			moved[from.oldPath] = true
		}
	}
	return slices.DeleteFunc(changes, func(c fileChange) bool { return c.new.blob == nil && moved[c.oldPath] })
}
