package forge

import "sync"

// Vocabulary selects the words that a client sends and reads. The documents of the API have neutral
// words in place of the names of products: antispam_enabled is GitLab's akismet_enabled.
// WithVocabulary sets it.
type Vocabulary int

const (
	// GitLab is the words of GitLab, the default.
	GitLab Vocabulary = 0
	// Neutral is the words of the documents, to the letter. What they describe without a name cannot
	// be sent, except in Extra, as an IntegrationSlug or as a CustomIntegration.
	Neutral Vocabulary = 1
)

// wordPair is a word of GitLab, and the documents' word for it; empty if they have only a
// placeholder. Equal words need no pair. Names of settings are in settingTable.
type wordPair struct{ kind, gitlab, neutral string }

// Kinds of words.
const (
	settingWord = "setting"
	slugWord    = "integration" // an IntegrationKind; the documents' label for it is not sent
	entityWord  = "entity_type" // of an audit event
	columnWord  = "column"      // of a file of placeholder reassignments
	mediaWord   = "media type"
	scopeWord   = "scope" // of a token
)

var wordPairs = []wordPair{
	{slugWord, "asana", "task_tracker"},
	{slugWord, "assembla", "project_tracker"},
	{slugWord, "bamboo", "build_server"},
	{slugWord, "bugzilla", "issue_tracker"},
	{slugWord, "buildkite", "pipeline_service"},
	{slugWord, "campfire", "chat_classic"},
	{slugWord, "clickup", "issue_tracker_two_urls_1"},
	{slugWord, "confluence", "wiki_workspace"},
	{slugWord, "custom-issue-tracker", "custom_issue_tracker"},
	{slugWord, "datadog", "monitoring"},
	{slugWord, "diffblue-cover", "test_generation"},
	{slugWord, "discord", "team_chat_a"},
	{slugWord, "drone-ci", "ci_service"},
	{slugWord, "emails-on-push", "emails_on_push"},
	{slugWord, "ewm", "engineering_workflow"},
	{slugWord, "telegram", "team_chat_b"},
	{slugWord, "unify-circuit", "team_chat_c"},
	{slugWord, "webex-teams", "team_chat_d"},
	{slugWord, "youtrack", "issue_tracker_two_urls_2"},
	{entityWord, "Gitlab::Audit::InstanceScope", "Service::Audit::InstanceScope"},
	{columnWord, "GitLab username", "Platform username"},
	{columnWord, "GitLab public email", "Platform public email"},
	{mediaWord, "application/vnd.docker.distribution.manifest.v2+json", ""},
	{scopeWord, "manage_runner", "manage_runners"},
}

// wordTables finds the pairs by kind and word. The documents' words of named ones lead back.
type wordTables struct{ neutral, gitlab map[string]map[string]string }

var words = sync.OnceValue(func() wordTables {
	t := wordTables{map[string]map[string]string{}, map[string]map[string]string{}}
	add := func(p wordPair) {
		if t.neutral[p.kind] == nil {
			t.neutral[p.kind], t.gitlab[p.kind] = map[string]string{}, map[string]string{}
		}
		if t.neutral[p.kind][p.gitlab] = p.neutral; p.neutral != "" {
			t.gitlab[p.kind][p.neutral] = p.gitlab
		}
	}
	for _, p := range wordPairs {
		add(p)
	}
	for i := range settingTable {
		if s := &settingTable[i]; s.neutral != "" || s.isUnnamed {
			add(wordPair{settingWord, s.name, s.neutral})
		}
	}
	return t
})

// wire returns the word that is sent for one of GitLab's. named is false if the documents do not
// name it.
func (v Vocabulary) wire(kind, gitlab string) (word string, named bool) {
	if v == GitLab {
		return gitlab, true
	}
	if neutral, differs := words().neutral[kind][gitlab]; differs {
		return neutral, neutral != ""
	}
	return gitlab, true
}

// gitlab returns GitLab's word for one that a server or a caller has sent.
func (v Vocabulary) gitlab(kind, word string) string {
	if own, differs := words().gitlab[kind][word]; differs && v == Neutral {
		return own
	}
	return word
}

// foreign returns the reason why a caller's word is refused: it is of the other vocabulary. For all
// other words it is "".
func (v Vocabulary) foreign(kind, word string) string {
	if own := words().gitlab[kind][word]; v == GitLab && own != "" {
		return word + " is the documents' name: GitLab calls it " + own
	}
	if own := words().neutral[kind][word]; v == Neutral && own != "" && kind != slugWord {
		return word + " is GitLab's name: the documents call it " + own
	}
	return ""
}

// unnamed returns the error for what the documents leave without a name.
func unnamed(param, byHand string) *ValidationError {
	return &ValidationError{Param: param, Reason: "the documents do not name it: omit WithVocabulary(forge.Neutral), or set it yourself" + byHand}
}
