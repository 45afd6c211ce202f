package forge

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/google/go-querystring/query"
)

// The filters of lists. Each is a sealed interface; nil is not sent, and None and Any satisfy all of them.
type (
	// IDFilter selects by one id: forge.ID(42), None or Any.
	IDFilter interface {
		query.Encoder
		idFilter()
	}
	// IDsFilter selects by several ids: forge.IDs(1, 2), None or Any.
	IDsFilter interface {
		query.Encoder
		idsFilter()
	}
	// NumberFilter selects by a number: forge.Number(3), None or Any.
	NumberFilter interface {
		query.Encoder
		numberFilter()
	}
	// TextFilter selects by a name or title: forge.Text("v1"), None or Any.
	TextFilter interface {
		query.Encoder
		textFilter()
	}
	// LabelFilter selects by labels, all of which must be present: forge.Labels("bug", "p1"), None or Any.
	LabelFilter interface {
		query.Encoder
		labelFilter()
	}
	// MilestoneFilter selects by a milestone's id or time: forge.ID(7), Upcoming, Started, None or Any.
	MilestoneFilter interface {
		query.Encoder
		milestoneFilter()
	}
)

// wildcard is a filter value without a name of its own.
type wildcard string

const (
	// None selects what has no value at all: unassigned, unlabelled, without a milestone.
	None wildcard = "None"
	// Any selects what has a value, whichever.
	Any wildcard = "Any"
)

// milestoneTime selects milestones by their dates.
type milestoneTime string

const (
	// Upcoming selects milestones that start in the future.
	Upcoming milestoneTime = "Upcoming"
	// Started selects milestones that have begun and are not past their due date.
	Started milestoneTime = "Started"
)

// Number is a numeric filter value, for example a weight; Number(0) is sent.
type Number int64

// Text is a filter value, sent as it is; Text("None") is the wildcard to the server, not a title.
type Text string

type idList []int64

type labelList []string

// IDs selects what matches all or any of the ids, as the endpoint documents.
func IDs(ids ...int64) IDsFilter { return idList(ids) }

// Labels selects what carries all of the names. A comma inside a name cannot be sent and is refused.
func Labels(names ...string) LabelFilter { return labelList(names) }

func (wildcard) idFilter()             {}
func (wildcard) idsFilter()            {}
func (wildcard) numberFilter()         {}
func (wildcard) textFilter()           {}
func (wildcard) labelFilter()          {}
func (wildcard) milestoneFilter()      {}
func (milestoneTime) milestoneFilter() {}
func (ID) idFilter()                   {}
func (ID) milestoneFilter()            {}
func (idList) idsFilter()              {}
func (Number) numberFilter()           {}
func (Text) textFilter()               {}
func (labelList) labelFilter()         {}

// EncodeValues writes the word.
func (w wildcard) EncodeValues(key string, v *url.Values) error { return set(v, key, string(w)) }

// EncodeValues writes the word.
func (m milestoneTime) EncodeValues(key string, v *url.Values) error { return set(v, key, string(m)) }

// EncodeValues writes the id; it must be positive.
func (id ID) EncodeValues(key string, v *url.Values) error {
	text, err := id.ref()
	if err != nil {
		return &ValidationError{Param: key, Reason: err.Error()}
	}
	return set(v, key, text)
}

// EncodeValues writes the number.
func (n Number) EncodeValues(key string, v *url.Values) error {
	return set(v, key, strconv.FormatInt(int64(n), 10))
}

// EncodeValues writes the text; an empty one would select everything and is refused.
func (t Text) EncodeValues(key string, v *url.Values) error {
	if t == "" {
		return &ValidationError{Param: key, Reason: "the text is empty: leave the filter nil, or use None"}
	}
	return set(v, key, string(t))
}

// EncodeValues writes key[] once for each id.
func (ids idList) EncodeValues(key string, v *url.Values) error {
	if len(ids) == 0 {
		return &ValidationError{Param: key, Reason: "no ids: leave the filter nil, or use None"}
	}
	for _, id := range ids {
		text, err := ID(id).ref()
		if err != nil {
			return &ValidationError{Param: key, Reason: err.Error()}
		}
		v.Add(key+"[]", text)
	}
	return nil
}

// EncodeValues writes the names, joined by commas.
func (names labelList) EncodeValues(key string, v *url.Values) error {
	if len(names) == 0 {
		return &ValidationError{Param: key, Reason: "no labels: leave the filter nil, or use None"}
	}
	for _, name := range names {
		if strings.TrimSpace(name) == "" {
			return &ValidationError{Param: key, Reason: "a label is empty"}
		}
		if strings.Contains(name, ",") {
			return &ValidationError{Param: key, Reason: "label " + strconv.Quote(name) + " has a comma, which separates labels on the wire"}
		}
	}
	return set(v, key, strings.Join(names, ","))
}

func set(v *url.Values, key, value string) error {
	v.Set(key, value)
	return nil
}

// Sort is the direction of a list.
type Sort string

const (
	// SortAsc lists the smallest, oldest or first by name first.
	SortAsc Sort = "asc"
	// SortDesc lists the largest, newest or last by name first.
	SortDesc Sort = "desc"
)

// Scope says whose items a list holds.
type Scope string

const (
	// ScopeCreatedByMe lists what the user created; the default of the global lists.
	ScopeCreatedByMe Scope = "created_by_me"
	// ScopeAssignedToMe lists what is assigned to the user.
	ScopeAssignedToMe Scope = "assigned_to_me"
	// ScopeAll lists everything that the user can see.
	ScopeAll Scope = "all"
)

// SearchIn says where a list's Search looks.
type SearchIn string

const (
	// SearchInTitle looks in titles only.
	SearchInTitle SearchIn = "title"
	// SearchInDescription looks in descriptions only.
	SearchInDescription SearchIn = "description"
	// SearchInBoth looks in titles and descriptions; the default.
	SearchInBoth SearchIn = "title,description"
)

// Hash is a query hash with keys of the caller's choice, sent as name[key]=value: custom_attributes[team]=core.
type Hash map[string]string

// EncodeValues writes key[name]=value for each entry. A name that is empty or has brackets would make another structure of
// it and is refused.
func (h Hash) EncodeValues(key string, v *url.Values) error {
	for name, value := range h {
		if name == "" || strings.ContainsAny(name, "[]") {
			return &ValidationError{Param: key, Reason: "the key " + strconv.Quote(name) + " is empty or has brackets"}
		}
		v.Set(key+"["+name+"]", value)
	}
	return nil
}

// HashList is an array of hashes, sent as name[0][key]=value (Document 1 §2.1 rule 5).
type HashList []map[string]string

// EncodeValues writes key[index][name]=value for each entry.
func (l HashList) EncodeValues(key string, v *url.Values) error {
	for i, hash := range l {
		if err := Hash(hash).EncodeValues(key+"["+strconv.Itoa(i)+"]", v); err != nil {
			return err
		}
	}
	return nil
}
