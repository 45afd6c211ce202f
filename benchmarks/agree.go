package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// digest receives what a contender decodes, in the order in which a caller sees it. During
// measurements it only counts.
type digest struct {
	count uint64
	check func(item any) error // nil during measurements
	err   error
	work  func() // the caller's work on each page
}

// item receives a decoded value.
func (d *digest) item(v any) {
	if d.count++; d.work != nil && d.count%perPage == 0 {
		d.work()
	}
	if d.check != nil && d.err == nil {
		d.err = d.check(v)
	}
}

// add receives values of a work that decodes no document, such as the size of a download. They are
// compared with those of the first contender.
func (d *digest) add(a, b string, m, n int64) {
	if d.check == nil {
		d.item(nil)
		return
	}
	d.item([]any{a, b, m, n})
}

// lacks are the fields of the documents that a contender's types do not have, by contender and
// kind. They are not compared, so the contender does less work. All other fields have to be equal.
var lacks = map[string]map[string][]string{
	peerName: {
		"issue": peerIssueLack, "mixed": peerIssueLack, "settings": peerSettingsLack, "unknown": append(unknownNames(), peerIssueLack...),
		"event": {"author_name", "entity_path", "ip_address", "target_details", "target_id", "target_type"},
	},
}

var peerIssueLack = []string{
	"assignee.avatar_path", "assignees.avatar_path", "author.avatar_path", "closed_by.avatar_path", "blocking_issues_count", "has_tasks",
	"epic.human_readable_end_date", "epic.human_readable_timestamp", "epic_iid", "_links.closed_as_duplicate_of", "imported_from", "severity", "task_status", "type",
}

// agree lets each contender do the work once, and compares each decoded item, in order, with the
// document that the server sent. If the row has no documents, it compares the contenders.
func (r race) agree(ctx context.Context, contenders []contender) error {
	reference := &oracle{docs: r.sent}
	for _, c := range contenders {
		if c.name == rawName {
			continue // it decodes nothing
		}
		o := reference
		if docs := r.sentTo(c.name); len(lacks[c.name][docs.kind]) > 0 || docs.kind != r.sent.kind {
			o = &oracle{docs: docs, lacking: lacks[c.name][docs.kind]}
		}
		if err := o.compare(ctx, c); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	return nil
}

// sentTo returns the documents that a contender receives: those of go-github have another form.
func (r race) sentTo(name string) documents {
	if name == githubName && r.sent.kind == "issue" {
		return documents{"github issue", r.sent.n, githubIssue}
	}
	return r.sent
}

// oracle holds the canonical forms of the items that contenders have to decode.
type oracle struct {
	docs    documents
	lacking []string
	texts   []string
	known   map[known]bool
}

// known is the hash of an item's JSON that was compared before. Contenders with the same types
// decode the same items, and the canonical form takes longer than the rest of the comparison.
type known struct {
	item int
	sum  uint64
}

var seed = maphash.MakeSeed()

// compare lets a contender do its work, until it has passed as many items as there are documents.
func (o *oracle) compare(ctx context.Context, c contender) error {
	n, recording := 0, o.docs.n == 0 && o.texts == nil
	d := &digest{check: func(item any) error {
		n++
		return o.item(n-1, item, recording)
	}}
	for {
		before := n
		if err := errors.Join(c.do(ctx, d), d.err); err != nil {
			return err
		}
		want := max(o.docs.n, len(o.texts))
		switch {
		case n == 0:
			return errors.New("it has passed no item")
		case n == want:
			return nil
		case o.docs.n == 0, n-before != 1: // a call with one item is made again, for the next document
			return fmt.Errorf("it has passed %d items, not %d", n, want)
		}
	}
}

// item compares an item, or records it.
func (o *oracle) item(n int, item any, recording bool) error {
	text, err := json.Marshal(item)
	if err != nil {
		return err
	}
	this := known{n, maphash.Bytes(seed, text)}
	if o.known[this] {
		return nil
	}
	got, err := canonical(text, o.lacking)
	if err != nil {
		return err
	}
	if recording {
		o.texts = append(o.texts, got)
	}
	want, err := o.text(n)
	if err != nil {
		return err
	}
	if got != want {
		return fmt.Errorf("item %d differs: %s", n, difference(got, want))
	}
	if o.known == nil {
		o.known = map[known]bool{}
	}
	o.known[this] = true
	return nil
}

// text returns the canonical form of an item.
func (o *oracle) text(i int) (string, error) {
	switch {
	case o.docs.n == 0 && i >= len(o.texts), o.docs.n > 0 && i >= o.docs.n:
		return "", fmt.Errorf("item %d is one too many", i)
	case o.docs.n == 0:
		return o.texts[i], nil
	}
	i %= distinct * perPage
	for len(o.texts) <= i {
		text, err := canonical([]byte(o.docs.at(len(o.texts))), o.lacking)
		if err != nil {
			return "", err
		}
		o.texts = append(o.texts, text)
	}
	return o.texts[i], nil
}

// canonical returns JSON with sorted keys and times in UTC, without the fields that
// are null, zero, false or empty, and without those that are lacking.
func canonical(text []byte, lacking []string) (string, error) {
	tree, err := parse(text)
	if err != nil {
		return "", err
	}
	for _, path := range lacking {
		remove(tree, strings.Split(path, "."))
	}
	text, err = json.Marshal(normal(tree))
	return string(text), err
}

func parse(text []byte) (tree any, err error) {
	from := json.NewDecoder(bytes.NewReader(text))
	from.UseNumber()
	err = from.Decode(&tree)
	return tree, err
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

// difference describes the fields in which two canonical forms differ.
func difference(got, want string) string {
	a, _ := parse([]byte(got))
	b, _ := parse([]byte(want))
	left, right := map[string]string{}, map[string]string{}
	leaves(left, "", a)
	leaves(right, "", b)
	keys := maps.Clone(left)
	maps.Copy(keys, right)
	var text []string
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if left[key] != right[key] {
			text = append(text, fmt.Sprintf("%s is %q, and was sent as %q", key, left[key], right[key]))
		}
	}
	return strings.Join(text, "; ")
}

func leaves(out map[string]string, path string, tree any) {
	switch v := tree.(type) {
	case map[string]any:
		for key, value := range v {
			leaves(out, path+"."+key, value)
		}
	case []any:
		out[path+" (length)"] = strconv.Itoa(len(v))
		for i, value := range v {
			leaves(out, fmt.Sprint(path, "[", i, "]"), value)
		}
	default:
		out[path] = fmt.Sprint(v)
	}
}
