package forge

import (
	"iter"
	"strings"

	"github.com/forge-sdk/forge-go/internal/safetext"
)

// Vocabulary maps the contract's neutral words to the words of a deployed product, in lines of this
// form:
//
//	kind neutral-word = product-word
//
// The kinds are setting, slug, entity, column, media, scope and default, and for the parameters of
// an integration its IntegrationKind. Words of the kinds scope and default are not sent. Blank
// lines are skipped. GitLab is built in; WithVocabulary sets the vocabulary of a client. A
// vocabulary is a constant, so that no one can change it.
type Vocabulary string

// GitLab is the vocabulary of GitLab servers.
const GitLab Vocabulary = `
setting antispam_enabled = akismet_enabled
setting antispam_api_key = akismet_api_key
setting jobqueue_job_limiter_mode = sidekiq_job_limiter_mode
setting jobqueue_job_limiter_compression_threshold_bytes = sidekiq_job_limiter_compression_threshold_bytes
setting jobqueue_job_limiter_limit_bytes = sidekiq_job_limiter_limit_bytes
setting chatapp_enabled = slack_app_enabled
setting chatapp_id = slack_app_id
setting chatapp_secret = slack_app_secret
setting chatapp_signing_secret = slack_app_signing_secret
setting chatapp_verification_token = slack_app_verification_token
setting tracker_enabled = snowplow_enabled
setting tracker_app_id = snowplow_app_id
setting tracker_collector_hostname = snowplow_collector_hostname
setting tracker_database_collector_hostname = snowplow_database_collector_hostname
setting tracker_cookie_domain = snowplow_cookie_domain
setting codeintel_enabled = sourcegraph_enabled
setting codeintel_public_only = sourcegraph_public_only
setting codeintel_url = sourcegraph_url
setting assistant_features_enabled = duo_features_enabled
setting lock_assistant_features_enabled = lock_duo_features_enabled
setting replica_node_allowed_ips = geo_node_allowed_ips
setting replica_status_timeout = geo_status_timeout
setting editor_extension_marketplace = vscode_extension_marketplace
setting use_analytics_store_for_analytics = use_clickhouse_for_analytics

setting plantuml_enabled = plantuml_enabled
setting plantuml_url = plantuml_url
setting diagramsnet_enabled = diagramsnet_enabled
setting diagramsnet_url = diagramsnet_url
setting kroki_enabled = kroki_enabled
setting kroki_url = kroki_url
setting jira_connect_application_key = jira_connect_application_key
setting jira_connect_public_key_storage_enabled = jira_connect_public_key_storage_enabled
setting jira_connect_proxy_url = jira_connect_proxy_url
setting jira_connect_additional_audience_url = jira_connect_additional_audience_url

slug task_tracker = asana
slug project_tracker = assembla
slug build_server = bamboo
slug issue_tracker = bugzilla
slug pipeline_service = buildkite
slug chat_classic = campfire
slug issue_tracker_two_urls_1 = clickup
slug wiki_workspace = confluence
slug custom_issue_tracker = custom-issue-tracker
slug monitoring = datadog
slug test_generation = diffblue-cover
slug team_chat_a = discord
slug ci_service = drone-ci
slug emails_on_push = emails-on-push
slug engineering_workflow = ewm
slug team_chat_b = telegram
slug team_chat_c = unify-circuit
slug team_chat_d = webex-teams
slug issue_tracker_two_urls_2 = youtrack

build_server <ci>_url = bamboo_url
wiki_workspace <wiki>_url = confluence_url
monitoring <mon>_env = datadog_env
monitoring <mon>_service = datadog_service
monitoring <mon>_site = datadog_site
monitoring <mon>_tags = datadog_tags
monitoring <mon>_ci_visibility = datadog_ci_visibility
test_generation <tool>_license_key = diffblue_license_key
test_generation <tool>_access_token_name = diffblue_access_token_name
test_generation <tool>_access_token_secret = diffblue_access_token_secret
ci_service <ci>_url = drone_url

entity Service::Audit::InstanceScope = Gitlab::Audit::InstanceScope
column Platform username = GitLab username
column Platform public email = GitLab public email
media application/vnd.<vendor>.distribution.manifest.v2+json = application/vnd.docker.distribution.manifest.v2+json
scope manage_runners = manage_runner
default config_file = .gitlab/changelog_config.yml
`

// Kinds of words. The kind of an integration's parameters is its IntegrationKind.
const (
	settingWord = "setting" // name of an application setting
	slugWord    = "slug"    // path segment of an integration, by its IntegrationKind
	entityWord  = "entity"  // entity type of an audit event
	columnWord  = "column"  // column of the CSV file of placeholder reassignments
	mediaWord   = "media"   // media type
	scopeWord   = "scope"   // scope of a token
	defaultWord = "default" // the server's default for an omitted parameter
)

// WireName returns the product's word for a neutral one: GitLab.WireName("scope",
// "manage_runners"). known is false if v has no word for it.
func (v Vocabulary) WireName(kind, neutral string) (word string, known bool) {
	for e := range v.entries() {
		if e.kind == kind && e.neutral == neutral {
			return e.word, true
		}
	}
	return "", false
}

// NeutralName returns the contract's word for one of the product's. known is false if v does not
// contain the word.
func (v Vocabulary) NeutralName(kind, word string) (neutral string, known bool) {
	for e := range v.entries() {
		if e.kind == kind && e.word == word {
			return e.neutral, true
		}
	}
	return "", false
}

// entry is a line of a vocabulary.
type entry struct{ kind, neutral, word string }

func (v Vocabulary) entries() iter.Seq[entry] {
	return func(yield func(entry) bool) {
		for line := range strings.Lines(string(v)) {
			kind, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
			neutral, word, _ := strings.Cut(rest, " = ")
			e := entry{kind, strings.TrimSpace(neutral), strings.TrimSpace(word)}
			if e != (entry{}) && !yield(e) {
				return
			}
		}
	}
}

// words is a parsed vocabulary. It is immutable; nil has no words.
type words struct {
	byNeutral map[term]string // the product's words
	byWord    map[term]string // the neutral ones
}

// term is a word with its kind.
type term struct{ kind, text string }

// parse parses a vocabulary. It rejects every doubtful line: a write with a wrong word would have
// no effect. isIntegration reports whether a kind of word is an IntegrationKind.
func (v Vocabulary) parse(isIntegration func(kind string) bool) (*words, error) {
	if v == "" {
		return nil, nil
	}
	w := &words{byNeutral: map[term]string{}, byWord: map[term]string{}}
	for e := range v.entries() {
		neutral, word := term{e.kind, e.neutral}, term{e.kind, e.word}
		reason := ""
		switch {
		case e.neutral == "" || e.word == "":
			reason = "it must have the form: kind neutral-word = product-word"
		case !isKindOfWord(e.kind) && !isIntegration(e.kind):
			reason = "there is no such kind of word"
		case w.byNeutral[neutral] != "" || w.byWord[word] != "":
			reason = "one of its words is in an earlier line"
		}
		if reason != "" {
			return nil, &ValidationError{Option: "WithVocabulary", Reason: "the line " + safetext.Clean(strings.Join([]string{e.kind, e.neutral, "=", e.word}, " "), 256) + ": " + reason}
		}
		w.byNeutral[neutral], w.byWord[word] = e.word, e.neutral
	}
	return w, nil
}

func isKindOfWord(kind string) bool {
	switch kind {
	case settingWord, slugWord, entityWord, columnWord, mediaWord, scopeWord, defaultWord:
		return true
	}
	return false
}

// word returns the product's word for a neutral one.
func (w *words) word(kind, neutral string) (word string, known bool) {
	if w == nil {
		return "", false
	}
	word, known = w.byNeutral[term{kind, neutral}]
	return word, known
}

// neutral returns the contract's word for one of the product's.
func (w *words) neutral(kind, word string) (neutral string, known bool) {
	if w == nil {
		return "", false
	}
	neutral, known = w.byWord[term{kind, word}]
	return neutral, known
}

// unnamed returns the error for a parameter that the contract does not name, and for which the
// client has no word.
func unnamed(param, byHand string) *ValidationError {
	return &ValidationError{Param: param, Reason: "the contract does not name it: use WithVocabulary(forge.GitLab), or set it yourself" + byHand}
}
