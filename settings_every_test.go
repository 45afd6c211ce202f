package forge_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/internal/racetest"
)

// settingPast is the value of a setting before an edit; there is false if the server does not show
// the setting.
type settingPast struct {
	name  string
	value func(fact *settingFact) (v any, there bool)
}

var settingPasts = []settingPast{
	{"absent", func(*settingFact) (any, bool) { return nil, false }},
	{"null", func(*settingFact) (any, bool) { return nil, true }},
	{"zero", func(fact *settingFact) (any, bool) { return settingValues(fact)[0], true }},
	{"a value", func(fact *settingFact) (any, bool) { return settingValues(fact)[1], true }},
	{"another type", func(fact *settingFact) (any, bool) {
		if fact.kind == "string" {
			return number(5), true
		}
		return secretMark, true
	}},
}

// settingMode is how a server handles writes.
type settingMode struct {
	name    string
	prepare func(s *settingsServer, facts *settingFacts)
}

var settingModes = []settingMode{
	{"takes all", func(*settingsServer, *settingFacts) {}},
	{"Free", func(s *settingsServer, facts *settingFacts) {
		for name, fact := range facts.byName {
			if len(fact.tiers) > 0 {
				delete(s.values, name)
				delete(s.knows, name)
			}
		}
	}},
	{"refuses all", func(s *settingsServer, facts *settingFacts) {
		for _, name := range facts.names {
			s.refused[name] = true
		}
	}},
	{"hides secrets, has no nulls", func(s *settingsServer, _ *settingFacts) {
		s.noNulls, s.mixed = true, true
		for _, name := range secretSettings {
			s.hidden[name] = true
		}
	}},
	{"makes everything another value", func(s *settingsServer, facts *settingFacts) {
		for _, name := range facts.names {
			values := settingValues(facts.byName[name])
			s.instead[name] = values[len(values)-1]
		}
	}},
}

// settingBatch is a set of settings that are edited together. The companions and the other name of
// a setting are tested in the same batch and in another batch.
type settingBatch struct {
	name string
	has  func(fact *settingFact) bool
}

var settingBatches = func() []settingBatch {
	batches := []settingBatch{{"all", func(*settingFact) bool { return true }}, {"deprecated", isDeprecatedSetting},
		{"not deprecated", func(fact *settingFact) bool { return !isDeprecatedSetting(fact) }}}
	for _, kinds := range []string{"boolean", "integer number", "string", "array object"} {
		batches = append(batches, settingBatch{kinds, func(fact *settingFact) bool { return strings.Contains(kinds, fact.kind) && !isDeprecatedSetting(fact) }})
	}
	return batches
}()

func isDeprecatedSetting(fact *settingFact) bool {
	return settingAliases[fact.name] != "" || settingReplacements[fact.name] != nil
}

// TestSettingsEvery changes every setting from every kind of value to every kind of value, with and
// without a vocabulary, on servers with different behaviour; each combination with a third of the
// ways to edit, and with FORGE_LONG=1 with all of them.
func TestSettingsEvery(t *testing.T) {
	server := newSettingsServer(t)
	clients := settingsClients(t, server.URL)
	facts := settingsCatalogue(t)
	batches, cases, applied, edits, failures := 0, 0, 0, 0, 0
	for vocabulary := range settingVocabularies {
		if racetest.Enabled && settingVocabularies[vocabulary].name != "made up" {
			continue
		}
		for _, past := range settingPasts {
			for _, batch := range settingBatches {
				if settingVocabularies[vocabulary].name == "made up" && batch.name != "all" && batch.name != "deprecated" {
					continue
				}
				batches++
				for _, how := range []int{0, 1, 2, 3, 4, 5, 7, 8} { // a field is set to the values, to null and to nothing; values and null are merged
					if (how+batches)%3 != 0 && os.Getenv("FORGE_LONG") == "" {
						continue
					}
					mode := settingModes[(how+cases/8)%len(settingModes)]
					c := &everySetting{T: t, facts: facts, server: server, client: clients[vocabulary], vocabulary: vocabulary}
					c.run(past, batch, mode, how)
					cases++
					edits += c.edits
					if c.ok {
						applied++
					}
					if len(c.problems) > 0 && failures < 5 {
						failures++
						assert.Fail(t, strings.Join(c.problems, "\n"), "%s: %s from %s, edit %d, a server that %s", settingVocabularies[vocabulary].name, batch.name, past.name, how, mode.name)
					}
				}
			}
		}
	}
	t.Logf("%d cases, %d of them applied, %d edits", cases, applied, edits)
	assert.Greater(t, applied, cases*3/4)
	assert.Empty(t, server.state().broken)
}

// everySetting is one case.
type everySetting struct {
	*testing.T
	facts      *settingFacts
	server     *settingsServer
	client     *forge.Client
	vocabulary int
	problems   []string
	edits      int
	ok         bool
}

func (c *everySetting) run(past settingPast, batch settingBatch, mode settingMode, how int) {
	c.server.clear(settingVocabularies[c.vocabulary].words)
	names := []string(nil)
	for _, name := range c.facts.names {
		fact := c.facts.byName[name]
		if settingVocabularies[c.vocabulary].name != "GitLab" && slices.Contains(unnamedSettings, name) {
			continue
		}
		c.server.knows[name] = true
		if c.server.values[name] = settingValues(fact)[1]; batch.has(fact) {
			names = append(names, name)
			v, there := past.value(fact)
			if c.server.values[name] = v; !there {
				delete(c.server.values, name)
			}
		}
	}
	mode.prepare(c.server, c.facts)
	s, err := c.client.Settings.Get(c.Context())
	require.NoError(c, err)
	m := modelOf(c.facts, s, c.server.state().shown)
	merged := map[string]any{}
	for _, name := range names {
		c.edit(s, m, c.facts.byName[name], how, merged)
	}
	if how > 4 {
		if problem := m.merge(s, merged); problem != "" {
			c.problems = append(c.problems, problem)
		}
	}
	check := &settingsCheck{settingsPlan: m.plan(func(string) bool { return true }), model: m, wireName: c.server.name}
	d := s.Diff()
	check.diff(d)
	if d.Err() == nil {
		check.marshalled(documentOf(s))
	}
	before := c.server.state()
	report, err := c.client.Settings.Apply(c.Context(), d)
	check.applied(report, err, before, c.server.state())
	c.problems, c.edits, c.ok = append(c.problems, check.problems...), max(len(m.log), len(merged)), err == nil
}

// edit makes the edit with the number how, if the field of the setting accepts the value, or adds
// the value to the merged object.
func (c *everySetting) edit(s *forge.ApplicationSettings, m *settingsModel, fact *settingFact, how int, merged map[string]any) {
	if fact.field < 0 {
		c.Errorf("%s has no field", fact.name)
		return
	}
	values := settingValues(fact)
	if fact.kind == "string" { // aliases, and replacements of deprecated settings, get the same value
		values = []any{"", secretMark + "0", secretMark + "1"}
	}
	if fact.name == "signin_enabled" {
		values = []any{"false", "true", "false"}
	}
	if fact.name == "password_authentication_enabled_for_web" {
		values = []any{false, true, false}
	}
	t := m.typeOf(fact)
	_, nullable := nullableOf(t)
	var v any
	switch {
	case how < 3:
		v = values[how%len(values)]
	case how == 4 && nullable:
		v = notSet{}
	case how > 4 && how < 8:
		v = values[(how-5)%len(values)]
	}
	switch {
	case how > 4 && fieldHolds(t, v):
		merged[fact.name] = v
	case how <= 4 && t.Name() != "BranchProtectionDefaults":
		m.field(s, fact, v)
	}
}
