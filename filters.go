package forge

import (
	"errors"
	"iter"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Filters of lists. Each is a sealed interface, whose method names the values that implement it;
// nil is not sent, and None and Any satisfy all of them. Filters can be compared with ==:
// o.AssigneeID == forge.ID(42), o.Labels == forge.Labels("bug").
type (
	// IDFilter selects by one id: forge.ID(42), None or Any.
	IDFilter interface{ useIDOrNoneOrAny() }
	// IDListFilter selects by several ids: forge.IDs(1, 2), None or Any.
	IDListFilter interface{ useIDsOrNoneOrAny() }
	// NumberFilter selects by a number: forge.Number(3), None or Any.
	NumberFilter interface{ useNumberOrNoneOrAny() }
	// TextFilter selects by a name or title: forge.Text("v1"), None or Any.
	TextFilter interface{ useTextOrNoneOrAny() }
	// LabelFilter selects by labels, all of which must be present: forge.Labels("bug", "p1"), None or
	// Any.
	LabelFilter interface{ useLabelsOrNoneOrAny() }
	// MilestoneFilter selects by a milestone's dates: Upcoming, Started, None or Any. The parameter
	// takes no id (Document 2 §4.1.1).
	MilestoneFilter interface{ useUpcomingOrStartedOrNoneOrAny() }
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

// IDList is the value of IDs. Lists of the same ids in the same order are equal.
type IDList struct{ text string } // "IDs(1, 2)"

// LabelNames are the names of labels; see Labels. Equal names in the same order are equal values.
// In Not, the zero LabelNames is not sent.
type LabelNames struct{ text string } // `Labels("bug", "p1")`

// IDs selects items that match all or any of the ids, as documented for the endpoint.
func IDs(ids ...int64) IDList {
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = strconv.FormatInt(id, 10)
	}
	return IDList{"IDs(" + strings.Join(texts, ", ") + ")"}
}

// Labels selects items that have all of the labels. A blank name is rejected. So is a name with a
// comma, which cannot be sent, and, except in Not, a word that servers read as a wildcard, in any
// case of letters: none, any and no label.
func Labels(names ...string) LabelNames {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = strconv.Quote(name)
	}
	return LabelNames{"Labels(" + strings.Join(quoted, ", ") + ")"}
}

// IDs returns the ids of the list.
func (l IDList) IDs() []int64 {
	ids := []int64{}
	for text := range l.all() {
		id, _ := strconv.ParseInt(text, 10, 64) // IDs has written it
		ids = append(ids, id)
	}
	return ids
}

// String returns the list as it is written in Go: IDs(1, 2).
func (l IDList) String() string { return l.text }

// all ranges over the ids in decimal.
func (l IDList) all() iter.Seq[string] {
	return func(yield func(string) bool) {
		rest := strings.TrimSuffix(strings.TrimPrefix(l.text, "IDs("), ")")
		if rest == "" {
			return
		}
		for text := range strings.SplitSeq(rest, ", ") {
			if !yield(text) {
				return
			}
		}
	}
}

// Names returns the names.
func (l LabelNames) Names() []string {
	names := []string{}
	for name := range l.all() {
		names = append(names, name)
	}
	return names
}

// String returns the names as they are written in Go: Labels("bug", "p1").
func (l LabelNames) String() string { return l.text }

// all ranges over the names.
func (l LabelNames) all() iter.Seq[string] {
	return func(yield func(string) bool) {
		rest := strings.TrimPrefix(l.text, "Labels(")
		for {
			quoted, err := strconv.QuotedPrefix(rest)
			if err != nil { // the end
				return
			}
			rest = strings.TrimPrefix(rest[len(quoted):], ", ")
			if name, _ := strconv.Unquote(quoted); !yield(name) {
				return
			}
		}
	}
}

func (wildcard) useIDOrNoneOrAny()                     {}
func (wildcard) useIDsOrNoneOrAny()                    {}
func (wildcard) useNumberOrNoneOrAny()                 {}
func (wildcard) useTextOrNoneOrAny()                   {}
func (wildcard) useLabelsOrNoneOrAny()                 {}
func (wildcard) useUpcomingOrStartedOrNoneOrAny()      {}
func (milestoneTime) useUpcomingOrStartedOrNoneOrAny() {}
func (ID) useIDOrNoneOrAny()                           {}
func (IDList) useIDsOrNoneOrAny()                      {}
func (Number) useNumberOrNoneOrAny()                   {}
func (Text) useTextOrNoneOrAny()                       {}
func (LabelNames) useLabelsOrNoneOrAny()               {}

func (word wildcard) encode(w *queryWriter, key string) error { return w.one(key, string(word)) }

func (m milestoneTime) encode(w *queryWriter, key string) error {
	return w.one(key, string(m))
}

func (id ID) encode(w *queryWriter, key string) error {
	return w.one(key, strconv.FormatInt(int64(id), 10))
}

func (id ID) refusal() string { return refusedID(int64(id)) }

func (n Number) encode(w *queryWriter, key string) error {
	return w.one(key, strconv.FormatInt(int64(n), 10))
}

func (t Text) encode(w *queryWriter, key string) error { return w.one(key, string(t)) }

func (t Text) refusal() string {
	if strings.TrimSpace(string(t)) == "" {
		return "the text is blank: leave the filter nil, or use None"
	}
	return refusedWord(string(t))
}

// EncodeValues writes key[] once for each id.
func (l IDList) EncodeValues(key string, v *url.Values) error {
	return l.encode(&queryWriter{values: *v}, key)
}

func (l IDList) encode(w *queryWriter, key string) error {
	key += "[]"
	empty := true
	for text := range l.all() {
		w.values.Add(key, text)
		empty = false
	}
	if empty {
		w.set(key, "")
	}
	return nil
}

func (l IDList) refusal() string {
	for _, id := range l.IDs() {
		if reason := refusedID(id); reason != "" {
			return reason
		}
	}
	for range l.all() {
		return ""
	}
	return "no ids: leave the filter nil, or use None"
}

// EncodeValues writes the names, joined by commas. It rejects a name with a comma, which would be
// two names.
func (l LabelNames) EncodeValues(key string, v *url.Values) error {
	if err := l.encode(&queryWriter{values: *v}, key); err != nil {
		return &ValidationError{Param: key, Reason: err.Error()}
	}
	return nil
}

func (l LabelNames) encode(w *queryWriter, key string) error {
	names := l.Names()
	for _, name := range names {
		if strings.Contains(name, ",") {
			return errors.New("label " + strconv.Quote(name) + " has a comma, which separates labels on the wire")
		}
	}
	return w.one(key, strings.Join(names, ","))
}

func (l LabelNames) refusal() string {
	reason := "no labels: leave the filter nil, or use None"
	for name := range l.all() {
		if reason = refusedLabel(name); reason != "" {
			break
		}
	}
	return reason
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
	if err := h.encode(&queryWriter{values: *v}, key); err != nil {
		return &ValidationError{Param: key, Reason: err.Error()}
	}
	return nil
}

func (h Hash) encode(w *queryWriter, key string) error {
	for name, value := range h {
		if name == "" || strings.ContainsAny(name, "[]") {
			return errors.New("the key " + strconv.Quote(name) + " is empty or has brackets")
		}
		w.set(key+"["+name+"]", value)
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
