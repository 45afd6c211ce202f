package forge

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/google/go-querystring/query"
)

// Filters of lists. Each is a sealed interface, whose method names the values that implement it;
// nil is not sent, and None and Any satisfy all of them. go-querystring writes ids, numbers and
// texts itself. Lists of ids and labels have another form, so their interfaces have the method that
// it calls.
type (
	// IDFilter selects by one id: forge.ID(42), None or Any.
	IDFilter interface{ useIDOrNoneOrAny() }
	// IterationFilter selects by an iteration: forge.ID(7), Current, None or Any.
	IterationFilter interface{ useIDOrCurrentOrNoneOrAny() }
	// IDListFilter selects by several ids: forge.IDs(1, 2), None or Any.
	IDListFilter interface {
		query.Encoder
		useIDsOrNoneOrAny()
	}
	// NumberFilter selects by a number: forge.Number(3), None or Any.
	NumberFilter interface{ useNumberOrNoneOrAny() }
	// TextFilter selects by a name or title: forge.Text("v1"), None or Any.
	TextFilter interface{ useTextOrNoneOrAny() }
	// LabelFilter selects by labels, all of which must be present: forge.Labels("bug", "p1"), None or
	// Any.
	LabelFilter interface {
		query.Encoder
		useLabelsOrNoneOrAny()
	}
	// MilestoneFilter selects by a milestone's dates: Upcoming, Started, None or Any. The parameter
	// takes no id.
	MilestoneFilter interface{ useUpcomingOrStartedOrNoneOrAny() }
)

// wildcard is the type of None and Any. These, and Upcoming, Started and Current, have no prefix:
// they are values of several filters, as are the functions IDs and Labels.
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

// iterationTime selects iterations by their dates.
type iterationTime string

// Current selects the iterations that run today, one for each cadence. Not part of the contract.
const Current iterationTime = "Current"

// Number is a numeric filter value, for example a weight; Number(0) is sent.
type Number int64

// Text is a filter value, such as a title. It rejects the words none and any, in any case of
// letters: servers read them as the wildcards None and Any.
type Text string

// IDList is a list of ids; see IDs.
type IDList []int64

// LabelNames are the names of labels; see Labels. In Not, nil is not sent.
type LabelNames []string

// IDs selects items that match all or any of the ids, as documented for the endpoint.
func IDs(ids ...int64) IDList { return append(IDList{}, ids...) }

// Labels selects items that have all of the labels. A blank name is rejected. So is a name with a
// comma, which cannot be sent, and, except in Not, a word that servers read as a wildcard, in any
// case of letters: none, any and no label.
func Labels(names ...string) LabelNames { return append(LabelNames{}, names...) }

func (wildcard) useIDOrNoneOrAny()                     {}
func (wildcard) useIDsOrNoneOrAny()                    {}
func (wildcard) useIDOrCurrentOrNoneOrAny()            {}
func (iterationTime) useIDOrCurrentOrNoneOrAny()       {}
func (wildcard) useNumberOrNoneOrAny()                 {}
func (wildcard) useTextOrNoneOrAny()                   {}
func (wildcard) useLabelsOrNoneOrAny()                 {}
func (wildcard) useUpcomingOrStartedOrNoneOrAny()      {}
func (milestoneTime) useUpcomingOrStartedOrNoneOrAny() {}
func (ID) useIDOrNoneOrAny()                           {}
func (ID) useIDOrCurrentOrNoneOrAny()                  {}
func (IDList) useIDsOrNoneOrAny()                      {}
func (Number) useNumberOrNoneOrAny()                   {}
func (Text) useTextOrNoneOrAny()                       {}
func (LabelNames) useLabelsOrNoneOrAny()               {}

// EncodeValues writes the word.
func (word wildcard) EncodeValues(key string, v *url.Values) error {
	v.Set(key, string(word))
	return nil
}

func (id ID) refusal() string { return refusedID(int64(id)) }

func (t Text) refusal() string {
	if strings.TrimSpace(string(t)) == "" {
		return "the text is blank: leave the filter nil, or use None"
	}
	return refusedWord(string(t))
}

// EncodeValues writes key[] once for each id, and once without a value for an empty list.
func (l IDList) EncodeValues(key string, v *url.Values) error {
	key += "[]"
	if len(l) == 0 {
		v.Set(key, "")
	}
	for _, id := range l {
		v.Add(key, strconv.FormatInt(id, 10))
	}
	return nil
}

func (l IDList) refusal() string {
	if len(l) == 0 {
		return "no ids: leave the filter nil, or use None"
	}
	return refusedIDs(l, false)
}

// EncodeValues writes the names, joined by commas. It rejects a name with a comma, which would be
// two names.
func (l LabelNames) EncodeValues(key string, v *url.Values) error {
	for _, name := range l {
		if strings.Contains(name, ",") {
			return &ValidationError{Param: key, Reason: "label " + strconv.Quote(name) + " has a comma, which separates labels on the wire"}
		}
	}
	v.Set(key, strings.Join(l, ","))
	return nil
}

func (l LabelNames) refusal() string {
	if len(l) == 0 {
		return "no labels: leave the filter nil, or use None"
	}
	for _, name := range l {
		if reason := refusedLabel(name); reason != "" {
			return reason
		}
	}
	return ""
}

// refusedNames rejects names of labels that cannot be sent, where servers have no keywords.
func refusedNames(names []string) string {
	if len(names) == 0 {
		return "no labels: omit the field"
	}
	if slices.ContainsFunc(names, func(name string) bool { return strings.TrimSpace(name) == "" }) {
		return "a label is blank"
	}
	return ""
}

func refusedLabel(name string) string {
	switch {
	case strings.TrimSpace(name) == "":
		return "a label is blank"
	case strings.EqualFold(name, "No Label"):
		return strconv.Quote(name) + " is a word of the server: use None"
	}
	return refusedWord(name)
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
