package forgetest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// record is a kind of record with a function that changes its document. Each call of add makes a
// record, and returns the path of a response that has it as the only or the last object.
type record struct {
	kind string
	add  func(fill func(*Document)) (path string)
}

func records(s *Server) []record {
	p, g := s.AddProject("group/app"), s.AddGroup("group")
	last := 0
	repository := p.AddRegistryRepository("web")
	tags := func(fill func(*Document)) string {
		name := ""
		repository.AddTags(1, func(_ int, d *Document) { fill(d); name = d.text("name") })
		return fmt.Sprintf("/projects/1/registry/repositories/1/tags/%s", url.PathEscape(orElse(name, "v0001")))
	}
	return []record{
		{"Issue", func(fill func(*Document)) string {
			return fmt.Sprintf("/issues?scope=all&iids[]=%d", p.AddIssue(fill).IID)
		}},
		{"MergeRequest", func(fill func(*Document)) string {
			return fmt.Sprintf("/projects/1/merge_requests/%d/changes", p.AddMergeRequest(fill).IID)
		}},
		{"RegistryTagDetail", tags},
		{"RegistryRepository", func(fill func(*Document)) string { repository.Edit(fill); return "/registry/repositories/1" }},
		{"Runner", func(fill func(*Document)) string { return fmt.Sprintf("/runners/%d", s.AddRunner(fill).ID) }},
		{"RunnerManager", func(fill func(*Document)) string {
			r := p.AddRunner(nil)
			r.AddManager("s_1", fill)
			return fmt.Sprintf("/runners/%d/managers", r.ID)
		}},
		{"RunnerJob", func(fill func(*Document)) string {
			other := p.AddRunner(nil)
			other.AddJob(p, "s_1", fill)
			return fmt.Sprintf("/runners/%d/jobs", other.ID)
		}},
		{"UpcomingJob", func(fill func(*Document)) string {
			last++
			key := fmt.Sprint("g", last)
			p.AddResourceGroup(key).AddUpcomingJob(fill)
			return "/projects/1/resource_groups/" + key + "/upcoming_jobs"
		}},
		{"SecureFile", func(fill func(*Document)) string {
			last++
			return fmt.Sprintf("/projects/1/secure_files?page=%d&per_page=1", len(p.secureFiles)+min(1, len(p.AddSecureFile(fmt.Sprint(last), nil, fill).Fields())))
		}},
		{"AuditEvent", func(fill func(*Document)) string {
			return fmt.Sprintf("/audit_events/%d", s.AddAuditEvent(fill).int("id"))
		}},
		{"AuditEvent", func(fill func(*Document)) string {
			return fmt.Sprintf("/projects/1/audit_events/%d", p.AddAuditEvent(fill).int("id"))
		}},
		{"User", func(fill func(*Document)) string {
			last++
			return fmt.Sprintf("/users/%d", s.AddUser(fmt.Sprint("user", last)).Edit(fill).ID)
		}},
		{"Namespace", func(fill func(*Document)) string { g.EditNamespace(fill); return "/namespaces/group" }},
		{"Namespace", func(fill func(*Document)) string { s.Root().EditNamespace(fill); return "/namespaces/root" }},
	}
}

// setValues are values of each shape that Set accepts or rejects. Their JSON differs.
func setValues(s *Server, f *field) []any {
	values := []any{
		true, 4711, 4711.5, "odd text", "", []string{"odd", "texts"}, map[string]string{"odd": "map"}, map[string]any{"odd": 1}, []any{"odd"}, []int{4711},
		uint8(7), time.Date(2031, 2, 3, 4, 5, 6, 0, time.UTC), "2031-02-04T04:05:06.000Z", struct{}{}, s.AddUser("odd"), []*User{s.AddUser("odd")},
		NewDocument("Epic").Set("id", 4711), []*Document{NewDocument("Epic").Set("id", 4711)}, NewDocument("UserSummary").Set("id", 4711),
		[]*Document{NewDocument("UserSummary").Set("id", 4711)}, []*Document(nil),
	}
	if f.Ref != "" {
		values = append(values, NewDocument(f.Ref))
	}
	if f.Items != nil && f.Items.Ref != "" {
		values = append(values, []*Document{NewDocument(f.Items.Ref)})
	}
	return values
}

// trySet calls set, and returns the text of its panic.
func trySet(set func()) (said string) {
	defer func() {
		if r := recover(); r != nil {
			said = fmt.Sprint(r)
		}
	}()
	set()
	return ""
}

// Every value for every field of every record is shown as it was set, or Set or the function that
// fills the record panics with the name of the field: no value is lost. Every field that may be null
// can be set, unless the server computes it.
func TestWhatIsSetIsShown(t *testing.T) {
	s := New(t)
	s.SetClock(noon)
	c := newCaller(t, s)
	shown, refused := 0, 0
	for _, r := range records(s) {
		for _, f := range catalogue().shapes[r.kind].fields {
			if r.kind == "Runner" && f.Name == "ip_address" {
				continue // releases before 17.0 show it
			}
			settable, computed := false, false
			for _, value := range setValues(s, f) {
				path := ""
				if said := trySet(func() { path = r.add(func(d *Document) { d.Set(f.Name, value) }) }); said != "" {
					refused++
					assert.Regexp(t, `^forgetest: \w+\.`+f.Name+` (is|cannot be set)`, said, "%s = %v", r.kind, value)
					computed = computed || strings.Contains(said, "cannot be set")
					require.Len(t, said, len(trySet(func() { r.add(func(d *Document) { d.Set(f.Name, value) }) })), "no lock is held after the panic")
					continue
				}
				object := c.get(path)
				if !assert.Equal(t, 200, object.Status, "%s.%s = %#v: %s", r.kind, f.Name, value, object.Body) {
					continue
				}
				var got any
				if strings.HasPrefix(strings.TrimSpace(object.Body), "[") {
					list := object.array(t)
					got = list[len(list)-1][f.Name]
				} else {
					got = object.object(t)[f.Name]
				}
				settable = settable || got != nil
				assert.True(t, hasShape(f, got), "%s.%s = %#v is shown in another form: %v", r.kind, f.Name, value, got)
				shown++
				assert.True(t, wasSet(t, s, f, value, got), "%s.%s = %#v is shown as %v by %s", r.kind, f.Name, value, got, path)
			}
			assert.True(t, settable || computed, "%s.%s can never have a value", r.kind, f.Name)
		}
	}
	assert.Greater(t, shown, 400)
	assert.Greater(t, refused, 2000)
}

// hasShape reports whether the objects in a value of a response have the type of the field.
func hasShape(f *field, got any) bool {
	kind, objects := f.Ref, []any{got}
	if list, isList := got.([]any); isList && f.Items != nil {
		kind, objects = f.Items.Ref, list
	}
	for _, one := range objects {
		object, isObject := one.(map[string]any)
		if kind != "" && one != nil && !isObject {
			return false
		}
		for name := range object {
			if kind != "" && !slices.Contains(NewDocument(kind).Fields(), name) {
				return false
			}
		}
	}
	return true
}

// wasSet reports whether a response shows the value. An empty text or list is no value: the server
// may use its default instead.
func wasSet(t *testing.T, s *Server, f *field, value, got any) bool {
	stored, _ := f.convert(value)
	if list, isList := stored.([]*Document); value == "" || isList && len(list) == 0 {
		return true
	}
	want := s.encoder().append(nil, stored, f.Format)
	var wanted any
	require.NoError(t, json.Unmarshal(want, &wanted))
	object, isObject := wanted.(map[string]any)
	shown, _ := got.(map[string]any)
	if !isObject {
		return assert.ObjectsAreEqual(wanted, got)
	}
	for name, value := range maps.All(object) { // a view, or a computed field, may differ in its fields
		if other, is := shown[name]; is && !strings.HasPrefix(name, "human_") && !assert.ObjectsAreEqual(value, other) && !slices.Contains([]any{nil, "", 0.0}, value) {
			return false
		}
	}
	return shown != nil
}

func TestDurations(t *testing.T) {
	for text, want := range map[string]int64{"3h30m": 12600, "1w 2d": 201600, "-1h": -3600, "1 h": 3600, "45s": 45, "+2m": 120} {
		got, valid := parseDuration(text)
		assert.True(t, valid, text)
		assert.Equal(t, want, got, text)
	}
	for _, text := range []string{"", "-", "5", "h", "1x", "1h-2m", "one hour"} {
		_, valid := parseDuration(text)
		assert.False(t, valid, text)
	}
	assert.Equal(t, "-1d 1h", humanDuration(-9*3600))
	assert.Nil(t, humanDuration(0))
	assert.Equal(t, "59s", humanDuration(59))
}

func TestAges(t *testing.T) {
	const day = 24 * time.Hour
	for text, want := range map[string]time.Duration{
		"1h": time.Hour, "1d": day, "1month": 30 * day, "2 weeks": 14 * day, "1y": 8766 * time.Hour, "3mo": 90 * day, "1d12h": 36 * time.Hour,
		"1 day 2 hours": 26 * time.Hour, "1 day 30 minutes": day + 30*time.Minute, "1d30m": day + 30*time.Minute, "90 secs": 90 * time.Second,
		"1.5 days": 36 * time.Hour, "1 day and 1 min": day + time.Minute, "1 Week, 2 hrs": 7*day + 2*time.Hour, "1m": time.Minute, "2 mos": 60 * day,
	} {
		age, valid := parseAge(text)
		assert.True(t, valid, text)
		assert.Equal(t, want, age, text)
	}
	age, valid := parseAge("999999999999999999 years")
	assert.True(t, valid && age > 200*8766*time.Hour, "the longest duration")
	for _, text := range []string{"", "1", "d", "-1d", "0d", "1x", "soon", "1d!", "1 day or 2", "1 and day", "1 ds", ", 1 day", "99999999999999999999d"} {
		_, valid := parseAge(text)
		assert.False(t, valid, text)
	}
}
