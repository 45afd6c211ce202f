package forge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"
)

// IntegrationSummary is an integration as lists return it.
type IntegrationSummary struct {
	// ID is the instance-wide id.
	ID int64 `json:"id"`
	// Title is the name of the other service.
	Title string `json:"title"`
	// Slug is the path segment: an IntegrationKind, or another IntegrationSlug.
	Slug string `json:"slug"`
	// CreatedAt is when the integration was set up.
	CreatedAt time.Time `json:"created_at"`
	// UpdatedAt is when the integration last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// Active reports whether the integration is in use.
	Active bool `json:"active"`
	// Inherited reports whether the settings are those of the instance or of a group above.
	Inherited bool `json:"inherited"`
	// CommentOnEventEnabled reports whether the integration comments on events that mention it.
	CommentOnEventEnabled bool `json:"comment_on_event_enabled"`
	// CommitEvents reports whether the other service is notified of commits.
	CommitEvents bool `json:"commit_events"`
	// PushEvents reports whether the other service is notified of pushes.
	PushEvents bool `json:"push_events"`
	// IssuesEvents reports whether the other service is notified of issues.
	IssuesEvents bool `json:"issues_events"`
	// AlertEvents reports whether the other service is notified of alerts.
	AlertEvents bool `json:"alert_events"`
	// IncidentEvents reports whether the other service is notified of incidents. Not part of the
	// contract.
	IncidentEvents bool `json:"incident_events"`
	// ConfidentialIssuesEvents reports whether the other service is notified of confidential issues.
	ConfidentialIssuesEvents bool `json:"confidential_issues_events"`
	// MergeRequestsEvents reports whether the other service is notified of merge requests.
	MergeRequestsEvents bool `json:"merge_requests_events"`
	// TagPushEvents reports whether the other service is notified of pushes of tags.
	TagPushEvents bool `json:"tag_push_events"`
	// DeploymentEvents reports whether the other service is notified of deployments.
	DeploymentEvents bool `json:"deployment_events"`
	// NoteEvents reports whether the other service is notified of comments.
	NoteEvents bool `json:"note_events"`
	// ConfidentialNoteEvents reports whether the other service is notified of comments that only
	// members see.
	ConfidentialNoteEvents bool `json:"confidential_note_events"`
	// PipelineEvents reports whether the other service is notified of pipelines.
	PipelineEvents bool `json:"pipeline_events"`
	// WikiPageEvents reports whether the other service is notified of wiki pages.
	WikiPageEvents bool `json:"wiki_page_events"`
	// JobEvents reports whether the other service is notified of jobs.
	JobEvents bool `json:"job_events"`
	// VulnerabilityEvents reports whether the other service is notified of vulnerabilities. Enterprise
	// edition only, nil elsewhere.
	VulnerabilityEvents *bool `json:"vulnerability_events"`
	// Extra holds unknown JSON fields, and raw values whose type does not fit their struct field.
	Extra map[string]json.RawMessage `json:"-"`
}

// Integration is an integration with its properties. The contract does not show the response;
// deployed servers add the properties to the fields of lists.
type Integration struct {
	IntegrationSummary
	// Properties are the settings by the server's names, without secrets. Not part of the contract.
	// Decode reads them into typed options.
	Properties map[string]json.RawMessage `json:"properties"`
}

// Decode stores the current configuration in o, which must be the options of the integration's kind
// or a CustomIntegration. The caller can change o and pass it to Set. Decode sets the events,
// UseInheritedSettings, and the properties that the server shows. A property without a field is
// stored in Extra. For a CustomIntegration, events and properties are stored in Params. Numbers and
// booleans that the server stores as strings are converted.
//
// Servers do not show secrets, and Set does not keep parameters that are omitted. hidden lists the
// parameters that can hold a secret and that are not set in o. Before
// Set, set those that are in use. hidden is nil for a CustomIntegration.
func (i *Integration) Decode(o IntegrationOptions) (hidden []string, err error) {
	if isNil(o) {
		return nil, &ValidationError{Option: "Decode", Param: "options", Reason: "it is nil"}
	}
	if t := reflect.TypeOf(o); t.Kind() != reflect.Pointer || t.Elem().PkgPath() != reflect.TypeFor[Integration]().PkgPath() {
		return nil, &ValidationError{Option: "Decode", Param: "options", Reason: fmt.Sprintf("it is a %s: pass a pointer to options of this package", t)}
	}
	if own, is := o.integration().(IntegrationKind); is && IntegrationKind(i.Slug).isKnown() && i.Slug != string(own) {
		return nil, &ValidationError{Option: "Decode", Param: "options", Reason: fmt.Sprintf("it is a %T, for the kind %s, and the integration is of the kind %s", o, own, i.Slug)}
	}
	events, err := i.events()
	if err != nil {
		return nil, err
	}
	target := reflect.ValueOf(o).Elem()
	_, custom := o.(*CustomIntegration)
	rest := maps.Clone(o.extra())
	for _, members := range []map[string]json.RawMessage{events, i.Properties} {
		for name, value := range members {
			_, named := fieldForKey(target, name)
			switch _, event := events[name]; {
			case named && !fill(o, name, value):
				return nil, &ValidationError{Option: "Decode", Param: name, Reason: "the server's value does not fit " + optionsName(o)}
			case !named && (custom && name != "active" || !event) && string(value) != "null":
				rest = withMember(rest, name, value)
			}
		}
	}
	for _, name := range []string{"Extra", "Params"} {
		if field := target.FieldByName(name); field.IsValid() {
			field.Set(reflect.ValueOf(rest))
		}
	}
	return hiddenParams(target, i.Properties), nil
}

// events returns the flags of the summary that are also parameters, by the names of the parameters.
func (i *Integration) events() (map[string]json.RawMessage, error) {
	type plain IntegrationSummary // its MarshalJSON would omit flags that are false
	events, err := membersOf(plain(i.IntegrationSummary))
	if err != nil {
		return nil, err
	}
	odd, err := misfitsOf(&i.IntegrationSummary, i.Extra)
	if err != nil {
		return nil, err
	}
	maps.Copy(events, odd)
	events["use_inherited_settings"] = events["inherited"]
	for name := range events {
		if !strings.HasSuffix(name, "_events") && !slices.Contains([]string{"active", "comment_on_event_enabled", "use_inherited_settings"}, name) {
			delete(events, name)
		}
	}
	return events, nil
}

// withMember adds a copy of a value, so that changes of the options do not change the values that
// were read.
func withMember(members map[string]any, name string, value json.RawMessage) map[string]any {
	if members == nil {
		members = map[string]any{}
	}
	members[name] = json.RawMessage(bytes.Clone(value))
	return members
}

// hiddenParams returns the parameters without a value that can hold a secret and that the server
// does not show.
func hiddenParams(options reflect.Value, shown map[string]json.RawMessage) (names []string) {
	for field, value := range options.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if value := string(shown[name]); value != "" && value != "null" {
			continue
		}
		if value.IsZero() && holdsSecret(name) {
			names = append(names, name)
		}
	}
	return names
}

// holdsSecret reports whether a parameter of an integration can hold a secret. A channel can: it
// replaces a webhook, whose address is a secret.
func holdsSecret(param string) bool {
	switch param {
	case "token", "password", "api_key", "webhook":
		return true
	}
	return slices.ContainsFunc([]string{"_secret", "_license_key", "_private_key", "_channel"}, func(end string) bool { return strings.HasSuffix(param, end) })
}

// fill sets the field of one parameter. It returns false if the value does not fit the field.
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
		object, _ := json.Marshal(map[string]json.RawMessage{name: json.RawMessage(text)})
		return json.Unmarshal(object, o) == nil // with a text that is not JSON it is empty, and fails
	})
}

// misfitsOf returns the values of a response's Extra under the key of a field that could not hold
// them and that has not been set since.
func misfitsOf[T any](response *T, extra map[string]json.RawMessage) (map[string]json.RawMessage, error) {
	misfits := map[string]json.RawMessage{}
	for name, value := range extra {
		field, named := fieldForKey(reflect.ValueOf(response).Elem(), name)
		if !named {
			continue
		}
		member, err := json.Marshal(map[string]json.RawMessage{name: value})
		if err != nil {
			return nil, &ValidationError{Option: optionsName(response), Param: name, Reason: "it cannot be encoded as JSON: " + err.Error()}
		}
		var again T
		if err := decodeInto(member, &again); err != nil {
			return nil, err
		}
		read, _ := fieldForKey(reflect.ValueOf(again), name)
		if reflect.ValueOf(again).FieldByName("Extra").Len() == 0 {
			return nil, &ValidationError{Option: optionsName(response), Param: name, Reason: "the map Extra holds it, although its field can: set the field"}
		}
		if reflect.DeepEqual(field.Interface(), read.Interface()) {
			misfits[name] = value
		}
	}
	return misfits, nil
}

// fieldForKey returns the field of a struct for a JSON key.
func fieldForKey(v reflect.Value, key string) (field reflect.Value, found bool) {
	for f := range v.Type().Fields() {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name == key && name != "-" {
			return v.FieldByIndex(f.Index), true
		}
	}
	return reflect.Value{}, false
}
