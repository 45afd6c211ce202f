package forgetest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Both names of a setting show the same value: at the start, after a write of another setting, and
// after a write of either name.
func TestSettingAliases(t *testing.T) {
	samples := map[string][]any{ // by old name: values of it, each with another one in between
		"admin_notification_email":                     {"a@example.com", nil, "b@example.com", ""},
		"allow_local_requests_from_hooks_and_services": {true, false, true},
		"asset_proxy_whitelist":                        {[]any{"a.example"}, []any{}, []any{"b.example", "c.example"}},
		"signin_enabled":                               {"false", "true", "false"},
	}
	for name, options := range map[string][]Option{"neutral": nil, "GitLab": {WithGitLabVocabulary()}, "free": {WithTier(Free)}} {
		t.Run(name, func(t *testing.T) {
			s := New(t, options...)
			c := newCaller(t, s)
			same := func(when string) {
				t.Helper()
				object := c.get(settingsPath).object(t)
				for _, pair := range aliasesOfTheText() {
					require.Contains(t, object, pair[0])
					require.Contains(t, object, pair[1])
					assert.Equal(t, object[pair[0]], inOldForm(pair[0], object[pair[1]]), "%s: %s", when, pair[0])
				}
			}
			same("start")
			assert.Equal(t, "true", c.get(settingsPath).object(t)["signin_enabled"])
			c.put(settingsPath, map[string]any{"admin_mode": true})
			same("after an unrelated write")
			for _, pair := range aliasesOfTheText() {
				for _, value := range samples[pair[0]] {
					for _, as := range pair {
						sent := value
						if as == pair[1] {
							sent = inNewForm(pair[0], value)
						}
						r := c.put(settingsPath, map[string]any{as: sent})
						require.Equal(t, 200, r.Status, r.Body)
						assert.Equal(t, sent, r.object(t)[as], as)
						same(fmt.Sprint(as, " = ", sent))
						c.put(settingsPath, map[string]any{"admin_mode": false})
						same("after an unrelated write")
					}
				}
			}
		})
	}
}

func inOldForm(old string, value any) any {
	if on, isBool := value.(bool); isBool && old == "signin_enabled" {
		return fmt.Sprint(on)
	}
	return value
}

func inNewForm(old string, value any) any {
	if old == "signin_enabled" {
		return value == "true"
	}
	return value
}

// Two different values for one setting are rejected; two equal values are accepted.
func TestSettingAliasesTogether(t *testing.T) {
	for _, s := range []*Server{New(t), New(t, WithGitLabVocabulary())} {
		c := newCaller(t, s)
		for _, tc := range []struct {
			old, name, value, other string
			status                  int
		}{
			{"admin_notification_email", "abuse_notification_email", `"a@x"`, `"b@x"`, 400},
			{"admin_notification_email", "abuse_notification_email", `"a@x"`, `"a@x"`, 200},
			{"admin_notification_email", "abuse_notification_email", `null`, `"a@x"`, 400},
			{"admin_notification_email", "abuse_notification_email", `null`, `null`, 200},
			{"allow_local_requests_from_hooks_and_services", "allow_local_requests_from_web_hooks_and_services", `true`, `false`, 400},
			{"allow_local_requests_from_hooks_and_services", "allow_local_requests_from_web_hooks_and_services", `true`, `true`, 200},
			{"asset_proxy_whitelist", "asset_proxy_allowlist", `["a"]`, `["b"]`, 400},
			{"asset_proxy_whitelist", "asset_proxy_allowlist", `["a"]`, `["a"]`, 200},
			{"signin_enabled", "password_authentication_enabled_for_web", `"false"`, `true`, 400},
			{"signin_enabled", "password_authentication_enabled_for_web", `"false"`, `false`, 200},
			{"signin_enabled", "password_authentication_enabled_for_web", `"maybe"`, `false`, 400},
		} {
			before := c.get(settingsPath).Body
			r := c.put(settingsPath, map[string]json.RawMessage{tc.old: json.RawMessage(tc.value), tc.name: json.RawMessage(tc.other), "admin_mode": json.RawMessage("true")})
			assert.Equal(t, tc.status, r.Status, "%s = %s, %s = %s", tc.old, tc.value, tc.name, tc.other)
			if tc.status == 400 {
				assert.Equal(t, before, c.get(settingsPath).Body)
				assert.Contains(t, r.Body, tc.old)
			}
			c.put(settingsPath, map[string]any{"admin_mode": false})
		}
	}
	r := newCaller(t, New(t)).put(settingsPath, map[string]any{"admin_notification_email": "a@x", "abuse_notification_email": "b@x"})
	assert.JSONEq(t, `{"error":"admin_notification_email, abuse_notification_email are mutually exclusive"}`, r.Body)
	r = newCaller(t, New(t)).put(settingsPath, map[string]any{"signin_enabled": "maybe"})
	assert.JSONEq(t, `{"error":"signin_enabled does not have a valid value"}`, r.Body)
}

// EditSettings sets both names of a setting too.
func TestSettingAliasesOfFillSettings(t *testing.T) {
	s := New(t)
	c := newCaller(t, s)
	s.EditSettings(func(d *Document) { d.Set("signin_enabled", "false").Set("abuse_notification_email", "a@x") })
	object := c.get(settingsPath).object(t)
	assert.Equal(t, false, object["password_authentication_enabled_for_web"])
	assert.Equal(t, "a@x", object["admin_notification_email"])
	s.EditSettings(func(d *Document) {
		d.Set("password_authentication_enabled_for_web", true).Set("asset_proxy_whitelist", []string{"a.example"})
	})
	object = c.get(settingsPath).object(t)
	assert.Equal(t, "true", object["signin_enabled"])
	assert.Equal(t, []any{"a.example"}, object["asset_proxy_allowlist"])
}

// The pairs are those of the catalogue: settings that one other setting replaces. Exceptions are
// the repacking periods, of which one replaces three, and the families of rate limits, of which two
// replace one.
func TestSettingAliasesMatchCatalogue(t *testing.T) {
	found := map[string]string{"asset_proxy_whitelist": "asset_proxy_allowlist"} // a name in responses only (Document 3 §2.1)
	for _, p := range specified(t).endpoints["PUT "+settingsPath].BodyParams {
		if p.Deprecated != nil && p.Deprecated.Use != "" && !strings.HasPrefix(p.Name, "housekeeping_") && !strings.Contains(p.Deprecated.Use, " ") {
			found[p.Name] = p.Deprecated.Use
		}
	}
	assert.Equal(t, found, settingAliases())
	assert.Len(t, aliasesOfTheText(), len(found))
}

// To enable a setting, exactly those companions are required that the platform has.
func TestSettingCompanions(t *testing.T) {
	params := specified(t).endpoints["PUT "+settingsPath].BodyParams
	rules := map[string][]string{"enforce_terms": {"terms"}, "require_two_factor_authentication": {"two_factor_grace_period"}}
	for _, p := range params {
		if len(p.Requires) > 0 {
			rules[p.Name] = p.Requires
		}
		if p.RequiredWhen != "" && !slices.Contains(rules[p.RequiredWhen], p.Name) {
			t.Errorf("%s needs %s, which the list of the other does not have", p.RequiredWhen, p.Name)
		}
	}
	require.Len(t, rules, 16)
	limited := 0
	for _, on := range settingPlatforms() {
		s := New(t, on.options...)
		c := newCaller(t, s)
		for rule, companions := range rules {
			all := map[string]any{inWords(s, rule): true}
			var needed []string
			for _, p := range params {
				if slices.Contains(companions, p.Name) && soldSetting(s, p) {
					all[inWords(s, p.Name)] = companionValue(p.Name)
					needed = append(needed, inWords(s, p.Name))
				}
			}
			limited += len(companions) - len(needed)
			r := c.put(settingsPath, all)
			require.Equal(t, 200, r.Status, "%s: %s: %s", on.name, rule, r.Body)
			for _, without := range needed {
				for name, value := range map[string]any{"left out": nil, "null": nil, "blank": ""} {
					less := map[string]any{}
					for key, v := range all {
						less[key] = v
					}
					if less[without] = value; name == "left out" {
						delete(less, without)
					}
					r := c.put(settingsPath, less)
					if name == "blank" && (without == "shared_runners_text" || without == "email_restrictions") {
						assert.Equal(t, 200, r.Status, "%s: %s is given, and blank", on.name, without)
						continue
					}
					assert.Equal(t, 400, r.Status, "%s: %s with %s %s", on.name, rule, without, name)
					assert.Contains(t, r.Body, without)
				}
			}
			assert.Equal(t, 200, c.put(settingsPath, map[string]any{inWords(s, rule): false}).Status)
		}
	}
	assert.Positive(t, limited, "no platform lacks a companion: the rule is not tested")
	hosted := newCaller(t, New(t, WithOffering(Hosted)))
	assert.Equal(t, 403, hosted.put(settingsPath, map[string]any{"shared_runners_enabled": true}).Status)
	free := newCaller(t, New(t, WithTier(Free))).put(settingsPath, map[string]any{"shared_runners_enabled": true, "shared_runners_text": "x", "shared_runners_minutes": 5})
	require.Equal(t, 200, free.Status, free.Body)
	assert.NotContains(t, free.Body, "shared_runners_minutes")
}

// The rules of the contract require only settings that the same platform has, except for the rule
// in the tests above.
func TestRulesAcrossPlatforms(t *testing.T) {
	var found []string
	look := func(where string, params []parameter) {
		only := map[string]*availability{}
		for _, p := range params {
			only[p.Name] = p.Only
		}
		for _, p := range params {
			others := slices.Concat(p.Requires, p.UsedWith)
			for name := range p.Needs {
				others = append(others, name)
			}
			for _, other := range others {
				if limit := only[other]; limit != nil && !assert.ObjectsAreEqual(limit, p.Only) {
					found = append(found, where+" "+p.Name+" "+other)
				}
			}
			if limit := p.Only; p.RequiredWhen != "" && limit != nil && !assert.ObjectsAreEqual(limit, only[p.RequiredWhen]) {
				found = append(found, where+" "+p.RequiredWhen+" "+p.Name)
			}
		}
	}
	for _, e := range specified(t).endpoints {
		look(e.ID, slices.Concat(e.QueryParams, e.BodyParams))
		for _, k := range e.Kinds {
			look(e.ID+" "+k.ID, k.Params)
		}
	}
	slices.Sort(found)
	assert.Equal(t, []string{"settings.update shared_runners_enabled shared_runners_minutes"}, slices.Compact(found))
}
