package forge_test

import (
	"cmp"
	"flag"
	"maps"
	"os"
	"reflect"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	forge "github.com/forge-sdk/forge-go"
)

// secretMark is a part of every secret of the tests, and must not be in any text.
const secretMark = "S3CR3T"

// settingsChecks runs a property with the same cases each time. FORGE_SEED selects other cases, and
// FORGE_CHECKS multiplies their number.
func settingsChecks(t *testing.T, checks int, property func(*rapid.T)) {
	if factor, err := strconv.Atoi(os.Getenv("FORGE_CHECKS")); err == nil {
		checks *= factor
	}
	seed := cmp.Or(os.Getenv("FORGE_SEED"), "20260101")
	for name, value := range map[string]string{"rapid.checks": strconv.Itoa(checks), "rapid.seed": seed, "rapid.nofailfile": "true", "rapid.shrinktime": "5s"} {
		if f := flag.Lookup(name); f.Value.String() == f.DefValue { // not given on the command line
			require.NoError(t, flag.Set(name, value))
			t.Cleanup(func() { _ = flag.Set(name, f.DefValue) }) // for other properties
		}
	}
	rapid.Check(t, property)
}

// settingsWorld draws a server, and edits of the settings that a client has read from it.
type settingsWorld struct {
	*rapid.T
	*settingFacts
	server *settingsServer
	client *forge.Client
	names  []string // the settings of the case
}

// draw draws one of the values.
func draw[T any](w *settingsWorld, label string, from ...T) T {
	return rapid.SampledFrom(from).Draw(w.T, label)
}

// oneOf reports true in one of n cases.
func (w *settingsWorld) oneOf(n int, label string) bool {
	return rapid.IntRange(1, n).Draw(w.T, label) == n
}

// world draws which settings the server knows, which values it has, and which it hides or does not
// take.
func (w *settingsWorld) world() {
	for _, group := range rapid.SliceOfN(rapid.SampledFrom(w.groups), 1, 3).Draw(w.T, "groups") {
		w.names = append(w.names, group...)
	}
	w.names = append(w.names, rapid.SliceOfN(rapid.SampledFrom(w.all), 0, 3).Draw(w.T, "names")...)
	w.names = append(w.names, rapid.SliceOfN(rapid.SampledFrom(unknownSettings), 0, 2).Draw(w.T, "unknown")...)
	slices.Sort(w.names)
	w.names = slices.Compact(w.names)
	s := w.server
	noNulls := rapid.Bool().Draw(w.T, "no nulls")
	for _, name := range w.names {
		if kind := w.kinds[name]; noNulls && kind != "" {
			s.zeros[name] = map[string]any{"boolean": false, "string": "", "array": []any{}, "object": map[string]any{}, "integer": 0.0, "number": 0.0}[kind]
		}
		value := w.value(name, 8)
		if v, has := s.values[partnerOf(name)]; has && !w.oneOf(6, name+" apart") { // usually both names have the same value
			value = underOtherName(name, v)
		}
		switch draw(w, name+" on the server", "shown", "late", "shown", "hidden", "shown", "unknown", "shown", "shown") {
		case "shown":
			s.knows[name], s.values[name] = true, value
		case "hidden":
			s.knows[name], s.values[name], s.hidden[name] = true, value, true
		case "late":
			s.knows[name] = true
		}
		if w.oneOf(8, name+" odd") { // such as the value that it has
			s.instead[name] = draw(w, name+" instead", value, w.value(name, 0))
		}
	}
}

// value draws a value; odd of 32 values have any type.
func (w *settingsWorld) value(name string, odd int) any {
	kind, how := w.kinds[name], rapid.IntRange(0, 31).Draw(w.T, name+" how")
	isOdd := kind == "" || how >= 32-odd/4
	if slices.Contains(secretSettings, name) {
		name = "secret"
	}
	text := cmp.Or(settingValues[name], settingValues[kind])
	if isOdd {
		text = cmp.Or(settingValues["odd "+name], settingValues["odd "+kind], settingValues["odd"])
	} else if how >= 28 {
		return nil
	}
	values, _ := readJSON([]byte(text)).([]any)
	return draw(w, name+" is", values...)
}

const numbers = `[[], [7], [7, 1099511627776]]`

// settingValues are the values of settings, by name or type, and values of other types. For a list
// or an object, none of those is partly right.
var settingValues = map[string]string{
	"boolean":                      `[false, true]`,
	"integer":                      `[0, 5, 7200, -1, 1099511627776]`,
	"number":                       `[0, 5, 1.5, 0.25]`,
	"string":                       `["", "a", "15 days", "<ü> & \"quoted\" \\ and"]`,
	"array":                        `[[], ["a.example"], ["b.example", "c.example"], ["a.example", "a.example"], [""]]`,
	"object":                       `[{}, {"k": "v"}, {"k": {"n": [1, null]}, "l": false}, {"k": null}]`,
	"secret":                       `["", "S3CR3T", "S3CR3T <ü> & \"quoted\" \\ and"]`,
	"signin_enabled":               `["", "true", "false"]`,
	"repository_storages_weighted": `[{}, {"default": 100}, {"default": 100, "other": 0}, {"other": 7}]`,
	protectionSetting: `[{}, {"allow_force_push": true}, {"allow_force_push": true, "odd": 1},
		{"allow_force_push": true, "allowed_to_push": [{"access_level": 40}], "allowed_to_merge": [{"access_level": 30}]},
		{"allow_force_push": false, "allowed_to_push": [{"access_level": 40, "unknown": 1}, {"access_level": 30}], "allowed_to_merge": [], "odd": {"k": [1]}}]`,
	"elasticsearch_namespace_ids": numbers, "elasticsearch_project_ids": numbers, "git_rate_limit_users_alertlist": numbers, "package_metadata_purl_types": numbers,
	"kroki_formats":                            `[{}, {"bpmn": true}, {"bpmn": false, "blockdiag": true}]`,
	"code_dropdown_custom_clients":             `[[], [{"name": "a", "ssh_url_template": "", "http_url_template": "x:{url}"}]]`,
	"elasticsearch_index_settings":             `[[], [{"alias_name": "a", "number_of_shards": 5, "number_of_replicas": 1, "odd": 1}]]`,
	"container_registry_import_created_before": `["2026-01-02T03:04:05Z", "2026-11-02T00:00:00Z"]`,
	"odd":        `["odd", "", 4711, 2.5, true, false, null, [], ["a", 5], {}, [{"k": {"n": [1, "two", null]}}], {"k": {"n": [1, "two", null]}}]`,
	"odd array":  `["odd", "", 4711, 2.5, true, false, null]`,
	"odd object": `["odd", "", 4711, 2.5, true, false, null]`,
	"odd secret": `["S3CR3T", "S3CR3T 2", null, ["S3CR3T"], {"k": "S3CR3T"}]`,
}

// edit draws an edit and makes it.
func (w *settingsWorld) edit(m *settingsModel) {
	name := draw(w, "of all", w.all...)
	if len(w.names) > 0 && !w.oneOf(10, "other") {
		name = draw(w, "name", w.names...)
	}
	kinds := []string{"set", "set", "set", "set", "set", "merge", "merge", "in place", "append", "delete"}
	if w.kinds[name] == "" {
		kinds = []string{"extra", "extra", "extra", "merge", "merge", "in place", "delete"}
	}
	if name == protectionSetting && !reflect.DeepEqual(m.base[name], m.now[name]) {
		return // back at its first value, it may have blanks that the first value does not have
	}
	switch draw(w, name+" edit", kinds...) {
	case "set":
		m.set(name, w.wanted(m, name))
	case "extra":
		m.extra(name, w.value(name, 0), false)
	case "merge":
		object := map[string]any{name: w.value(name, 8)}
		for _, other := range rapid.SliceOfN(rapid.SampledFrom(append(w.names, "id", "signup_enabled")), 0, 2).Draw(w.T, "with") {
			if other != protectionSetting {
				object[other] = w.value(other, 2)
			}
		}
		if problem := m.merge(object); problem != "" {
			w.Fatalf("%s\nedits: %q", problem, m.log)
		}
	case "in place":
		if w.kinds[name] == "" {
			m.extra(name, w.value(name, 0), true)
		} else {
			m.inPlace(name, w.value(name, 0))
		}
	case "append":
		m.appended(name)
	case "delete":
		m.deleted(name)
	}
}

// wanted draws a value for a field: often the one that was read, or that of the other name.
func (w *settingsWorld) wanted(m *settingsModel, name string) any {
	switch how := rapid.IntRange(0, 5).Draw(w.T, name+" wanted"); {
	case how == 0:
		return m.base[name]
	case how == 1 && partnerOf(name) != "":
		return underOtherName(name, m.now[partnerOf(name)])
	case how == 1:
		for _, old := range slices.Sorted(maps.Keys(settingReplacements)) {
			if v, has := m.now[old]; has && slices.Contains(settingReplacements[old], name) {
				return v
			}
		}
	}
	return w.value(name, 0)
}
