package forge_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/internal/racetest"
)

// settingsChecks runs a property. FORGE_SEED selects other cases, and FORGE_CHECKS multiplies their
// number. With the race detector there are fewer cases, since races do not depend on the values.
func settingsChecks(t *testing.T, checks int, property func(*rapid.T)) {
	factor := 1
	if text := os.Getenv("FORGE_CHECKS"); text != "" {
		_, err := fmt.Sscan(text, &factor)
		require.NoError(t, err)
	}
	if racetest.Enabled {
		checks = max(1, checks/12)
	}
	seed := os.Getenv("FORGE_SEED")
	if seed == "" {
		seed = "20260101"
	}
	for name, value := range map[string]string{"rapid.checks": fmt.Sprint(checks * factor), "rapid.seed": seed, "rapid.nofailfile": "true", "rapid.shrinktime": "5s"} {
		if !givenFlags()[name] {
			require.NoError(t, flag.Set(name, value))
		}
	}
	rapid.Check(t, property)
}

// givenFlags are the flags of the command line, before the tests set their own.
var givenFlags = sync.OnceValue(func() map[string]bool {
	given := map[string]bool{}
	flag.Visit(func(f *flag.Flag) { given[f.Name] = true })
	return given
})

// settingsWorld is a drawn server, and the settings that a client has read from it.
type settingsWorld struct {
	*rapid.T
	facts      *settingFacts
	server     *settingsServer
	client     *forge.Client
	vocabulary int
	names      []string // the settings of the case
}

// settingGroups are groups of related settings.
var settingGroups = sync.OnceValue(func() [][]string {
	facts, err := readSettingFacts()
	if err != nil {
		panic(err)
	}
	var groups [][]string
	for old, name := range settingAliases {
		groups = append(groups, []string{old, name}, []string{old, name}) // these pairs are drawn twice as often
	}
	for old, names := range settingReplacements {
		groups = append(groups, append([]string{old}, names...))
	}
	for name, companions := range facts.companions {
		groups = append(groups, append([]string{name}, companions...))
	}
	groups = append(groups, []string{"unconfirmed_users_delete_after_days", "delete_unconfirmed_users"},
		[]string{"throttle_unauthenticated_enabled", "throttle_unauthenticated_period_in_seconds", "throttle_unauthenticated_requests_per_period", "throttle_unauthenticated_web_period_in_seconds"},
		[]string{"default_branch_protection_defaults"}, []string{"repository_storages_weighted"}, []string{"sign_in_restrictions", "editor_extension_marketplace"},
		[]string{"domain_allowlist", "valid_runner_registrars", "allowed_integrations"}, []string{"external_pipeline_validation_service_timeout", "runner_token_expiration_interval"})
	slices.SortFunc(groups, slices.Compare)
	return groups
})

// unknownSettings are names that the documents do not have.
var unknownSettings = []string{"unknown_to_all", "x_unknown_2", "asset_proxy_secret_key", "elasticsearch_password", "delayed_project_deletion"}

// world draws a server.
func (w *settingsWorld) world() {
	w.vocabulary = rapid.IntRange(0, len(settingVocabularies)-1).Draw(w.T, "vocabulary")
	w.drawNames()
	w.fill(w.server, "server")
}

func (w *settingsWorld) drawNames() {
	w.names = nil
	for _, group := range rapid.SliceOfN(rapid.SampledFrom(settingGroups()), 0, 3).Draw(w.T, "groups") {
		w.names = append(w.names, group...)
	}
	w.names = append(w.names, rapid.SliceOfN(rapid.SampledFrom(w.facts.names), 0, 5).Draw(w.T, "names")...)
	w.names = append(w.names, rapid.SliceOfN(rapid.SampledFrom(unknownSettings), 0, 2).Draw(w.T, "unknown")...)
	slices.Sort(w.names)
	w.names = slices.Compact(w.names)
}

// fill draws which settings a server knows, which values it has, and which settings it hides and
// refuses.
func (w *settingsWorld) fill(s *settingsServer, label string) {
	s.clear(settingVocabularies[w.vocabulary].words)
	tier := rapid.SampledFrom([]string{"free", "premium", "ultimate"}).Draw(w.T, label+" tier")
	offering := rapid.SampledFrom([]string{"self-managed", "dedicated"}).Draw(w.T, label+" offering")
	s.noNulls, s.mixed = rapid.Bool().Draw(w.T, label+" has no nulls"), rapid.Bool().Draw(w.T, label+" mixes")
	for _, name := range w.names {
		fact := w.facts.byName[name]
		if fact != nil && (len(fact.tiers) > 0 && !slices.Contains(fact.tiers, tier) || len(fact.offerings) > 0 && !slices.Contains(fact.offerings, offering)) {
			continue
		}
		switch rapid.SampledFrom([]string{"shown", "shown", "shown", "shown", "shown", "hidden", "late", "unknown"}).Draw(w.T, label+" "+name) {
		case "shown":
			s.knows[name], s.values[name] = true, w.value(name, 8)
		case "hidden":
			s.knows[name], s.values[name], s.hidden[name] = true, w.value(name, 0), true
		case "late":
			s.knows[name] = true
		}
		switch rapid.IntRange(0, 15).Draw(w.T, name+" refused") {
		case 15:
			s.refused[name] = true
		case 14:
			s.instead[name] = w.value(name, 0)
		}
	}
	for old, name := range settingAliases { // usually both names have the same value, and are hidden together
		if v, held := s.values[name]; held && rapid.IntRange(0, 5).Draw(w.T, name+" apart") < 5 {
			if _, oldHeld := s.values[old]; oldHeld {
				s.values[old] = underOtherName(old, v)
			}
		}
	}
}

// value draws a value; odd of 32 values have another type.
func (w *settingsWorld) value(name string, odd int) any {
	fact := w.facts.byName[name]
	how := rapid.IntRange(0, 31).Draw(w.T, name+" how")
	switch {
	case fact == nil || how >= 32-odd/4:
		return rapid.SampledFrom(oddSettings(name)).Draw(w.T, name+" of any type")
	case how >= 28:
		return nil
	}
	return rapid.SampledFrom(settingValues(fact)).Draw(w.T, name)
}

// settingValues returns values of the documented type, the zero value first.
func settingValues(fact *settingFact) []any {
	text := func(s string) any {
		if isSecretSetting(fact.name) {
			return secretMark + s
		}
		return s
	}
	switch fact.kind {
	case "boolean":
		return []any{false, true}
	case "integer":
		return []any{number(0), number(5), number(7200), number(-1), number(1 << 40)}
	case "number":
		return []any{number(0), number(5), json.Number("1.5"), json.Number("0.25")}
	case "array":
		return []any{[]any{}, []any{"a.example"}, []any{"b.example", "c.example"}, []any{"a.example", "a.example"}, []any{""}}
	case "object":
		return settingObjects(fact.name)
	}
	if fact.name == "signin_enabled" {
		return []any{"", "true", "false", "true"}
	}
	return []any{"", text("a"), text("15 days"), text(`<ü> & "quoted" \ and`)}
}

func settingObjects(name string) []any {
	var texts []string
	switch name {
	case "repository_storages_weighted":
		texts = []string{`{}`, `{"default":100}`, `{"default":100,"other":0}`, `{"other":7}`}
	case "default_branch_protection_defaults":
		texts = []string{`{}`, `{"allowed_to_push":[{"access_level":40}],"allow_force_push":true,"allowed_to_merge":[{"access_level":30}]}`,
			`{"allowed_to_push":[{"access_level":40,"unknown":1},{"access_level":30}],"allow_force_push":false,"allowed_to_merge":[],"odd":{"k":[1]}}`, `{"odd":1,"allow_force_push":true}`,
			`{"allow_force_push":true}`}
	default:
		texts = []string{`{}`, `{"k":"v"}`, `{"k":{"n":[1,null]},"l":false}`, `{"k":null}`}
	}
	values := make([]any, len(texts))
	for i, text := range texts {
		values[i], _ = readJSON([]byte(text))
	}
	return values
}

// oddSettings returns values of all types.
func oddSettings(name string) []any {
	if isSecretSetting(name) {
		return []any{secretMark, secretMark + "2", nil, []any{secretMark}, map[string]any{"k": secretMark}}
	}
	nested := map[string]any{"k": map[string]any{"n": []any{number(1), "two", nil}}}
	return []any{"odd", "", number(4711), json.Number("2.5"), true, false, nil, []any{}, []any{"a", number(5)}, []any{nested}, map[string]any{}, nested}
}

// read reads the settings with Get or from JSON, or reads nothing.
func (w *settingsWorld) read() (*forge.ApplicationSettings, *settingsModel) {
	base := w.server.state().shown
	how := rapid.SampledFrom([]string{"Get", "Get", "Get", "Get", "Unmarshal", "never"}).Draw(w.T, "read")
	s := new(forge.ApplicationSettings)
	if how != "never" {
		var err error
		s, err = w.client.Settings.Get(w.Context())
		require.NoError(w, err)
		if got := documentOf(s); !sameJSON(got, base) {
			w.Fatalf("what was read marshals to %s, not %s", writeJSON(got), writeJSON(base))
		}
	} else {
		base = nil
	}
	if how == "Unmarshal" {
		text := writeDocument(s)
		s = new(forge.ApplicationSettings)
		require.NoError(w, json.Unmarshal([]byte(text), s))
	}
	for name, v := range base {
		fact := w.facts.byName[name]
		if fact == nil || fact.field < 0 || v == nil {
			continue
		}
		field := settingField(s, fact)
		if got := fieldJSON(field); fieldHolds(field.Type(), v) && !wantedAs(name, v, got) && field.Type().Name() != "BranchProtectionDefaults" {
			w.Fatalf("%s is %s, and the field has %v", name, writeJSON(v), got)
		}
	}
	if d := s.Diff(); d.Err() != nil || len(d.Changes)+len(d.NotSent)+len(d.OnlyInGot) > 0 {
		w.Fatalf("nothing was changed, and the changes are %v, %v, %v, %v", d.Changes, d.NotSent, d.OnlyInGot, d.Err())
	}
	return s, modelOf(w.facts, s, base)
}

// edits draws edits of s and makes them.
func (w *settingsWorld) edits(s *forge.ApplicationSettings, m *settingsModel, most int) {
	for i := range rapid.IntRange(0, most).Draw(w.T, "edits") {
		w.edit(s, m, fmt.Sprintf("edit %d", i))
	}
}

func (w *settingsWorld) edit(s *forge.ApplicationSettings, m *settingsModel, label string) {
	var name string
	if len(w.names) > 0 && rapid.IntRange(0, 9).Draw(w.T, label+" own") > 0 {
		name = rapid.SampledFrom(w.names).Draw(w.T, label+" name")
	} else {
		name = rapid.SampledFrom(w.facts.names).Draw(w.T, label+" of all")
	}
	fact := w.facts.byName[name]
	typed := fact != nil && fact.field >= 0
	switch how := rapid.IntRange(0, 19).Draw(w.T, label+" how"); {
	case how < 9 && typed:
		w.editField(s, m, fact, label)
	case how < 11 && typed:
		m.element(s, fact, rapid.IntRange(0, 9).Draw(w.T, label+" element"), elementOf(w.value(name, 0)))
	case how < 12 && typed:
		m.appended(s, fact, elementOf(w.value(name, 0)))
	case how == 12:
		m.rawInPlace(s, name)
	case how < 15:
		w.editMerge(s, m, name, label)
	case how == 15 && !typed:
		m.deleted(s, name)
	case how == 15:
		m.protection(s, rapid.IntRange(0, 3).Draw(w.T, label+" protection"), rapid.IntRange(0, 60).Draw(w.T, label+" level"))
	case how == 16 && rapid.IntRange(0, 3).Draw(w.T, label+" identity") == 0:
		m.identity(s, rapid.IntRange(0, 1).Draw(w.T, label+" which"))
	case how == 17 && rapid.IntRange(0, 3).Draw(w.T, label+" other Extra") == 0:
		w.editExtra(s, m, label)
	case !typed:
		m.extra(s, name, writeJSON(w.value(name, 8)))
	default:
		w.editField(s, m, fact, label)
	}
}

// elementOf returns an element of a value that was drawn for a list or a map.
func elementOf(v any) any {
	switch v := v.(type) {
	case []any:
		if len(v) > 0 {
			return v[0]
		}
		return "d.example"
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			return v[name]
		}
		return number(9)
	}
	return v
}

func (w *settingsWorld) editField(s *forge.ApplicationSettings, m *settingsModel, fact *settingFact, label string) {
	v := w.value(fact.name, 0)
	back, shown := m.base[fact.name]
	switch rapid.IntRange(0, 7).Draw(w.T, label+" special") {
	case 7:
		if shown {
			v = back // the original value
		}
	case 6:
		v = notSet{}
	case 5:
		for old, name := range settingAliases { // the value of the other name
			if name == fact.name {
				v = underOtherName(name, m.now[old])
			} else if old == fact.name {
				v = underOtherName(old, m.now[name])
			}
		}
		for old, names := range settingReplacements {
			if slices.Contains(names, fact.name) {
				v = m.now[old]
			}
		}
	}
	t := m.typeOf(fact)
	if _, nullable := nullableOf(t); v == (notSet{}) && !nullable {
		v = nil
	}
	if v == (notSet{}) || fieldHolds(t, v) && t.Name() != "BranchProtectionDefaults" {
		m.field(s, fact, v)
	}
}

func (w *settingsWorld) editMerge(s *forge.ApplicationSettings, m *settingsModel, name, label string) {
	object := map[string]any{name: w.value(name, 8)}
	for _, other := range rapid.SliceOfN(rapid.SampledFrom(append(w.names, "id", "created_at", "signup_enabled")), 0, 2).Draw(w.T, label+" others") {
		object[other] = w.value(other, 2)
	}
	if problem := m.merge(s, object); problem != "" {
		w.Fatalf("%s\n%s", problem, strings.Join(m.log, "\n"))
	}
}

// editExtra makes the rare edits of Extra: invalid JSON, nil, a setting that has a field, a name of
// the server.
func (w *settingsWorld) editExtra(s *forge.ApplicationSettings, m *settingsModel, label string) {
	name := rapid.SampledFrom(append(w.names, "unknown_to_all")).Draw(w.T, label+" Extra")
	switch rapid.IntRange(0, 4).Draw(w.T, label+" odd") {
	case 0:
		m.extra(s, name, json.RawMessage(rapid.SampledFrom([]string{"", "{", "tru", `"`, "1 2", "[1,]"}).Draw(w.T, label+" no JSON")))
	case 1:
		m.extra(s, name, nil)
	case 2:
		m.extra(s, name, writeJSON(w.value(name, 8)))
	case 3:
		m.deleted(s, name)
	case 4:
		if word := settingVocabularies[w.vocabulary].words[name]; word != "" && w.facts.byName[word] == nil && w.facts.byName[name] != nil {
			m.extra(s, word, writeJSON(w.value(name, 0)))
			m.renamed[word], m.renamed[name] = true, true
		}
	}
}

// sendable reports whether a setting has a name on the wire.
func (w *settingsWorld) sendable(name string) bool {
	return settingVocabularies[w.vocabulary].name == "GitLab" || !slices.Contains(unnamedSettings, name)
}

func (w *settingsWorld) check(m *settingsModel) *settingsCheck {
	return &settingsCheck{settingsPlan: m.plan(w.sendable), model: m, wireName: w.server.name}
}
