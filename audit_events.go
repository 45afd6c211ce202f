package forge

import (
	"context"
	"encoding/json"
	"iter"
	"strconv"
	"time"

	"github.com/forge-sdk/forge-go/internal/jsonread"
)

// AuditEventsService reads audit events, the records of actions. Premium and Ultimate. Lists
// request keyset pagination; offset pagination is deprecated since 17.8 and ends in 19.0.
// GitLab docs: https://docs.gitlab.com/api/audit_events/
type AuditEventsService struct{ service }

// AuditEntityType is the type of the entity that an event is about.
type AuditEntityType string

const (
	// AuditEntityTypeUser is a user.
	AuditEntityTypeUser AuditEntityType = "User"
	// AuditEntityTypeGroup is a group.
	AuditEntityTypeGroup AuditEntityType = "Group"
	// AuditEntityTypeProject is a project.
	AuditEntityTypeProject AuditEntityType = "Project"
	// AuditEntityTypeInstance is the instance itself. The documents call it
	// Service::Audit::InstanceScope.
	AuditEntityTypeInstance AuditEntityType = "Gitlab::Audit::InstanceScope"
)

// ListAuditEventsOptions filters the lists of audit events. "List only" marks the fields that the
// contract documents only for List.
type ListAuditEventsOptions struct {
	// CreatedAfter selects events at this time or later. It is sent in UTC, in seconds, rounded down:
	// the contract documents no other form.
	CreatedAfter time.Time `url:"created_after,omitempty" layout:"2006-01-02T15:04:05Z"`
	// CreatedBefore selects events at this time or earlier. It is sent in UTC, in seconds, rounded up.
	CreatedBefore time.Time `url:"created_before,omitempty" layout:"2006-01-02T15:04:05Z"`
	// EntityType selects the events of one type of entity: AuditEntityTypeUser, AuditEntityTypeGroup,
	// AuditEntityTypeProject or AuditEntityTypeInstance. List only.
	EntityType AuditEntityType `url:"entity_type,omitempty"`
	// EntityID selects the events of the entity with this id. It needs EntityType. List only.
	EntityID int64 `url:"entity_id,omitempty"`
}

func (o *ListAuditEventsOptions) check() error {
	return needs("entity_id", o.EntityID != 0, "entity_type", o.EntityType != "")
}

// filtered sends the options as the query, with the client's word for the entity type.
func (r *request) filtered(o *ListAuditEventsOptions) *request {
	if o == nil {
		return r.params(o)
	}
	wire, v := *o, r.core.config.vocabulary
	if reason := GitLab.foreign(entityWord, string(o.EntityType)); reason != "" && v == GitLab && r.err == nil {
		r.err = &ValidationError{Option: "ListAuditEventsOptions.EntityType", Param: entityWord, Reason: reason}
	}
	word, _ := v.wire(entityWord, string(o.EntityType))
	wire.EntityType = AuditEntityType(word)
	return r.params(&wire)
}

// worded returns the event with GitLab's word for its entity type.
func (s *AuditEventsService) worded(event *AuditEvent, err error) (*AuditEvent, error) {
	if event != nil {
		event.EntityType = AuditEntityType(s.owner().config.vocabulary.gitlab(entityWord, string(event.EntityType)))
	}
	return event, err
}

func (s *AuditEventsService) allWorded(events iter.Seq2[*AuditEvent, error]) iter.Seq2[*AuditEvent, error] {
	return func(yield func(*AuditEvent, error) bool) {
		for event, err := range events {
			if !yield(s.worded(event, err)) {
				return
			}
		}
	}
}

// List lists the events of the whole instance. Administrators only; self-managed and dedicated.
// GitLab documents at most 30 days between CreatedAfter and CreatedBefore for each query, which
// releases up to 19.5 do not enforce: list long times in windows of at most 30 days.
// GitLab docs: https://docs.gitlab.com/api/audit_events/
func (s *AuditEventsService) List(ctx context.Context, o *ListAuditEventsOptions, opts ...RequestOption) iter.Seq2[*AuditEvent, error] {
	r := s.newGet("/audit_events").filtered(o)
	return s.allWorded(list[AuditEvent](ctx, r, opts))
}

// Get reads an event of the instance. Administrators only; self-managed and dedicated.
// GitLab docs: https://docs.gitlab.com/api/audit_events/
func (s *AuditEventsService) Get(ctx context.Context, event int64, opts ...RequestOption) (*AuditEvent, error) {
	r := s.newGet("/audit_events/:id", event)
	return s.worded(do[AuditEvent](ctx, r, opts))
}

// ListForGroup lists the events of a group. Owners see the events of all users; Developers and
// Maintainers see their own. GitLab docs: https://docs.gitlab.com/api/audit_events/
func (s *AuditEventsService) ListForGroup(ctx context.Context, group Ref, o *ListAuditEventsOptions, opts ...RequestOption) iter.Seq2[*AuditEvent, error] {
	r := s.newGet("/groups/:id/audit_events", group).filtered(o)
	return s.allWorded(list[AuditEvent](ctx, r, opts))
}

// GetForGroup reads an event of a group. The user must be Owner of the group.
// GitLab docs: https://docs.gitlab.com/api/audit_events/
func (s *AuditEventsService) GetForGroup(ctx context.Context, group Ref, event int64, opts ...RequestOption) (*AuditEvent, error) {
	r := s.newGet("/groups/:id/audit_events/:audit_event_id", group, event)
	return s.worded(do[AuditEvent](ctx, r, opts))
}

// ListForProject lists the events of a project. Maintainers see the events of all users; Developers
// see their own. GitLab docs: https://docs.gitlab.com/api/audit_events/
func (s *AuditEventsService) ListForProject(ctx context.Context, project Ref, o *ListAuditEventsOptions, opts ...RequestOption) iter.Seq2[*AuditEvent, error] {
	r := s.newGet("/projects/:id/audit_events", project).filtered(o)
	return s.allWorded(list[AuditEvent](ctx, r, opts))
}

// GetForProject reads an event of a project. The user must be Maintainer of the project.
// GitLab docs: https://docs.gitlab.com/api/audit_events/
func (s *AuditEventsService) GetForProject(ctx context.Context, project Ref, event int64, opts ...RequestOption) (*AuditEvent, error) {
	r := s.newGet("/projects/:id/audit_events/:audit_event_id", project, event)
	return s.worded(do[AuditEvent](ctx, r, opts))
}

// AuditEvent is the record of an action.
type AuditEvent struct {
	// ID is the instance-wide id.
	ID int64 `json:"id"`
	// AuthorID is the author's id; negative if the author is not a user, such as a deploy token.
	AuthorID int64 `json:"author_id"`
	// EntityID is the id of the entity that the event is about.
	EntityID int64 `json:"entity_id"`
	// EntityType is the type of that entity: AuditEntityTypeUser, AuditEntityTypeGroup,
	// AuditEntityTypeProject or AuditEntityTypeInstance.
	EntityType AuditEntityType `json:"entity_type"`
	// Details describe the event.
	Details AuditEventDetails `json:"details"`
	// CreatedAt is the time of the event.
	CreatedAt time.Time `json:"created_at"`
	// IPAddress is the address that the request came from; only in events of the instance.
	IPAddress string `json:"ip_address"`
	// AuthorName is the author's display name; only in events of the instance.
	AuthorName string `json:"author_name"`
	// EntityPath is the path of the entity that the event is about; only in events of the instance.
	EntityPath string `json:"entity_path"`
	// TargetDetails describes the changed object; only in events of the instance.
	TargetDetails string `json:"target_details"`
	// TargetType is the type of the target; only in events of the instance.
	TargetType string `json:"target_type"`
	// TargetID identifies the changed object; only in events of the instance.
	TargetID AuditEventTarget `json:"target_id"`
	// EventType is the kind of event; only in events of the instance.
	EventType string `json:"event_type"`
	// EventName is the kind of event. Not part of the contract.
	EventName string `json:"event_name"`
	// Extra holds unknown JSON fields, and raw values whose type does not fit their struct field.
	Extra map[string]json.RawMessage `json:"-"`
}

func (e *AuditEvent) change() (id int64, created, updated time.Time) {
	return e.ID, e.CreatedAt, e.CreatedAt
}

// AuditEventDetails describe an event. The fields that are set depend on the
// event.
type AuditEventDetails struct {
	// CustomMessage describes the event as text.
	CustomMessage string `json:"custom_message"`
	// Add names the object or attribute that was added.
	Add string `json:"add"`
	// Change is the changed attribute; From and To are its values.
	Change AuditEventChange `json:"change"`
	// Changes are the changed attributes of an event with several, as raw JSON. Not part of the
	// contract.
	Changes json.RawMessage `json:"changes"`
	// With is the way of an authentication, such as standard. Not part of the contract.
	With string `json:"with"`
	// As is the role that was given. Not part of the contract.
	As string `json:"as"`
	// Remove names the object or attribute that was removed. Not part of the contract.
	Remove string `json:"remove"`
	// FailedLogin is the way of a failed authentication, such as STANDARD. Not part of the contract.
	FailedLogin string `json:"failed_login"`
	// EventName is the kind of event. Not part of the contract.
	EventName string `json:"event_name"`
	// From is the value before the change, as text: "true" for a boolean.
	From string `json:"from"`
	// To is the value after the change, as text.
	To string `json:"to"`
	// AuthorName is the author's display name.
	AuthorName string `json:"author_name"`
	// AuthorEmail is the author's address. Since 15.9.
	AuthorEmail string `json:"author_email"`
	// AuthorClass is the type of the author, such as User.
	AuthorClass string `json:"author_class"`
	// TargetID identifies the changed object.
	TargetID AuditEventTarget `json:"target_id"`
	// TargetType is the type of the target.
	TargetType string `json:"target_type"`
	// TargetDetails describes the changed object.
	TargetDetails string `json:"target_details"`
	// IPAddress is the address that the request came from; empty if it is not known.
	IPAddress string `json:"ip_address"`
	// EntityPath is the path of the entity that the event is about.
	EntityPath string `json:"entity_path"`
	// Extra holds unknown JSON fields, and raw values whose type does not fit their struct field.
	Extra map[string]json.RawMessage `json:"-"`
}

// AuditEventChange is the attribute that an event changed: its name or, for some events, an object.
type AuditEventChange struct {
	// Name is the attribute's name; empty when the server sent an object.
	Name string `json:"-"`
	// Extra holds the fields of the object.
	Extra map[string]json.RawMessage `json:"-"`
}

// String returns the name.
func (c AuditEventChange) String() string { return c.Name }

// AuditEventTarget identifies the object that an event changed. The contract does not document its
// type. Servers send an id or, for some events, a name such as the path of a project.
type AuditEventTarget struct {
	// ID is the id; 0 if the server sent a name that is not a number.
	ID int64 `json:"-"`
	// Name is the text that the server sent; empty when it sent a number.
	Name string `json:"-"`
	// Extra holds the fields of an object.
	Extra map[string]json.RawMessage `json:"-"`
}

// String returns the name, or the id as a decimal number, or "" if neither is set.
func (t AuditEventTarget) String() string {
	if t.Name == "" && t.ID != 0 {
		return strconv.FormatInt(t.ID, 10)
	}
	return t.Name
}

// idOf parses text as an id. It returns 0 if text is not an id.
func idOf(text string) int64 {
	id, _ := strconv.ParseInt(text, 10, 64)
	if strconv.FormatInt(id, 10) != text {
		return 0
	}
	return id
}

// decodeOther reads a bare name.
func (c *AuditEventChange) decodeOther(r *jsonread.Reader) bool {
	return r.Kind() == "string" && jsonread.Text(&c.Name, r)
}

// otherForm returns the name, unless Extra is the object that the server sent instead.
func (c AuditEventChange) otherForm() (any, bool) { return c.Name, c.Name != "" || len(c.Extra) == 0 }

// decodeOther reads an id or a name.
func (t *AuditEventTarget) decodeOther(r *jsonread.Reader) bool {
	switch r.Kind() {
	case "number":
		jsonread.Int(&t.ID, r)
	case "string":
		jsonread.Text(&t.Name, r)
		t.ID = idOf(t.Name)
	default:
		return false
	}
	return true
}

// otherForm returns the name or the id, or nil for the zero AuditEventTarget.
func (t AuditEventTarget) otherForm() (any, bool) {
	switch {
	case t.Name != "":
		return t.Name, true
	case t.ID != 0:
		return t.ID, true
	}
	return nil, len(t.Extra) == 0
}
