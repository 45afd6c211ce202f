package forgetest

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
)

// setFromTheStart are the fields that may be null and have a value in everything that is new.
var setFromTheStart = map[string][]string{
	"Issue":        {},
	"MergeRequest": {"created_at", "updated_at", "prepared_at"},
}

// A field that may be null and is not set is null, not empty and not a zero (document 2 §2.2, §2.6).
func TestWhatIsNotSetIsNull(t *testing.T) {
	s := New(t)
	p := s.AddProject("group/app")
	p.AddIssue(nil)
	p.AddMergeRequest(nil)
	for name, path := range map[string]string{"Issue": "/issues", "MergeRequest": "/merge_requests"} {
		object := newCaller(t, s).get(path).array(t)[0]
		checked := 0
		for _, f := range catalogue().shapes[name].fields {
			value, found := object[f.Name]
			if !found || !f.Nullable && f.Only == nil || f.Type == "boolean" {
				continue
			}
			checked++
			assert.Equal(t, slices.Contains(setFromTheStart[name], f.Name), value != nil, "%s.%s is %v", name, f.Name, value)
		}
		assert.Greater(t, checked, 8, name)
	}
}
