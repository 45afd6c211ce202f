package forge

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go/internal/catalogue"
)

// madeUp has its own words for names that the contract omits, and for one neutral word of each
// kind.
const madeUp Vocabulary = `
setting antispam_enabled = junkguard_enabled
setting plantuml_enabled = sketcher_enabled
setting kroki_url = painter_url
slug task_tracker = chores
slug build_server = mill
slug emails_on_push = letters
build_server <ci>_url = mill_url
entity Service::Audit::InstanceScope = Madeup::Everything
column Platform username = login
media application/vnd.<vendor>.distribution.manifest.v2+json = application/vnd.madeup.manifest
`

// speaking returns the client of serve with a vocabulary.
func speaking(t *testing.T, v Vocabulary, exchanges ...exchange) *Client {
	t.Helper()
	c, err := serve(t, exchanges...).With(WithVocabulary(v))
	require.NoError(t, err)
	return c
}

// The vocabulary GitLab has exactly the words of the deployed product.
func TestGitLab(t *testing.T) {
	facts := map[string]string{ // kind and neutral word, as a deployed server has them
		"slug task_tracker": "asana", "slug project_tracker": "assembla", "slug build_server": "bamboo", "slug issue_tracker": "bugzilla", "slug pipeline_service": "buildkite",
		"slug chat_classic": "campfire", "slug issue_tracker_two_urls_1": "clickup", "slug wiki_workspace": "confluence", "slug custom_issue_tracker": "custom-issue-tracker", "slug monitoring": "datadog",
		"slug test_generation": "diffblue-cover", "slug team_chat_a": "discord", "slug ci_service": "drone-ci", "slug emails_on_push": "emails-on-push", "slug engineering_workflow": "ewm",
		"slug team_chat_b": "telegram", "slug team_chat_c": "unify-circuit", "slug team_chat_d": "webex-teams", "slug issue_tracker_two_urls_2": "youtrack",
		"build_server <ci>_url": "bamboo_url", "wiki_workspace <wiki>_url": "confluence_url", "monitoring <mon>_env": "datadog_env", "monitoring <mon>_service": "datadog_service",
		"monitoring <mon>_site": "datadog_site", "monitoring <mon>_tags": "datadog_tags", "monitoring <mon>_ci_visibility": "datadog_ci_visibility",
		"test_generation <tool>_license_key": "diffblue_license_key", "test_generation <tool>_access_token_name": "diffblue_access_token_name",
		"test_generation <tool>_access_token_secret": "diffblue_access_token_secret", "ci_service <ci>_url": "drone_url",
		"entity Service::Audit::InstanceScope": "Gitlab::Audit::InstanceScope", "column Platform username": "GitLab username", "column Platform public email": "GitLab public email",
		"media application/vnd.<vendor>.distribution.manifest.v2+json": "application/vnd.docker.distribution.manifest.v2+json", "scope manage_runners": "manage_runner",
		"default config_file": ".gitlab/changelog_config.yml",
	}
	for name, word := range catalogue.SettingWords() {
		if strings.HasPrefix(name, "<") {
			name = word
		}
		facts["setting "+name] = word
	}
	c, err := NewClient("https://forge.example.com", WithVocabulary(GitLab))
	require.NoError(t, err)
	for fact, want := range facts {
		kind, neutral, _ := strings.Cut(fact, " ")
		word, known := c.core.config.vocabulary.word(kind, neutral)
		assert.True(t, known && word == want, "%s: %s", fact, word)
		back, known := c.core.config.vocabulary.neutral(kind, want)
		assert.True(t, known && back == neutral, "%s: back %s", fact, back)
		word, known = GitLab.WireName(kind, neutral)
		assert.True(t, known && word == want, fact)
		back, known = GitLab.NeutralName(kind, want)
		assert.True(t, known && back == neutral, fact)
	}
	assert.Len(t, c.core.config.vocabulary.byNeutral, len(facts), "words that are not in the facts")
	for _, kind := range []string{settingWord, "cars"} {
		_, known := c.core.config.vocabulary.word(kind, "signup_enabled")
		assert.False(t, known)
		_, known = GitLab.WireName(kind, "signup_enabled")
		assert.False(t, known)
		_, known = GitLab.NeutralName(kind, "signup_enabled")
		assert.False(t, known)
	}
}

func TestWithVocabulary(t *testing.T) {
	for text, reason := range map[Vocabulary]string{
		"setting":                        "must have the form",
		"setting a":                      "must have the form",
		"setting a =":                    "must have the form",
		"setting a=b":                    "must have the form",
		"settings a = b":                 "no such kind",
		"setting a = b\nsetting a = c":   "earlier line",
		"setting a = b\nsetting c = b":   "earlier line",
		"\n\nslug x = y\nplanet <a> = b": "planet <a> = b: there is no such kind",
	} {
		_, err := NewClient("https://forge.example.com", WithVocabulary(text))
		var invalid *ValidationError
		require.ErrorAs(t, err, &invalid, string(text))
		assert.Equal(t, "WithVocabulary", invalid.Option)
		assert.Contains(t, invalid.Reason, reason)
	}
	// The same word may have two meanings in two kinds, and spaces do not matter.
	c, err := NewClient("https://forge.example.com", WithVocabulary("  setting   a = b \r\n\n\tslug a = b\nbuild_server a = b"))
	require.NoError(t, err)
	for _, kind := range []string{settingWord, slugWord, "build_server"} {
		word, known := c.core.config.vocabulary.word(kind, "a")
		assert.True(t, known && word == "b", kind)
	}
	plain, err := c.With(WithVocabulary(""))
	require.NoError(t, err)
	_, known := plain.core.config.vocabulary.word(settingWord, "a")
	assert.False(t, known)
	_, known = plain.core.config.vocabulary.neutral(settingWord, "b")
	assert.False(t, known)
	inherited, err := c.With(WithoutCredential())
	require.NoError(t, err)
	_, known = inherited.core.config.vocabulary.word(settingWord, "a")
	assert.True(t, known)
}

// Renaming changes only the names. Values that are not objects, and invalid JSON, are passed to the
// decoder unchanged.
func TestTranslate(t *testing.T) {
	c, err := NewClient("https://forge.example.com", WithVocabulary(madeUp))
	require.NoError(t, err)
	plain, err := NewClient("https://forge.example.com")
	require.NoError(t, err)
	for _, test := range []struct{ client, kind, text, want string }{
		{"spoken", settingWord, `{"junkguard_enabled" : true, "x":{"junkguard_enabled":1},"antispam_enabled":null }`, `{"antispam_enabled":true,"x":{"junkguard_enabled":1},"antispam_enabled":null}`},
		{"spoken", settingWord, `{"sketcher_\u0065nabled":[ 1 , "ü\u00fc" ]}`, `{"plantuml_enabled":[ 1 , "ü\u00fc" ]}`},
		{"spoken", settingWord, `{"mill_url":1,"akismet_enabled":2}`, `{"mill_url":1,"akismet_enabled":2}`},
		{"spoken", "build_server", `{"mill_url":1,"properties":{"mill_url":"u","a":1},"other":{"mill_url":2}}`, `{"<ci>_url":1,"properties":{"<ci>_url":"u","a":1},"other":{"mill_url":2}}`},
		{"spoken", "build_server", `{"properties":null}`, `{"properties":null}`},
		{"spoken", settingWord, ` { } `, `{}`},
		{"spoken", settingWord, `[{"junkguard_enabled":1}]`, `[{"junkguard_enabled":1}]`},
		{"spoken", settingWord, `{"junkguard_enabled":1`, `{"junkguard_enabled":1`},
		{"spoken", settingWord, `{"junkguard_enabled":}`, `{"junkguard_enabled":}`},
		{"spoken", settingWord, `{"junkguard_enabled":1} x`, `{"junkguard_enabled":1} x`},
		{"plain", settingWord, `{"junkguard_enabled":1,"plantuml_enabled":true,"antispam_enabled":true}`, `{"junkguard_enabled":1,"plantuml_enabled":true,"antispam_enabled":true}`},
		{"plain", "build_server", `{"akismet_enabled":1,"properties":{"bamboo_url":"u"}}`, `{"akismet_enabled":1,"properties":{"bamboo_url":"u"}}`},
	} {
		client := map[string]*Client{"spoken": c, "plain": plain}[test.client]
		got, err := renamer{words: client.core.config.vocabulary, kind: test.kind, inner: "properties"}.translate([]byte(test.text))
		require.NoError(t, err)
		assert.Equal(t, test.want, string(got))
	}
	_, err = renamer{words: plain.core.config.vocabulary, kind: settingWord}.translate([]byte(`{"id":1,"geo_status_timeout":10}`))
	assert.ErrorContains(t, err, "(geo_status_timeout for replica_status_timeout)")
}

// A response with a word of GitLab is an error that names the option, for each word that differs
// from the neutral one.
func TestVocabularyIsMissing(t *testing.T) {
	asked := 0
	answer := ""
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(answer))
	}))
	defer srv.Close()
	c, err := NewClient(srv.URL)
	require.NoError(t, err)
	spoken, err := c.With(WithVocabulary(GitLab))
	require.NoError(t, err)
	words := 0
	for e := range GitLab.entries() {
		if e.kind != settingWord || slices.Contains(catalogue.UnnamedSettings(), e.neutral) {
			continue
		}
		words++
		answer = `{"id":1,"` + e.word + `":null}`
		for _, call := range []func(*Client) error{
			func(c *Client) error { _, err := c.Settings.Get(t.Context()); return err },
			func(c *Client) error { _, err := c.Settings.Update(t.Context(), nil); return err },
			func(c *Client) error {
				_, err := c.Settings.Apply(t.Context(), (&UpdateSettingsOptions{AdminMode: new(true)}).Diff())
				return err
			},
			func(c *Client) error { _, err := c.Settings.Verify(t.Context(), nil); return err },
		} {
			err := call(c)
			require.ErrorIs(t, err, ErrInvalidResponse, e.word)
			assert.ErrorContains(t, err, "WithVocabulary(forge.GitLab)")
			require.NoError(t, call(spoken), e.word)
		}
	}
	assert.Equal(t, 24, words)
	none, err := spoken.With(WithVocabulary(""))
	require.NoError(t, err)
	_, err = none.Settings.Get(t.Context())
	require.ErrorIs(t, err, ErrInvalidResponse, "the empty vocabulary means none")
	_, err = c.Settings.Update(t.Context(), &UpdateSettingsOptions{AdminMode: new(true)})
	var failed *Error
	require.ErrorAs(t, err, &failed)
	assert.True(t, failed.MaybeApplied, "a setting with the same name in both was applied")
	assert.Equal(t, 1, failed.Attempts)
}
