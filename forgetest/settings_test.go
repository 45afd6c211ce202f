package forgetest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const settingsPath = "/application/settings"

// put sends settings as a JSON body.
func (c caller) put(path string, body any) reply {
	c.t.Helper()
	data, err := json.Marshal(body)
	require.NoError(c.t, err)
	response, err := c.request("PUT", path, "application/json", string(data))
	require.NoError(c.t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(c.t, err)
	return reply{response.StatusCode, response.Header, string(text)}
}

// sample returns a value of a parameter's type, in the form of decoded JSON.
func sample(p parameter) any {
	switch {
	case p.Name == "archive_builds_in_human_readable":
		return "15 days"
	case p.Name == "spam_check_endpoint_url":
		return "grpc://spam.example"
	case len(p.Enum) > 0:
		return p.Enum[0]
	case p.Type == "boolean":
		return true
	case p.Type == "integer" && p.Min != nil:
		return float64(*p.Min + 1)
	case p.Type == "integer":
		return 17.0
	case p.Type == "array<string>":
		return []any{"group"}
	case p.Type == "hash":
		return map[string]any{"key": "value"}
	}
	return "true"
}

// All 127 parameters together, companions included, are read back from either encoding.
func TestSettingsAreStateful(t *testing.T) {
	params := specified(t).endpoints["PUT "+settingsPath].BodyParams
	require.Len(t, params, 127)
	values, form := map[string]any{}, url.Values{}
	for _, p := range params {
		values[p.Name] = sample(p)
		switch v := sample(p).(type) {
		case []any:
			form.Set(p.Name+"[]", fmt.Sprint(v[0]))
		case map[string]any:
			form.Set(p.Name+"[key]", fmt.Sprint(v["key"]))
		default:
			form.Set(p.Name, fmt.Sprint(v))
		}
	}
	s := New(t)
	for name, put := range map[string]func(caller) reply{
		"json":  func(c caller) reply { return c.put(settingsPath, values) },
		"form":  func(c caller) reply { return c.send("PUT", settingsPath, form.Encode()) },
		"query": func(c caller) reply { return c.send("PUT", settingsPath+"?"+form.Encode(), "") },
	} {
		t.Run(name, func(t *testing.T) {
			s := New(t)
			s.EditSettings(func(d *Document) { d.Set("delete_unconfirmed_users", true) }) // one of the settings needs it
			c := newCaller(t, s)
			r := put(c)
			require.Equal(t, 200, r.Status, r.Body)
			assert.Equal(t, r.Body, c.get(settingsPath).Body)
			object := r.object(t)
			for key, want := range values {
				assert.Equal(t, want, object[key], key)
			}
		})
	}
	object := newCaller(t, s).get(settingsPath).object(t)
	keys(t, "ApplicationSettings", "", object)
	assert.InDelta(t, 1, object["id"], 0)
	var types map[string]struct{ Fields []struct{ Name string } }
	parse("catalogue/types.json", &types)
	require.Len(t, types["ApplicationSettings"].Fields, 142)
	for _, f := range types["ApplicationSettings"].Fields {
		assert.Contains(t, object, f.Name)
	}
}

func TestSettingsRules(t *testing.T) {
	s := New(t)
	c := newCaller(t, s)
	for form, body := range map[string]string{
		"antispam_enabled=true":                                       `{"error":"antispam_api_key is missing"}`,
		"shared_runners_enabled=true&shared_runners_text=x":           `{"error":"shared_runners_minutes is missing"}`,
		"enforce_terms=true":                                          `{"error":"terms is missing"}`,
		"require_two_factor_authentication=true":                      `{"error":"two_factor_grace_period is missing"}`,
		"throttle_authenticated_api_enabled=true":                     `{"error":"throttle_authenticated_api_period_in_seconds is missing, throttle_authenticated_api_requests_per_period is missing"}`,
		"unique_ips_limit_enabled=true&unique_ips_limit_per_user=2":   `{"error":"unique_ips_limit_time_window is missing"}`,
		"asciidoc_max_includes=65":                                    `{"message":{"asciidoc_max_includes":["must be less than or equal to 64"]}}`,
		"wiki_page_max_content_bytes=1023":                            `{"message":{"wiki_page_max_content_bytes":["must be greater than or equal to 1024"]}}`,
		"runner_token_expiration_interval=60":                         `{"message":{"runner_token_expiration_interval":["must be greater than or equal to 7200"]}}`,
		"whats_new_variant=none":                                      `{"error":"whats_new_variant does not have a valid value"}`,
		"admin_mode=1":                                                `{"error":"admin_mode is invalid"}`,
		"default_projects_limit=x":                                    `{"error":"default_projects_limit is invalid"}`,
		"valid_runner_registrars[]=group&valid_runner_registrars[]=x": `{"error":"valid_runner_registrars does not have a valid value"}`,
		"unconfirmed_users_delete_after_days=3":                       `{"message":{"unconfirmed_users_delete_after_days":["can only be enabled when delete_unconfirmed_users is enabled"]}}`,
	} {
		r := c.send("PUT", settingsPath, form)
		assert.Equal(t, 400, r.Status, form)
		assert.Equal(t, body, r.Body, form)
	}
	before := c.get(settingsPath).Body
	assert.Equal(t, 0, s.CountApplied("PUT "+settingsPath))
	for _, form := range []string{"", "antispam_enabled=false", "throttle_authenticated_git_http_enabled=true",
		"throttle_unauthenticated_git_http_enabled=true", "no_such_setting=1"} {
		assert.Equal(t, 200, c.send("PUT", settingsPath, form).Status, form)
	}
	assert.NotContains(t, c.get(settingsPath).Body, "no_such_setting")
	assert.NotEqual(t, before, c.get(settingsPath).Body)

	c.put(settingsPath, map[string]any{"after_sign_out_path": "/bye", "valid_runner_registrars": []string{"group"}, "default_projects_limit": 7,
		"default_branch_protection_defaults": map[string]any{"allow_force_push": true}})
	object := c.put(settingsPath, map[string]any{"after_sign_out_path": nil, "valid_runner_registrars": []string{}}).object(t)
	assert.Nil(t, object["after_sign_out_path"])
	assert.Equal(t, []any{}, object["valid_runner_registrars"])
	assert.InDelta(t, 7, object["default_projects_limit"], 0) // a field that is not a documented parameter
	assert.Equal(t, map[string]any{"allow_force_push": true}, object["default_branch_protection_defaults"])
	alias := c.send("PUT", settingsPath, "admin_notification_email=a@example.com&signin_enabled=false").object(t)
	assert.Equal(t, "a@example.com", alias["abuse_notification_email"])
	assert.Equal(t, false, alias["password_authentication_enabled_for_web"])

	assert.Equal(t, 403, c.as(s.AddUser("jane").Token).get(settingsPath).Status)
	assert.Equal(t, 403, c.as(s.AddUser("jane").Token).send("PUT", settingsPath, "admin_mode=true").Status)
	assert.Equal(t, 401, c.as("").get(settingsPath).Status)
	assert.Equal(t, 403, newCaller(t, New(t, WithOffering(Hosted))).get(settingsPath).Status)
	free := newCaller(t, New(t, WithTier(Free))).send("PUT", settingsPath, "allow_all_integrations=true&admin_mode=true").object(t)
	assert.NotContains(t, free, "allow_all_integrations")
	assert.Equal(t, true, free["admin_mode"])
}

func TestSettingsCache(t *testing.T) {
	s := New(t)
	now := noon()
	s.SetClock(func() time.Time { return now })
	s.SetSettingsCacheTTL(time.Minute)
	c := newCaller(t, s)
	shown := func() any { return c.get(settingsPath).object(t)["snippet_size_limit"] }
	assert.InDelta(t, 52428800, shown(), 0)
	assert.InDelta(t, 1, c.send("PUT", settingsPath, "snippet_size_limit=1").object(t)["snippet_size_limit"], 0)
	now = now.Add(30 * time.Second)
	assert.InDelta(t, 2, c.send("PUT", settingsPath, "snippet_size_limit=2").object(t)["snippet_size_limit"], 0)
	assert.InDelta(t, 52428800, shown(), 0)
	now = now.Add(30 * time.Second)
	assert.InDelta(t, 2, shown(), 0)
	s.EditSettings(func(d *Document) { d.Set("snippet_size_limit", 3) })
	assert.InDelta(t, 3, shown(), 0)
}

func TestSettingsInGitLabVocabulary(t *testing.T) {
	c := newCaller(t, New(t, WithGitLabVocabulary()))
	object := c.get(settingsPath).object(t)
	for neutral, word := range vocabulary().Settings {
		assert.NotContains(t, object, neutral)
		assert.Contains(t, object, word)
	}
	assert.Empty(t, slices.DeleteFunc(slices.Collect(func(yield func(string) bool) {
		for key := range object {
			if !yield(key) {
				return
			}
		}
	}), func(key string) bool { return !strings.Contains(key, "<") }))
	changed := c.send("PUT", settingsPath, "akismet_enabled=true&akismet_api_key=k&plantuml_url=http://x&codeintel_enabled=true").object(t)
	assert.Equal(t, true, changed["akismet_enabled"])
	assert.Equal(t, "http://x", changed["plantuml_url"])
	assert.Equal(t, false, changed["sourcegraph_enabled"]) // the neutral name is unknown on this server
	assert.Equal(t, 400, c.send("PUT", settingsPath, "akismet_enabled=true").Status)
	assert.Equal(t, "1,2", fmt.Sprint(c.put(settingsPath, map[string]any{"geo_node_allowed_ips": "1,2"}).object(t)["geo_node_allowed_ips"]))
}
