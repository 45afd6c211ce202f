package forgetest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	embedded "github.com/forge-sdk/forge-go/internal/catalogue"
	"github.com/forge-sdk/forge-go/internal/racetest"
)

// trial is a value for a setting, and whether the documents allow it. An allowed value is shown as
// it was sent.
type trial struct {
	value any
	legal bool
	text  bool // sent as text in a form
	shown any  // the value of a legal one in the response
}

func legal(values ...any) (all []trial) {
	for _, v := range values {
		all = append(all, trial{value: v, legal: true, shown: v})
	}
	return all
}

func illegal(values ...any) (all []trial) {
	for _, v := range values {
		all = append(all, trial{value: v})
	}
	return all
}

func formOf(text string, shown any) trial {
	return trial{value: text, legal: true, text: true, shown: shown}
}

// textOf returns a value that is legal as text in a form and in JSON.
func textOf(text string, shown any) []trial {
	return []trial{formOf(text, shown), {value: text, legal: true, shown: shown}}
}
func badForm(text string) trial { return trial{value: text, text: true} }

// trials returns values of all kinds for a parameter: values that §4.1.1 allows, null, zero, values
// of other types, and values out of range.
func trials(p parameter) []trial {
	object, list := map[string]any{}, []any{}
	switch p.Type {
	case "boolean": // "Requests send only true or false" (Document 1 §2.1)
		return slices.Concat(legal(true, false), illegal(nil, "", "yes", 0, 1, list, object), textOf("true", true), textOf("false", false),
			textOf("True", true), []trial{badForm(""), badForm("1"), badForm("yes")})
	case "integer":
		return integerTrials(p)
	case "array<string>":
		return arrayTrials(p)
	case "hash":
		return slices.Concat(legal(object, map[string]any{"a": "b"}), illegal(nil, list, "x", 1, true))
	}
	return slices.Concat(stringTrials(p), illegal(1, true, list, object, []any{"x"}))
}

func integerTrials(p parameter) []trial {
	lowest, shown := 0.0, func(n float64) string { return fmt.Sprint(int64(n)) }
	if p.Min != nil {
		lowest = float64(*p.Min)
	}
	all := slices.Concat(legal(lowest, lowest+1),
		illegal(lowest-1, lowest+0.5, -1e6, 1e30, "x", "1.5", true, []any{}, []any{1}, map[string]any{}),
		textOf(shown(lowest), lowest), []trial{badForm(shown(lowest - 1)), badForm("x"), badForm("1.5")})
	if strings.HasSuffix(p.Name, "runner_token_expiration_interval") { // null removes the interval
		all = append(append(all, legal(nil)...), textOf("", nil)...)
	} else {
		all = append(append(all, illegal(nil, "")...), badForm(""))
	}
	if p.Max != nil {
		all = append(append(all, legal(float64(*p.Max))...), illegal(*p.Max+1)...)
	}
	return all
}

func arrayTrials(p parameter) []trial {
	all := slices.Concat(legal([]any{}), illegal(nil, true, 1, map[string]any{}, []any{1, true}, []any{nil}, []any{[]any{"group"}}))
	if len(p.ItemEnum) == 0 {
		return slices.Concat(all, legal([]any{"ewm", "custom-issue-tracker"}), textOf("ewm", []any{"ewm"}))
	}
	return slices.Concat(all, textOf("group,project", []any{"group", "project"}), legal([]any{"group"}, []any{"project"}, []any{"group", "project"}),
		illegal([]any{"foo"}, []any{"group", "foo"}, []any{"group", "group"}))
}

func stringTrials(p parameter) []trial {
	switch {
	case len(p.Enum) > 0:
		all := illegal(nil, "", "nonsense", strings.ToUpper(p.Enum[0]))
		for _, value := range p.Enum {
			all = append(append(all, legal(value)...), formOf(value, value))
		}
		return append(all, badForm(""), badForm("nonsense"))
	case p.Name == "signin_enabled":
		return append(slices.Concat(legal("true", "false"), illegal(nil, "", "maybe", "TRUE")), formOf("false", "false"), badForm("maybe"))
	case p.Name == "archive_builds_in_human_readable":
		return slices.Concat(legal("15 days", "1 day", "24 hours", "1 day 30 minutes", "1d 30m", "2 weeks", "1 month", "1 year 6 months", "", nil),
			illegal("1 hour", "23 hours", "banana", "0 days", "1", "day", "-3 days", "15 days ago", "99999999999999999999 days", "1439 minutes", "1 day or so"))
	case p.Name == "spam_check_endpoint_url":
		return slices.Concat(legal("grpc://spam.example:443", "tls://spam.example", "", nil),
			illegal("http://x", "https://x", "grpc://", "grpc:x", "x", "//spam.example", "tls://%zz"))
	case p.Name == "email_restrictions":
		return slices.Concat(legal(`.+@example\.com`, "", nil), illegal("(", "a**"))
	case p.Name == "terms": // the response has no null
		return slices.Concat(legal("be kind", ""), illegal(nil))
	}
	return append(legal("text", "", "ünï <b> \"x\"", "4711", "true", nil), formOf("a b", "a b"), formOf("4711", "4711"))
}

// platformOf is a server of the matrix.
type platformOf struct {
	name    string
	options []Option
}

func settingPlatforms() (all []platformOf) {
	for _, tier := range []Tier{Free, Premium, Ultimate} {
		all = append(all, platformOf{string(tier), []Option{WithTier(tier), WithNeutralNames()}},
			platformOf{string(tier) + " GitLab", []Option{WithTier(tier)}})
	}
	return append(all, platformOf{"dedicated", []Option{WithOffering(Dedicated), WithNeutralNames()}}, platformOf{"16.0", []Option{WithRelease("16.0"), WithNeutralNames()}})
}

// settingFields are the fields of the response in the contract.
var settingFields = sync.OnceValue(func() []field {
	return embedded.Types[struct{ Fields []field }]()["ApplicationSettings"].Fields
})

// soldSetting reports whether a platform has a setting, by the restrictions in both §4.1.1 and
// §2.1.
func soldSetting(s *Server, p parameter) bool {
	for _, f := range settingFields() {
		if f.Name == p.Name && !f.Only.available(s) {
			return false
		}
	}
	return p.Only.available(s)
}

// A setting is either stored as it was sent, or rejected without a change, or, if the platform does
// not have it, ignored and not shown. It is never set to another value. See [triedOn].
func TestSettingsKeepWhatWasSent(t *testing.T) {
	racetest.SkipSequential(t)
	tried := 0
	for i, on := range settingPlatforms() {
		t.Run(on.name, func(t *testing.T) {
			s := New(t, on.options...)
			s.EditSettings(func(d *Document) { d.Set("delete_unconfirmed_users", true) }) // one of the settings needs it
			m := &meeting{caller: newCaller(t, s), srv: s}
			m.http.Transport.(*http.Transport).DisableCompression = true // the test needs half of the time
			m.before, tried = m.get(settingsPath), 0
			for _, p := range catalogue().endpoints["PUT "+settingsPath].BodyParams {
				sold := soldSetting(s, p)
				for _, x := range trials(p) {
					if tried++; !triedOn(on, i, tried) {
						continue
					}
					for _, problem := range m.try(x, p, sold) {
						t.Errorf("%s = %s (form: %t): %s", p.Name, encoder{}.encode(x.value), x.text, problem)
					}
				}
			}
		})
	}
}

// triedOn reports whether a value is tried on a platform: all on one, and a part of them on each
// other one. With FORGE_LONG=1 each is tried on all platforms.
func triedOn(on platformOf, platform, value int) bool {
	return on.name == "ultimate" || (platform+value)%7 == 0 || os.Getenv("FORGE_LONG") != ""
}

// inWords returns the server's name of a setting.
func inWords(s *Server, name string) string {
	if !s.neutral {
		return orElse(vocabulary().Settings[name], name)
	}
	return name
}

// meeting is the tested server and its latest settings.
type meeting struct {
	caller
	srv    *Server
	before reply
}

// try sends one value and describes what is wrong with the result.
func (m *meeting) try(x trial, p parameter, sold bool) (problems []string) {
	name := inWords(m.srv, p.Name)
	body := map[string]any{name: x.value}
	if x.shown == true {
		for _, other := range p.Requires {
			body[inWords(m.srv, other)] = companionValue(other)
		}
	}
	var r reply
	if x.text {
		form := url.Values{}
		for key, value := range body {
			form.Set(key, fmt.Sprint(value))
		}
		r = m.send("PUT", settingsPath, form.Encode())
	} else {
		r = m.put(settingsPath, body)
	}
	before, after := m.before, m.get(settingsPath)
	m.before = after
	switch {
	case sold && !x.legal && r.Status == 400:
		if inJSON := strings.NewReplacer("<", `\u003c`, ">", `\u003e`); !strings.Contains(r.Body, inJSON.Replace(name)) {
			problems = append(problems, "the refusal does not name it: "+r.Body)
		}
		if after.Body != before.Body {
			problems = append(problems, "it is refused, and the settings changed")
		}
		return problems
	case sold && !x.legal || r.Status != 200:
		return []string{fmt.Sprintf("status %d %.200s", r.Status, r.Body)}
	case r.Body != after.Body:
		problems = append(problems, "the answer is not what is read later")
	}
	old, now := before.object(m.t), after.object(m.t)
	shown, is := now[name]
	switch {
	case is != sold:
		problems = append(problems, fmt.Sprintf("shown: %t, the platform has it: %t", is, sold))
	case sold && !assert.ObjectsAreEqual(x.shown, shown):
		problems = append(problems, fmt.Sprintf("it shows %s", encoder{}.encode(shown)))
	}
	for _, pair := range aliasesOfTheText() { // both names of a setting show one value
		if other := now[pair[1]]; !assert.ObjectsAreEqual(now[pair[0]], inOldForm(pair[0], other)) {
			problems = append(problems, fmt.Sprintf("%s is %v, and %s is %v", pair[0], now[pair[0]], pair[1], other))
		}
	}
	return append(problems, otherChanges(old, now, body)...)
}

// otherChanges names the settings that differ and were not sent, under either name.
func otherChanges(old, now, sent map[string]any) (problems []string) {
	mayChange := map[string]bool{"updated_at": true}
	for _, pair := range aliasesOfTheText() {
		_, first := sent[pair[0]]
		_, second := sent[pair[1]]
		mayChange[pair[0]], mayChange[pair[1]] = first || second, first || second
	}
	for _, key := range slices.Sorted(maps.Keys(now)) {
		if _, own := sent[key]; !own && !mayChange[key] && !assert.ObjectsAreEqual(old[key], now[key]) {
			problems = append(problems, key+" changed too")
		}
	}
	return problems
}

// companionValue returns a valid value of a setting that another setting requires.
func companionValue(name string) any {
	for _, p := range catalogue().endpoints["PUT "+settingsPath].BodyParams {
		if p.Name == name && p.Type == "integer" {
			return 5
		}
	}
	return "companion"
}

// aliasesOfTheText are the pairs of names for one setting: old and new (Document 3 §2.1, §4.1.1).
func aliasesOfTheText() [][2]string {
	return [][2]string{
		{"admin_notification_email", "abuse_notification_email"},
		{"allow_local_requests_from_hooks_and_services", "allow_local_requests_from_web_hooks_and_services"},
		{"asset_proxy_whitelist", "asset_proxy_allowlist"},
		{"signin_enabled", "password_authentication_enabled_for_web"},
	}
}

// The server accepts its default values: a program may send back the values that it read.
func TestSettingsStartIsLegal(t *testing.T) {
	for _, on := range settingPlatforms() {
		t.Run(on.name, func(t *testing.T) {
			s := New(t, on.options...)
			s.EditSettings(func(d *Document) { d.Set("delete_unconfirmed_users", true) })
			c := newCaller(t, s)
			before := c.get(settingsPath).object(t)
			all := c.put(settingsPath, before)
			require.Equal(t, 200, all.Status, all.Body)
			after := all.object(t)
			delete(before, "updated_at")
			delete(after, "updated_at")
			assert.Equal(t, before, after)
		})
	}
}

// A form has hashes with one key for each value, and no other form of a single value. A decimal is text
// with the terms of the deployed product.
func TestSettingsOfTheResponseOnly(t *testing.T) {
	c := newCaller(t, New(t))
	forced := c.send("PUT", settingsPath, "default_branch_protection_defaults[allow_force_push]=true")
	assert.Equal(t, map[string]any{"allow_force_push": true}, forced.object(t)["default_branch_protection_defaults"])
	weights := c.send("PUT", settingsPath, "repository_storages_weighted[default]=70&repository_storages_weighted[cold]=30")
	assert.Equal(t, map[string]any{"default": 70.0, "cold": 30.0}, weights.object(t)["repository_storages_weighted"])
	assert.Equal(t, 400, c.send("PUT", settingsPath, "repository_storages_weighted[default]=much").Status)
	assert.Equal(t, 400, c.send("PUT", settingsPath, "default_branch_protection_defaults[allowed_to_push][][access_level]=40").Status)
	assert.Equal(t, 400, c.send("PUT", settingsPath, "snippet_size_limit[]=1").Status)
	assert.Equal(t, 400, c.send("PUT", settingsPath, "snippet_size_limit[x]=1").Status)
	assert.Equal(t, 400, c.send("PUT", settingsPath, "snippet_size_limit=1&snippet_size_limit=2").Status)
	words := newCaller(t, New(t)) // the deployed server shows a decimal as text, and accepts this text
	for value, shown := range map[string]string{
		`"1.5"`: `"1.5"`, "1.5": `"1.5"`, `"nan"`: "is invalid", `"inf"`: "is invalid", `"x"`: "is invalid", `""`: "is invalid", `"-1"`: "must be greater than or equal to 0",
	} {
		r := words.put(settingsPath, map[string]json.RawMessage{"polling_interval_multiplier": json.RawMessage(value)})
		assert.Contains(t, r.Body, shown, value)
	}
}
