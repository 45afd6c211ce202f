package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// digest receives what a contender decodes, in the order in which a caller sees it. During
// measurements it only counts.
type digest struct {
	count uint64
	check func(item any) error // nil during measurements
	err   error
}

// item receives a decoded value, or nil from a work that decodes nothing.
func (d *digest) item(v any) {
	if d.count++; d.check != nil && d.err == nil {
		d.err = d.check(v)
	}
}

// lacks are the fields of the documents that the peer's types do not have, by kind. They are not
// compared, so the peer does less work. All other fields have to be equal.
var lacks = map[string][]string{"issue": issueLacks, "mixed": issueLacks}

var issueLacks = []string{
	"assignee.avatar_path", "assignees.avatar_path", "author.avatar_path", "closed_by.avatar_path", "blocking_issues_count", "has_tasks",
	"epic.human_readable_end_date", "epic.human_readable_timestamp", "epic_iid", "_links.closed_as_duplicate_of", "imported_from", "severity", "task_status", "type",
}

// agree lets a contender do the work once, and compares each decoded item, in order, with the
// document that the server sent. A call with one item is made again, for the next document. Without
// documents, the work only has to succeed.
func (r race) agree(ctx context.Context, c contender) error {
	n, lacking := 0, []string(nil)
	if c.name == peerName {
		lacking = lacks[r.sent.kind]
	}
	d := &digest{check: func(item any) error {
		if n++; r.sent.n == 0 {
			return nil
		}
		return r.sent.compare(n-1, item, lacking)
	}}
	for {
		before := n
		if err := errors.Join(c.do(ctx, d), d.err); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		switch {
		case n == r.sent.n || r.sent.n == 0:
			return nil
		case n-before != 1:
			return fmt.Errorf("%s: it has passed %d items, not %d", c.name, n, r.sent.n)
		}
	}
}

// compare compares a decoded item with its document.
func (d documents) compare(i int, item any, lacking []string) error {
	if i >= d.n {
		return fmt.Errorf("item %d is one too many", i)
	}
	text, err := json.Marshal(item)
	if err != nil {
		return err
	}
	got, err := canonical(text, lacking)
	if err != nil {
		return err
	}
	want, err := canonical([]byte(d.at(i%(distinct*perPage))), lacking)
	if err == nil && got != want {
		err = fmt.Errorf("item %d differs:\n%s\n%s", i, got, want)
	}
	return err
}

// canonical returns JSON with sorted keys and times in UTC, without the fields that
// are null, zero, false or empty, and without those that are lacking.
func canonical(text []byte, lacking []string) (string, error) {
	var tree any
	from := json.NewDecoder(bytes.NewReader(text))
	from.UseNumber()
	if err := from.Decode(&tree); err != nil {
		return "", err
	}
	for _, path := range lacking {
		remove(tree, strings.Split(path, "."))
	}
	text, err := json.Marshal(normal(tree))
	return string(text), err
}

// remove removes the field of a path from an object, or from each object of a list.
func remove(tree any, path []string) {
	switch v := tree.(type) {
	case []any:
		for _, element := range v {
			remove(element, path)
		}
	case map[string]any:
		if len(path) == 1 {
			delete(v, path[0])
			return
		}
		remove(v[path[0]], path[1:])
	}
}

// normal returns the tree in the canonical form, or nil if it is empty.
func normal(tree any) any {
	switch v := tree.(type) {
	case map[string]any:
		for key, value := range v {
			if v[key] = normal(value); v[key] == nil {
				delete(v, key)
			}
		}
		if len(v) == 0 {
			return nil
		}
	case []any:
		for i := range v {
			v[i] = normal(v[i]) // an empty element keeps its place
		}
		if len(v) == 0 {
			return nil
		}
	case string:
		return normalText(v)
	case json.Number:
		if n, err := v.Float64(); err == nil && n == 0 {
			return nil
		}
	case bool:
		if !v {
			return nil
		}
	}
	return tree
}

func normalText(text string) any {
	if text == "" {
		return nil
	}
	if len(text) < len(time.DateOnly) || text[4] != '-' {
		return text
	}
	t, err := time.Parse(time.RFC3339, text)
	switch {
	case err != nil:
		return text
	case t.IsZero():
		return nil
	}
	return t.UTC().Format(time.RFC3339Nano)
}
