package forgetest

import (
	"net/http"
	"slices"
	"strings"
)

// Which parameters a list takes, and which words, is the catalogue's. What follows from its rows
// without being written in them is added here, once, when the catalogue is read.

// deployedParams are parameters that deployed servers take on a list although the documents do not
// have them there.
type deployedParams struct {
	Own    []parameter `json:"own"`
	From   string      `json:"from"` // the route that documents those below
	Params []string    `json:"params"`
	Not    []string    `json:"not"` // keys of the hash not
}

// completeLists adds to the parameters of lists what deployed servers take, and to the keys of
// hashes what the rows of the same name say.
func (c *contract) completeLists() {
	var deployed map[string]deployedParams
	parse("catalogue/deployed_params.json", &deployed)
	for route, more := range deployed {
		e, from := c.endpoints[route], c.endpoints[more.From]
		e.QueryParams = append(e.QueryParams, more.Own...)
		for _, name := range more.Params {
			e.QueryParams = append(e.QueryParams, *find(from.QueryParams, name))
		}
		for _, name := range more.Not {
			not := find(e.QueryParams, "not")
			not.Keys = append(not.Keys, *find(find(from.QueryParams, "not").Keys, name))
		}
	}
	for _, e := range c.endpoints {
		e.complete()
	}
}

func find(params []parameter, name string) *parameter {
	i := slices.IndexFunc(params, func(p parameter) bool { return p.Name == name })
	if i < 0 {
		return nil
	}
	return &params[i]
}

// complete holds the interpretations of document 2 §4.1.1 and §4.2.1 that concern values:
//
//   - milestone_id takes its words and no other text, which the deployed server refuses.
//   - A key of not has the tier and the exclusions of the parameter of its name. It takes no words:
//     its row has none, so None is a text like any other, and no id. Only milestone_id, which is
//     nothing but words, keeps them.
//   - In not, an id and a username of the same person exclude each other wherever both are keys.
func (e *endpoint) complete() {
	if p := find(e.QueryParams, "milestone_id"); p != nil {
		p.Enum = p.Special
	}
	for _, p := range e.QueryParams {
		for _, name := range p.ExclusiveWith {
			if other := find(e.QueryParams, name); !slices.Contains(other.ExclusiveWith, p.Name) {
				other.ExclusiveWith = append(slices.Clone(other.ExclusiveWith), p.Name)
			}
		}
	}
	not := find(e.QueryParams, "not")
	if not == nil {
		return
	}
	for i := range not.Keys {
		key := &not.Keys[i]
		row := find(e.QueryParams, key.Name)
		if row == nil {
			row = new(parameter)
		}
		key.Only, key.Enum, key.Separator = row.Only, row.Enum, row.Separator
		if key.Name == "milestone_id" {
			key.Special = row.Special
		}
		for _, other := range not.Keys {
			if slices.Contains(row.ExclusiveWith, other.Name) || samePerson(key.Name, other.Name) {
				key.ExclusiveWith = append(key.ExclusiveWith, other.bare())
			}
		}
	}
}

func samePerson(a, b string) bool {
	id, isID := strings.CutSuffix(a, "_id")
	name, isName := strings.CutSuffix(b, "_username")
	return isID && isName && id == name || strings.HasSuffix(b, "_id") && strings.HasSuffix(a, "_username") && samePerson(b, a)
}

// bare is the wire name without the mark of an array.
func (p parameter) bare() string { return strings.TrimSuffix(p.Wire, "[]") }

// covers reports whether a wire name is one of the parameter.
func (p parameter) covers(wire string) bool {
	if len(p.Keys) > 0 {
		return slices.ContainsFunc(p.Keys, func(key parameter) bool { return key.covers(wire) })
	}
	if hash, open := strings.CutSuffix(p.Wire, "<key>]"); open {
		return strings.HasPrefix(wire, hash)
	}
	return wire == p.Wire || wire == p.bare()
}

// dropUnknown forgets the parameters of a read that the endpoint does not document: the platform
// ignores them. Pagination and sudo are parameters of all calls (document 1 §5 and §8.1).
func (c *call) dropUnknown() {
	e := c.route.endpoint
	if e.Method != http.MethodGet || e.Base != "api" {
		return
	}
	for wire := range c.params {
		switch wire {
		case "page", "per_page", "pagination", "order_by", "sort", "cursor", "page_token", "sudo":
			continue
		}
		if !slices.ContainsFunc(e.QueryParams, func(p parameter) bool { return p.covers(wire) && !c.removed(p) }) {
			delete(c.params, wire)
		}
	}
}

// removed reports whether the release no longer has a parameter.
func (c *call) removed(p parameter) bool { return p.Removed != release{} && c.release.has(p.Removed) }

// permits reports whether a value is one of those that a row lists. A row that lists two values
// joined by a comma takes each of them and both, in any order.
func (p parameter) permits(value string) bool {
	if slices.Contains(p.Enum, value) {
		return true
	}
	joined := slices.ContainsFunc(p.Enum, func(s string) bool { return strings.Contains(s, ",") })
	return joined && !slices.ContainsFunc(strings.Split(value, ","), func(part string) bool { return !slices.Contains(p.Enum, part) })
}

// values are the values of a parameter, one by one.
func (c *call) values(p parameter) (values []string) {
	for _, value := range c.list(p.Wire) {
		if p.Separator != "" {
			values = append(values, strings.Split(value, p.Separator)...)
			continue
		}
		values = append(values, value)
	}
	return slices.DeleteFunc(values, func(v string) bool { return v == "" })
}

// wordOf is the word of a value at this release: health_status has its words since 15.5, and before
// they are texts as all others (document 2 §4.1.1).
func (c *call) wordOf(p parameter, value string) string {
	if p.Name == "health_status" && !c.release.has(release{15, 5}) {
		return ""
	}
	return p.word(value)
}

// word is the word that a value is to a parameter, in lower case; "" for a value that is none.
// Words may be written in any case of letters (document 2 §4.1.1 says so of labels; of the others
// it is an interpretation).
func (p parameter) word(value string) string {
	if slices.ContainsFunc(p.Special, func(s string) bool { return strings.EqualFold(s, value) }) {
		return strings.ToLower(value)
	}
	for _, old := range p.SpecialOld { // No+Label
		if strings.EqualFold(strings.ReplaceAll(old, "+", " "), value) {
			return "none"
		}
	}
	return ""
}
