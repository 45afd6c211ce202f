package forge_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/forgetest"
)

// testServer adapts forgetest to the checks.
type testServer struct {
	*forgetest.Server
	words *settingsServer // translates the names
}

// state reads the settings without the library.
func (s *testServer) state(t require.TestingT) *settingsState {
	request, err := http.NewRequest(http.MethodGet, s.URL+"/api/v4/application/settings", http.NoBody)
	require.NoError(t, err)
	request.Header.Set("PRIVATE-TOKEN", s.Token)
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, response.StatusCode)
	v, err := readJSON(body)
	require.NoError(t, err)
	state := &settingsState{shown: map[string]any{}}
	for wire, value := range v.(map[string]any) {
		if name := s.words.name(wire); !slices.Contains(identitySettings, name) {
			state.shown[name] = value
		}
	}
	state.held = state.shown
	for _, r := range s.Requests() {
		if r.Method == http.MethodPut {
			update, err := readJSON(r.Body)
			require.NoError(t, err)
			state.updates = append(state.updates, update.(map[string]any))
		}
	}
	return state
}

// validSetting returns a value that the documents allow.
func (w *settingsWorld) validSetting(fact *settingFact) any {
	var values []any
	switch {
	case len(fact.enum) > 0:
		values = texts(fact.enum)
	case len(fact.items) > 0:
		values = []any{[]any{}, texts(fact.items[:1]), texts(fact.items)}
	case fact.name == "archive_builds_in_human_readable":
		values = texts([]string{"", "15 days", "1 month"})
	case fact.name == "signin_enabled":
		values = texts([]string{"true", "false"})
	case fact.name == "spam_check_endpoint_url":
		values = texts([]string{"grpc://spam.example", "tls://spam.example:443"})
	case strings.Contains(fact.name, "visibility") && fact.kind == "string":
		values = texts([]string{"private", "internal", "public"})
	case strings.Contains(fact.name, "visibility"):
		values = []any{[]any{}, texts([]string{"public"})}
	case fact.min != "":
		values = []any{json.Number(fact.min), json.Number(fact.min + "0")}
	case fact.max != "":
		values = []any{number(0), json.Number(fact.max)}
	case fact.kind == "integer" || fact.kind == "number":
		values = []any{number(0), number(1), number(30)}
	case fact.name == "default_branch_protection_defaults":
		values = settingObjects(fact.name)[1:2]
	case fact.kind == "string":
		values = texts([]string{"", "one", "two"})
	default:
		values = settingValues(fact)
	}
	return rapid.SampledFrom(values).Draw(w.T, fact.name)
}

func texts(list []string) []any {
	values := make([]any, len(list))
	for i, text := range list {
		values[i] = text
	}
	return values
}

// TestSettingsForgetest checks the same properties with forgetest, for each tier and offering, with
// the names of the contract and of the deployed product.
func TestSettingsForgetest(t *testing.T) {
	facts := settingsCatalogue(t)
	defer http.DefaultClient.CloseIdleConnections()
	for _, tier := range []forgetest.Tier{forgetest.Free, forgetest.Premium, forgetest.Ultimate} {
		for vocabulary, words := range settingVocabularies[:2] {
			offering := forgetest.SelfManaged
			if tier == forgetest.Premium {
				offering = forgetest.Dedicated
			}
			options := []forgetest.Option{forgetest.WithTier(tier), forgetest.WithOffering(offering)}
			if words.words != nil {
				options = append(options, forgetest.WithGitLabVocabulary())
			}
			t.Run(string(tier)+" "+words.name, func(t *testing.T) {
				refused, cases := 0, 0
				settingsChecks(t, 25, func(r *rapid.T) {
					started, err := forgetest.Start(options...)
					require.NoError(r, err)
					defer started.Close()
					server := &testServer{Server: started, words: &settingsServer{words: words.words}}
					w := &settingsWorld{T: r, facts: facts, client: server.Client(), vocabulary: vocabulary, server: server.words}
					cases++
					if !w.onForgetest(server) {
						refused++
					}
				})
				t.Logf("%d cases, %d refused by the server", cases, refused)
				require.Less(t, refused, 1+cases/4)
			})
		}
	}
}

// onForgetest runs one case. It reports whether the server has accepted the update.
func (w *settingsWorld) onForgetest(server *testServer) bool {
	w.drawNames()
	before := server.state(w)
	s, err := w.client.Settings.Get(w.Context())
	require.NoError(w, err)
	m := modelOf(w.facts, s, before.shown)
	if name := rapid.SampledFrom([]string{"", "", "shared_runners_enabled", "unique_ips_limit_enabled", "throttle_authenticated_web_enabled"}).Draw(w.T, "enable"); name != "" {
		m.field(s, w.facts.byName[name], true)
		for _, companion := range w.facts.companions[name] { // companions that only a tier has are never required
			if fact := w.facts.byName[companion]; len(fact.tiers) == 0 {
				m.field(s, fact, settingValues(fact)[1])
			}
		}
	}
	for range rapid.IntRange(1, 8).Draw(w.T, "edits") {
		name := rapid.SampledFrom(w.facts.names).Draw(w.T, "any")
		if len(w.names) > 0 && rapid.Bool().Draw(w.T, "own") {
			name = rapid.SampledFrom(w.names).Draw(w.T, "name")
		}
		fact := w.facts.byName[name]
		if fact == nil || !w.sendable(name) {
			continue
		}
		v := w.validSetting(fact)
		if name == "default_branch_protection_defaults" {
			continue // written in several forms
		}
		if fieldHolds(m.typeOf(fact), v) {
			m.field(s, fact, v)
		}
	}
	c := w.check(m)
	d := s.Diff()
	c.diff(d)
	report, err := w.client.Settings.Apply(w.Context(), d)
	after := server.state(w)
	var answer *forge.Error
	if errors.As(err, &answer) {
		if answer.Status != http.StatusBadRequest || !sameJSON(before.held, after.held) {
			w.Fatalf("%v, and the settings are changed: %t\n%s", err, !sameJSON(before.held, after.held), strings.Join(m.log, "; "))
		}
		w.Logf("%v", err)
		return false
	}
	c.applied(report, err, before, after)
	if len(c.problems) > 0 {
		w.Fatalf("%s\nedits: %s\nupdates: %v", strings.Join(c.problems, "\n"), strings.Join(m.log, "; "), after.updates[len(before.updates):])
	}
	if err == nil {
		w.onceMore(c, s, d, report, server)
	}
	return true
}

// onceMore applies the same changes again.
func (w *settingsWorld) onceMore(c *settingsCheck, s *forge.ApplicationSettings, d *forge.SettingsDiff, report *forge.SettingsReport, server *testServer) {
	rest, err := forge.DiffSettings(report.Settings, s)
	require.NoError(w, err)
	for _, change := range rest.Changes {
		if !c.may[change.Name] && !slices.ContainsFunc(report.NotApplied, func(d forge.SettingDifference) bool { return d.Name == change.Name }) {
			w.Fatalf("%s is in force, and still a change: %s to %s", change.Name, change.Got, change.Want)
		}
	}
	before := server.state(w)
	again, err := w.client.Settings.Apply(w.Context(), d)
	require.NoError(w, err)
	if after := server.state(w); !sameJSON(before.held, after.held) || !slices.EqualFunc(report.NotApplied, again.NotApplied, sameDifference) {
		w.Fatalf("the same changes, applied again, change %s to %s", writeJSON(before.held), writeJSON(after.held))
	}
}
