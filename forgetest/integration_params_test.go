package forgetest

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// integrationText has the parameters of §4.2.1 and §4.2.2, as the document has them: after the name
// come ! for a required one, and b for a boolean, n for an integer, e for branches_to_be_notified;
// the others are texts.
const integrationText = `
task_tracker: api_key! restrict_to_branch
project_tracker: token! subdomain
build_server: <ci>_url! enable_ssl_verification:b build_key! username! password!
issue_tracker: new_issue_url! issues_url! project_url!
pipeline_service: token! project_url! enable_ssl_verification:b push_events:b merge_requests_events:b tag_push_events:b
chat_classic: token! subdomain room
issue_tracker_two_urls_1: issues_url! project_url!
wiki_workspace: <wiki>_url!
custom_issue_tracker: new_issue_url! issues_url! project_url!
monitoring: api_key! api_url <mon>_env <mon>_service <mon>_site <mon>_tags archive_trace_events:b
test_generation: <tool>_license_key! <tool>_access_token_name! <tool>_access_token_secret!
team_chat_a: webhook! branches_to_be_notified:e notify_only_broken_pipelines:b
 confidential_issues_events:b confidential_issue_channel confidential_note_events:b confidential_note_channel
 deployment_events:b deployment_channel group_confidential_mentions_events:b group_confidential_mentions_channel
 group_mentions_events:b group_mentions_channel issues_events:b issue_channel merge_requests_events:b merge_request_channel
 note_events:b note_channel pipeline_events:b pipeline_channel push_events:b push_channel tag_push_events:b tag_push_channel
 wiki_page_events:b wiki_page_channel
ci_service: token! <ci>_url! enable_ssl_verification:b push_events:b merge_requests_events:b tag_push_events:b
emails_on_push: recipients! disable_diffs:b send_from_committer_email:b push_events:b tag_push_events:b branches_to_be_notified:e
engineering_workflow: new_issue_url! project_url! issues_url!
team_chat_b: hostname token! room! thread:n notify_only_broken_pipelines:b branches_to_be_notified:e push_events!:b issues_events!:b
 confidential_issues_events!:b merge_requests_events!:b tag_push_events!:b note_events!:b confidential_note_events!:b
 pipeline_events!:b wiki_page_events!:b
team_chat_c: webhook! notify_only_broken_pipelines:b branches_to_be_notified:e push_events:b issues_events:b
 confidential_issues_events:b merge_requests_events:b tag_push_events:b note_events:b confidential_note_events:b
 pipeline_events:b wiki_page_events:b
team_chat_d: webhook! notify_only_broken_pipelines:b branches_to_be_notified:e push_events:b issues_events:b
 confidential_issues_events:b merge_requests_events:b tag_push_events:b note_events:b confidential_note_events:b
 pipeline_events:b wiki_page_events:b
issue_tracker_two_urls_2: issues_url! project_url!`

// summaryFlags are the event flags of the list (§2.2): the others are among the properties.
const summaryFlags = `commit_events push_events issues_events alert_events confidential_issues_events merge_requests_events tag_push_events
	deployment_events note_events confidential_note_events pipeline_events wiki_page_events job_events vulnerability_events`

type documentedKind struct {
	id     string
	params []documentedParam
}

type documentedParam struct {
	name     string
	required bool
	kind     string // of integrationText
}

// documentedIntegrations are the kinds of the document; each has use_inherited_settings too.
func documentedIntegrations() (kinds []documentedKind) {
	for line := range strings.SplitSeq(strings.ReplaceAll(strings.TrimSpace(integrationText), "\n ", " "), "\n") {
		id, params, _ := strings.Cut(line, ": ")
		kind := documentedKind{id: id, params: []documentedParam{{name: inheritance, kind: "b"}}}
		for _, param := range strings.Fields(params) {
			name, is, _ := strings.Cut(param, ":")
			bare, required := strings.CutSuffix(name, "!")
			kind.params = append(kind.params, documentedParam{bare, required, is})
		}
		kinds = append(kinds, kind)
	}
	return kinds
}

// slug is the path segment of a kind on a server.
func (k documentedKind) slug(s *Server) string {
	if s.gitlab {
		return words().Integrations[k.id]["slug"]
	}
	named := map[string]string{"custom_issue_tracker": "custom-issue-tracker", "emails_on_push": "emails-on-push", "engineering_workflow": "ewm"}
	return orElse(named[k.id], k.id)
}

// wire is what a server calls a parameter.
func (p documentedParam) wire(s *Server, k documentedKind) string {
	if s.gitlab {
		return orElse(words().Integrations[k.id][p.name], p.name)
	}
	return p.name
}

// values are the documented ones, or samples, as JSON decodes them.
func (p documentedParam) values() []any {
	switch p.kind {
	case "b":
		return []any{true, false}
	case "n":
		return []any{12.0, 7.0}
	case "e":
		return []any{"all", "default", "protected", "default_and_protected"}
	}
	return []any{"seen " + p.name, "changed " + p.name}
}

// hidden reports whether answers leave a value out: a secret, or an address that is one.
func (p documentedParam) hidden() bool {
	secrets := "token password api_key webhook <tool>_license_key <tool>_access_token_secret"
	return slices.Contains(strings.Fields(secrets), p.name) || strings.HasSuffix(p.name, "_channel")
}

// Every documented parameter of every kind is kept with each of its values and shown, from JSON and
// from a form, with the group's id and its path.
func TestIntegrationParameters(t *testing.T) {
	require.Len(t, documentedIntegrations(), 19)
	for name, options := range map[string][]Option{"neutral": nil, "GitLab": {GitLabWords()}} {
		t.Run(name, func(t *testing.T) {
			s := New(t, options...)
			g := s.AddGroup("top").srv.AddGroup("top/group")
			c := newCaller(t, s)
			for _, kind := range documentedIntegrations() {
				for i := range 4 {
					body, form := map[string]any{}, url.Values{}
					for _, p := range kind.params {
						value := p.values()[i%len(p.values())]
						body[p.wire(s, kind)] = value
						form.Set(p.wire(s, kind), fmt.Sprint(value))
					}
					at := fmt.Sprintf("/groups/%d/integrations/%s", g.ID, kind.slug(s))
					path := "/groups/top%2Fgroup/integrations/" + kind.slug(s)
					if i%2 == 1 {
						at, path = path, at
					}
					holdsIntegration(t, s, g, kind, body, c.put(at, body), c.get(path))
					holdsIntegration(t, s, g, kind, body, c.send("PUT", path, form.Encode()), c.get(at))
				}
			}
			byID := c.get(fmt.Sprintf("/groups/%d/integrations?per_page=100", g.ID))
			assert.Len(t, byID.array(t), 19)
			assert.Equal(t, byID.Body, c.get("/groups/top%2Fgroup/integrations?per_page=100").Body)
			for i, kind := range documentedIntegrations() {
				at := []string{fmt.Sprint("/groups/", g.ID), "/groups/top%2Fgroup"}[i%2] + "/integrations/" + kind.slug(s)
				assert.Equal(t, 204, c.send("DELETE", at, "").Status)
				assert.Nil(t, g.Integration(kind.slug(s)), kind.id)
			}
			assert.Equal(t, 404, c.get(fmt.Sprint("/groups/", g.ID+1, "/integrations")).Status)
		})
	}
}

// holdsIntegration compares what a group has of an integration, and what is shown, with what was
// sent.
func holdsIntegration(t *testing.T, s *Server, g *Group, kind documentedKind, sent map[string]any, answers ...reply) {
	t.Helper()
	kept := g.Integration(kind.slug(s))
	for _, r := range answers {
		require.Equal(t, 200, r.Status, "%s: %s", kind.id, r.Body)
		object := r.object(t)
		properties := object["properties"].(map[string]any)
		for _, p := range kind.params {
			name := p.wire(s, kind)
			want := sent[name]
			assert.EqualValues(t, want, kept[name], "%s.%s is lost", kind.id, p.name)
			shown, is := properties[name]
			switch {
			case p.name == inheritance:
				assert.Equal(t, want, object["inherited"], kind.id)
			case slices.Contains(strings.Fields(summaryFlags), p.name):
				assert.Equal(t, want, object[p.name], "%s.%s", kind.id, p.name)
			case p.hidden():
				assert.False(t, is, "%s.%s is a secret", kind.id, p.name)
			default:
				assert.Equal(t, want, shown, "%s.%s", kind.id, p.name)
			}
		}
	}
}

// A value of another type is refused for every parameter of every kind, and nothing is set up by
// half. Booleans and integers may come as text, as in a form. Lists and objects for optional
// parameters are tried by TestBodyTypes.
func TestIntegrationTypes(t *testing.T) {
	s := New(t)
	s.AddGroup("group")
	c := newCaller(t, s)
	tried := 0
	for _, kind := range documentedIntegrations() {
		at, all := "/groups/group/integrations/"+kind.slug(s), map[string]any{}
		for _, p := range kind.params {
			all[p.name] = p.values()[0]
		}
		for _, p := range kind.params {
			for _, value := range p.wrongValues() {
				all[p.name] = value
				r := c.put(at, all)
				assert.Equal(t, 400, r.Status, "%s.%s = %s: %s", kind.id, p.name, asJSON(t, value), r.Body)
				assert.Contains(t, r.object(t)["error"], p.name, "%s: the refusal does not name it", kind.id)
				tried++
			}
			all[p.name] = p.values()[0]
		}
		assert.Equal(t, 404, c.get(at).Status, kind.id)
		for _, p := range kind.params {
			all[p.name] = fmt.Sprint(all[p.name])
		}
		require.Equal(t, 200, c.put(at, all).Status, kind.id)
	}
	assert.Greater(t, tried, 500)
}

// wrongValues are values that a parameter cannot have.
func (p documentedParam) wrongValues() []any {
	wrong := map[string][]any{"b": {nil, "yes", 1, 0}, "n": {"x", 1.5, true}, "e": {"some", "ALL", true, 1}}[p.kind]
	if p.required {
		return append(wrong, nil, []any{}, []any{"a"}, map[string]any{}, map[string]any{"a": "b"})
	}
	return wrong
}
