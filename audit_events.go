package forge

import (
	"context"
	"encoding/json"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/forge-sdk/forge-go/internal/jsonread"
)

// AuditEventsService reads audit events: who did what (Document 1 §4.7). Premium and Ultimate.
// Lists request keyset pagination; offset pagination is deprecated since 17.8 and ends in 19.0.
type AuditEventsService struct{ service }

// AuditEntityType is the type of entity that an event happened to.
type AuditEntityType string

const (
	// AuditEntityUser is a user.
	AuditEntityUser AuditEntityType = "User"
	// AuditEntityGroup is a group.
	AuditEntityGroup AuditEntityType = "Group"
	// AuditEntityProject is a project.
	AuditEntityProject AuditEntityType = "Project"
	// AuditEntityInstance is the instance itself. Its value is the contract's neutral word; a client
	// with a vocabulary translates it both ways. See AuditEvent.IsInstance.
	AuditEntityInstance AuditEntityType = "Service::Audit::InstanceScope"
)

// instanceScope is the suffix of every server's word for AuditEntityInstance.
const instanceScope = "::Audit::InstanceScope"

// ListAuditEventsOptions filters the lists of audit events. Fields that the contract documents for
// List only say so.
type ListAuditEventsOptions struct {
	// CreatedAfter selects events at this time or later. It is sent in UTC, in seconds, rounded down:
	// the contract documents no other form.
	CreatedAfter time.Time `url:"created_after,omitempty" layout:"2006-01-02T15:04:05Z"`
	// CreatedBefore selects events at this time or earlier. It is sent in UTC, in seconds, rounded up.
	CreatedBefore time.Time `url:"created_before,omitempty" layout:"2006-01-02T15:04:05Z"`
	// EntityType selects by what the event happened to: AuditEntityUser, AuditEntityGroup,
	// AuditEntityProject or AuditEntityInstance. List only.
	EntityType AuditEntityType `url:"entity_type,omitempty"`
	// EntityID selects by the id of what the event happened to; with EntityType. List only.
	EntityID int64 `url:"entity_id,omitempty"`
}

func (o *ListAuditEventsOptions) check() error {
	return needs("entity_id", o.EntityID != 0, "entity_type", o.EntityType != "")
}

// worded returns the options as they are sent: with the server's own word for the entity type.
func (o *ListAuditEventsOptions) worded(c *core) *ListAuditEventsOptions {
	if o == nil {
		return nil
	}
	wire := *o
	if own, known := c.config.vocabulary.word(entityWord, string(o.EntityType)); known {
		wire.EntityType = AuditEntityType(own)
	}
	return &wire
}

// neutral returns event with the contract's word for its entity type.
func (s *AuditEventsService) neutral(event *AuditEvent, err error) (*AuditEvent, error) {
	if event == nil {
		return nil, err
	}
	if word, known := s.owner().config.vocabulary.neutral(entityWord, string(event.EntityType)); known {
		event.EntityType = AuditEntityType(word)
	}
	return event, err
}

func (s *AuditEventsService) neutrals(events iter.Seq2[*AuditEvent, error]) iter.Seq2[*AuditEvent, error] {
	return func(yield func(*AuditEvent, error) bool) {
		for event, err := range events {
			if !yield(s.neutral(event, err)) {
				return
			}
		}
	}
}

// List lists the events of the whole instance. Administrators only; self-managed and dedicated.
// Document 1 §4.7.
func (s *AuditEventsService) List(ctx context.Context, o *ListAuditEventsOptions, opts ...RequestOption) iter.Seq2[*AuditEvent, error] {
	r := s.get("/audit_events").params(o.worded(s.owner()))
	return s.neutrals(list[AuditEvent](ctx, r, opts))
}

// Get reads an event of the instance. Administrators only; self-managed and dedicated.
// Document 1 §4.7.
func (s *AuditEventsService) Get(ctx context.Context, event int64, opts ...RequestOption) (*AuditEvent, error) {
	r := s.get("/audit_events/:id", event)
	return s.neutral(do[AuditEvent](ctx, r, opts))
}

// ListForGroup lists the events of a group. Owners see those of all users, Developers and
// Maintainers their own. Document 1 §4.7.
func (s *AuditEventsService) ListForGroup(ctx context.Context, group Ref, o *ListAuditEventsOptions, opts ...RequestOption) iter.Seq2[*AuditEvent, error] {
	r := s.get("/groups/:id/audit_events", group).params(o.worded(s.owner()))
	return s.neutrals(list[AuditEvent](ctx, r, opts))
}

// GetForGroup reads an event of a group. Owner of the group. Document 1 §4.7.
func (s *AuditEventsService) GetForGroup(ctx context.Context, group Ref, event int64, opts ...RequestOption) (*AuditEvent, error) {
	r := s.get("/groups/:id/audit_events/:audit_event_id", group, event)
	return s.neutral(do[AuditEvent](ctx, r, opts))
}

// ListForProject lists the events of a project. Maintainers see those of all users, Developers
// their own. Document 1 §4.7.
func (s *AuditEventsService) ListForProject(ctx context.Context, project Ref, o *ListAuditEventsOptions, opts ...RequestOption) iter.Seq2[*AuditEvent, error] {
	r := s.get("/projects/:id/audit_events", project).params(o.worded(s.owner()))
	return s.neutrals(list[AuditEvent](ctx, r, opts))
}

// GetForProject reads an event of a project. Maintainer of the project. Document 1 §4.7.
func (s *AuditEventsService) GetForProject(ctx context.Context, project Ref, event int64, opts ...RequestOption) (*AuditEvent, error) {
	r := s.get("/projects/:id/audit_events/:audit_event_id", project, event)
	return s.neutral(do[AuditEvent](ctx, r, opts))
}

// AuditEvent is a record of what was done (Document 1 §2.8).
type AuditEvent struct {
	// ID is the instance-wide id.
	ID int64 `json:"id"`
	// AuthorID is the author's id; negative if the author is not a user, such as a deploy token.
	AuthorID int64 `json:"author_id"`
	// EntityID is the id of the entity that it happened to.
	EntityID int64 `json:"entity_id"`
	// EntityType is the type of the entity that it happened to: AuditEntityUser, AuditEntityGroup,
	// AuditEntityProject or AuditEntityInstance; see IsInstance.
	EntityType AuditEntityType `json:"entity_type"`
	// Details describe what happened.
	Details AuditEventDetails `json:"details"`
	// CreatedAt is when it happened.
	CreatedAt time.Time `json:"created_at"`
	// IPAddress is where the request came from; of events of the instance.
	IPAddress string `json:"ip_address"`
	// AuthorName is the author's display name; of events of the instance.
	AuthorName string `json:"author_name"`
	// EntityPath is the path of the entity that it happened to; of events of the instance.
	EntityPath string `json:"entity_path"`
	// TargetDetails describe what was changed; of events of the instance.
	TargetDetails string `json:"target_details"`
	// TargetType is the type of the target; of events of the instance.
	TargetType string `json:"target_type"`
	// TargetID is what was changed; of events of the instance.
	TargetID AuditEventTarget `json:"target_id"`
	// EventType is the kind of event; of events of the instance.
	EventType string `json:"event_type"`
	// EventName is the kind of event. Not part of the contract.
	EventName string `json:"event_name"`
	// Extra holds fields that no struct field names, and the raw value of a field whose JSON type the
	// struct field cannot take.
	Extra map[string]json.RawMessage `json:"-"`
}

// IsInstance reports whether the event happened to the instance itself, whatever word the server
// uses for it.
func (e *AuditEvent) IsInstance() bool { return strings.HasSuffix(string(e.EntityType), instanceScope) }

// AuditEventDetails describe what happened (Document 1 §2.8). Which fields are set depends on the
// event. Extra holds what has no field.
type AuditEventDetails struct {
	// CustomMessage describes the event as text.
	CustomMessage string `json:"custom_message"`
	// Add is what was added.
	Add string `json:"add"`
	// Change is what was changed, From a value To another.
	Change AuditEventChange `json:"change"`
	// From is the value before, as text: "true" for a boolean.
	From string `json:"from"`
	// To is the value after, as text.
	To string `json:"to"`
	// AuthorName is the author's display name.
	AuthorName string `json:"author_name"`
	// AuthorEmail is the author's address. Since 15.9.
	AuthorEmail string `json:"author_email"`
	// AuthorClass is the type of the author, such as User.
	AuthorClass string `json:"author_class"`
	// TargetID is what was changed.
	TargetID AuditEventTarget `json:"target_id"`
	// TargetType is the type of the target.
	TargetType string `json:"target_type"`
	// TargetDetails describe what was changed.
	TargetDetails string `json:"target_details"`
	// IPAddress is where the request came from; empty when that is not known.
	IPAddress string `json:"ip_address"`
	// EntityPath is the path of the entity that it happened to.
	EntityPath string `json:"entity_path"`
	// Extra holds fields that no struct field names, and the raw value of a field whose JSON type the
	// struct field cannot take.
	Extra map[string]json.RawMessage `json:"-"`
}

// AuditEventChange is what an event changed: the name of an attribute, or an object for some
// events.
type AuditEventChange struct {
	// Name is the attribute's name; empty when the server sent an object.
	Name string `json:"-"`
	// Extra holds the fields of the object.
	Extra map[string]json.RawMessage `json:"-"`
}

// String returns the name.
func (c AuditEventChange) String() string { return c.Name }

// MarshalJSON writes the form that was read.
func (c AuditEventChange) MarshalJSON() ([]byte, error) {
	if len(c.Extra) > 0 {
		return json.Marshal(c.Extra)
	}
	return json.Marshal(c.Name)
}

// UnmarshalJSON reads a name or an object.
func (c *AuditEventChange) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		*c = AuditEventChange{}
		return readJSON(data, &c.Name)
	}
	return readJSON(data, &c.Extra)
}

// AuditEventTarget is what an event changed. The contract does not show its type: servers send an
// id, or for some events a name, such as the path of a project.
type AuditEventTarget struct {
	// ID is the id; 0 when the server sent a name that is not one.
	ID int64 `json:"-"`
	// Name is the text that the server sent; empty when it sent a number.
	Name string `json:"-"`
	// Extra holds the fields of an object.
	Extra map[string]json.RawMessage `json:"-"`
}

// String returns the name, or the id in digits; "" when there is none.
func (t AuditEventTarget) String() string {
	if t.Name == "" && t.ID != 0 {
		return strconv.FormatInt(t.ID, 10)
	}
	return t.Name
}

// MarshalJSON writes the form that was read; the zero AuditEventTarget is null.
func (t AuditEventTarget) MarshalJSON() ([]byte, error) {
	switch {
	case len(t.Extra) > 0:
		return json.Marshal(t.Extra)
	case t.Name != "":
		return json.Marshal(t.Name)
	case t.ID != 0:
		return json.Marshal(t.ID)
	}
	return []byte("null"), nil
}

// UnmarshalJSON reads an id, a name or an object.
func (t *AuditEventTarget) UnmarshalJSON(data []byte) error {
	*t = AuditEventTarget{}
	switch {
	case len(data) > 0 && data[0] == '{':
		return readJSON(data, &t.Extra)
	case len(data) > 0 && data[0] == '"':
		err := readJSON(data, &t.Name)
		t.ID = idOf(t.Name)
		return err
	}
	return readJSON(data, &t.ID)
}

// idOf parses text as an id. It returns 0 if text is not one.
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
