package forgetest

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// setFromTheStart are the fields that may be null but have a value in every new record.
var setFromTheStart = map[string][]string{
	"Issue":        {},
	"MergeRequest": {"created_at", "updated_at", "prepared_at"},
}

// A nullable field that is not set is null, not empty and not zero (Document 2 §2.2, §2.6). A flag
// is false.
func TestUnsetFieldsAreNull(t *testing.T) {
	s := New(t)
	p := s.AddProject("group/app")
	p.AddIssue(nil)
	p.AddMergeRequest(nil)
	for name, path := range map[string]string{"Issue": "/issues", "MergeRequest": "/merge_requests"} {
		object := newCaller(t, s).get(path).array(t)[0]
		checked := 0
		for _, f := range catalogue().shapes[name].fields {
			value, found := object[f.Name]
			if found && f.Type == "boolean" {
				assert.Equal(t, f.Name == "blocking_discussions_resolved", value, "%s.%s", name, f.Name)
				continue
			}
			if !found || !f.Nullable && f.Only == nil {
				continue
			}
			checked++
			assert.Equal(t, slices.Contains(setFromTheStart[name], f.Name), value != nil, "%s.%s is %v", name, f.Name, value)
		}
		assert.Greater(t, checked, 8, name)
	}
}

// A nullable field that is set has its value in the form of its type, and no other field has this
// value. The same applies to times that are never null.
func TestSetFieldsAreShown(t *testing.T) {
	s := New(t)
	p := s.AddProject("group/app")
	want := map[string]map[string]any{"Issue": {}, "MergeRequest": {}}
	fill := func(d *Document) {
		for i, f := range d.shape.fields {
			if (f.Nullable || f.Format == "timestamp") && f.Type != "boolean" {
				value, shown := sampleOf(f, i)
				d.Set(f.Name, value)
				want[d.shape.name][f.Name] = shown
			}
		}
	}
	p.AddIssue(fill)
	p.AddMergeRequest(fill)
	for name, path := range map[string]string{"Issue": "/issues", "MergeRequest": "/merge_requests"} {
		assert.Greater(t, len(want[name]), 6, name)
		object := newCaller(t, s).get(path).array(t)[0]
		for field, value := range want[name] {
			got := object[field]
			if nested, isObject := got.(map[string]any); isObject {
				got = nested["id"]
			}
			assert.Equal(t, value, got, "%s.%s", name, field)
		}
	}
}

// sampleOf returns a value for a field, and its form in a response; for an object the id.
func sampleOf(f *field, i int) (value, shown any) {
	at := time.Date(2026, 1, 2, 3, i, 0, 0, time.UTC)
	switch {
	case f.Format == "timestamp":
		return at, at.Format("2006-01-02T15:04:05.000Z")
	case f.Format == "date":
		at = at.AddDate(0, 0, i)
		return at, at.Format(time.DateOnly)
	case f.Type == "integer":
		return 100 + i, float64(100 + i)
	case f.Type == "object":
		return NewDocument(f.Ref).Set("id", 100+i), float64(100 + i)
	}
	return strings.ToUpper(f.Name), strings.ToUpper(f.Name)
}
