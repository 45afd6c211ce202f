package forge

import (
	"encoding/json"
	"maps"
	"slices"
	"time"
)

// IntegrationSummary is an integration as lists show it (Document 3 §2.2).
type IntegrationSummary struct {
	// ID is the instance-wide id.
	ID int64 `json:"id"`
	// Title is the name of the other service.
	Title string `json:"title"`
	// Slug is the path segment; IntegrationSlug.Kind tells which kind it is.
	Slug string `json:"slug"`
	// CreatedAt is when the integration was set up.
	CreatedAt time.Time `json:"created_at"`
	// UpdatedAt is when the integration last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// Active: the integration is in use.
	Active bool `json:"active"`
	// Inherited: the settings are those of the instance or of a group above.
	Inherited bool `json:"inherited"`
	// CommentOnEventEnabled: the integration comments on what mentions it.
	CommentOnEventEnabled bool `json:"comment_on_event_enabled"`
	// CommitEvents: the other service is told of commits.
	CommitEvents bool `json:"commit_events"`
	// PushEvents: the other service is told of pushes.
	PushEvents bool `json:"push_events"`
	// IssuesEvents: the other service is told of issues.
	IssuesEvents bool `json:"issues_events"`
	// AlertEvents: the other service is told of alerts.
	AlertEvents bool `json:"alert_events"`
	// IncidentEvents: the other service is told of incidents. Not part of the contract.
	IncidentEvents bool `json:"incident_events"`
	// ConfidentialIssuesEvents: the other service is told of confidential issues.
	ConfidentialIssuesEvents bool `json:"confidential_issues_events"`
	// MergeRequestsEvents: the other service is told of merge requests.
	MergeRequestsEvents bool `json:"merge_requests_events"`
	// TagPushEvents: the other service is told of pushes of tags.
	TagPushEvents bool `json:"tag_push_events"`
	// DeploymentEvents: the other service is told of deployments.
	DeploymentEvents bool `json:"deployment_events"`
	// NoteEvents: the other service is told of comments.
	NoteEvents bool `json:"note_events"`
	// ConfidentialNoteEvents: the other service is told of comments that only members see.
	ConfidentialNoteEvents bool `json:"confidential_note_events"`
	// PipelineEvents: the other service is told of pipelines.
	PipelineEvents bool `json:"pipeline_events"`
	// WikiPageEvents: the other service is told of wiki pages.
	WikiPageEvents bool `json:"wiki_page_events"`
	// JobEvents: the other service is told of jobs.
	JobEvents bool `json:"job_events"`
	// VulnerabilityEvents: the other service is told of vulnerabilities. Enterprise edition only.
	VulnerabilityEvents bool `json:"vulnerability_events"`
	// Extra holds fields that no struct field names, and the raw value of a field whose JSON type the
	// struct field cannot take.
	Extra map[string]json.RawMessage `json:"-"`
}

// Integration is an integration with its properties. The contract does not show the answer; deployed servers add the properties to
// what lists show.
type Integration struct {
	IntegrationSummary
	// Properties are the settings by name, without secrets: by the contract's name where the client has a vocabulary that maps it,
	// else by the server's. Not part of the contract. Fill reads them into typed options.
	Properties map[string]json.RawMessage `json:"properties"`
}

// Fill reads what is set now into options of the integration's kind, to change and Set: events, and the properties that the server
// shows. Secrets are not among them. Numbers and booleans that the server keeps as strings are read as what they are.
func (i *Integration) Fill(o IntegrationOptions) error {
	events, err := membersOf(i.IntegrationSummary)
	if err != nil {
		return err
	}
	odd, err := misfitsOf(&i.IntegrationSummary, i.Extra)
	if err != nil {
		return err
	}
	maps.Copy(events, odd)
	for _, members := range []map[string]json.RawMessage{events, i.Properties} {
		for name, value := range members {
			if !fill(o, name, value) {
				return &ValidationError{Option: "Fill", Param: name, Reason: "the server's value does not fit " + optionsName(o)}
			}
		}
	}
	return nil
}

// fill sets the field of one parameter, if there is one.
func fill(o IntegrationOptions, name string, value json.RawMessage) bool {
	texts := []string{string(value)}
	var text string
	if json.Unmarshal(value, &text) == nil {
		texts = append(texts, text)
		switch text {
		case "1":
			texts = append(texts, "true")
		case "0", "":
			texts = append(texts, "false", "0")
		}
	}
	return slices.ContainsFunc(texts, func(text string) bool {
		member, err := json.Marshal(map[string]json.RawMessage{name: json.RawMessage(text)})
		return err == nil && json.Unmarshal(member, o) == nil
	})
}
