package forge

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/google/go-querystring/query"
)

// Filters of lists. Each is a sealed interface; nil is not sent, and None and Any satisfy all of
// them.
type (
	// IDFilter selects by one id: forge.ID(42), None or Any.
	IDFilter interface {
		query.Encoder
		idFilter()
	}
	// IDListFilter selects by several ids: forge.IDs(1, 2), None or Any.
	IDListFilter interface {
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
	// LabelFilter selects by labels, all of which must be present: forge.Labels("bug", "p1"), None or
	// Any.
	LabelFilter interface {
		query.Encoder
		labelFilter()
	}
	// MilestoneFilter selects by a milestone's dates: Upcoming, Started, None or Any. The parameter
	// takes no id (Document 2 §4.1.1).
	MilestoneFilter interface {
		query.Encoder
		milestoneFilter()
	}
)

// wildcard is the type of None and Any.
type wildcard string

const (
	// None selects items without a value: unassigned, unlabelled, without a milestone.
	None wildcard = "None"
	// Any selects items with any value.
	Any wildcard = "Any"
)

// milestoneTime selects milestones by their dates.
type milestoneTime string

const (
	// Upcoming selects the next milestone of each project: the active one with the earliest due date
	// after today, whether it has begun or not. This is an interpretation: the contract does not
	// define the word.
	Upcoming milestoneTime = "Upcoming"
	// Started selects active milestones that began today or earlier and are not past their due date.
	Started milestoneTime = "Started"
)

// Number is a numeric filter value, for example a weight; Number(0) is sent.
type Number int64

// Text is a filter value, such as a title. It rejects the words none and any, in any case of
// letters: servers read them as the wildcards None and Any.
type Text string

type idList []int64

// LabelNames are the names of labels; see Labels.
type LabelNames []string

// IDs selects items that match all or any of the ids, as documented for the endpoint.
func IDs(ids ...int64) IDListFilter { return idList(ids) }

// Labels selects items that have all of the labels. A name with a comma cannot be sent and is
// rejected, as are the words that servers read as wildcards, in any case of letters: none, any and
// no label.
func Labels(names ...string) LabelNames { return append(LabelNames{}, names...) }

func (wildcard) idFilter()             {}
func (wildcard) idsFilter()            {}
func (wildcard) numberFilter()         {}
func (wildcard) textFilter()           {}
func (wildcard) labelFilter()          {}
func (wildcard) milestoneFilter()      {}
func (milestoneTime) milestoneFilter() {}
func (ID) idFilter()                   {}
func (idList) idsFilter()              {}
func (Number) numberFilter()           {}
func (Text) textFilter()               {}
func (LabelNames) labelFilter()        {}

// EncodeValues writes the word.
func (w wildcard) EncodeValues(key string, v *url.Values) error { return set(v, key, string(w)) }

// EncodeValues writes the word.
func (m milestoneTime) EncodeValues(key string, v *url.Values) error { return set(v, key, string(m)) }

// EncodeValues writes the id.
func (id ID) EncodeValues(key string, v *url.Values) error {
	return set(v, key, strconv.FormatInt(int64(id), 10))
}

func (id ID) refusal() string { return refusedID(int64(id)) }

// EncodeValues writes the number.
func (n Number) EncodeValues(key string, v *url.Values) error {
	return set(v, key, strconv.FormatInt(int64(n), 10))
}

// EncodeValues writes the text.
func (t Text) EncodeValues(key string, v *url.Values) error { return set(v, key, string(t)) }

func (t Text) refusal() string {
	if strings.TrimSpace(string(t)) == "" {
		return "the text is blank: leave the filter nil, or use None"
	}
	return refusedWord(string(t))
}

// EncodeValues writes key[] once for each id.
func (ids idList) EncodeValues(key string, v *url.Values) error {
	if len(ids) == 0 {
		return set(v, key+"[]", "")
	}
	for _, id := range ids {
		v.Add(key+"[]", strconv.FormatInt(id, 10))
	}
	return nil
}

func (ids idList) refusal() string {
	if len(ids) == 0 {
		return "no ids: leave the filter nil, or use None"
	}
	for _, id := range ids {
		if reason := refusedID(id); reason != "" {
			return reason
		}
	}
	return ""
}

// EncodeValues writes the names, joined by commas. It rejects a name with a comma, which would be
// two names.
func (names LabelNames) EncodeValues(key string, v *url.Values) error {
	for _, name := range names {
		if strings.Contains(name, ",") {
			return &ValidationError{Param: key, Reason: "label " + strconv.Quote(name) + " has a comma, which separates labels on the wire"}
		}
	}
	return set(v, key, strings.Join(names, ","))
}

func (names LabelNames) refusal() string {
	if len(names) == 0 {
		return "no labels: leave the filter nil, or use None"
	}
	for _, name := range names {
		if strings.TrimSpace(name) == "" {
			return "a label is blank"
		}
		if strings.EqualFold(name, "No Label") {
			return strconv.Quote(name) + " is a word of the server: use None"
		}
		if reason := refusedWord(name); reason != "" {
			return reason
		}
	}
	return ""
}

// refusedWord rejects a name that servers read as a wildcard (Document 2 §4.1.1).
func refusedWord(name string) string {
	for _, word := range []wildcard{None, Any} {
		if strings.EqualFold(name, string(word)) {
			return strconv.Quote(name) + " cannot be selected: the server reads it as a keyword. For the keyword, use forge." + string(word)
		}
	}
	return ""
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

// Scope selects items by their relation to the current user.
type Scope string

const (
	// ScopeCreatedByMe lists the items that the user created; the default of the global lists.
	ScopeCreatedByMe Scope = "created_by_me"
	// ScopeAssignedToMe lists the items that are assigned to the user.
	ScopeAssignedToMe Scope = "assigned_to_me"
	// ScopeAll lists all items that the user can see.
	ScopeAll Scope = "all"
)

// SearchIn selects the texts that Search covers.
type SearchIn string

const (
	// SearchInTitle searches in titles only.
	SearchInTitle SearchIn = "title"
	// SearchInDescription searches in descriptions only.
	SearchInDescription SearchIn = "description"
	// SearchInBoth searches in titles and descriptions; the default.
	SearchInBoth SearchIn = "title,description"
)

// Hash is a query hash with caller-supplied keys, sent as name[key]=value:
// custom_attributes[team]=core.
type Hash map[string]string

// EncodeValues writes key[name]=value for each entry. It rejects a name that is empty or has
// brackets, which would change the structure.
func (h Hash) EncodeValues(key string, v *url.Values) error {
	for name, value := range h {
		if name == "" || strings.ContainsAny(name, "[]") {
			return &ValidationError{Param: key, Reason: "the key " + strconv.Quote(name) + " is empty or has brackets"}
		}
		v.Set(key+"["+name+"]", value)
	}
	return nil
}

func (h Hash) refusal() string {
	if len(h) == 0 {
		return "it is empty, which servers treat as no filter: use nil to omit it"
	}
	for name := range h {
		if strings.TrimSpace(name) == "" {
			return "a key of it is blank"
		}
	}
	return ""
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
