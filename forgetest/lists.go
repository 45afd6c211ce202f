package forgetest

import (
	"net/http"
	"slices"
	"strings"

	embedded "github.com/forge-sdk/forge-go/internal/catalogue"
)

// The catalogue has the parameters and keywords of each list. This file adds facts that follow from
// its rows but are not in them, once, when the catalogue is read.

// completeLists adds to each list the parameters that deployed servers accept, and to the keys of
// hashes the facts of the rows of the same name.
func (c *contract) completeLists() {
	byID := map[string]*endpoint{}
	for _, e := range c.endpoints {
		byID[e.ID] = e
	}
	for id, more := range embedded.Parameters[parameter]() {
		e, from := byID[id], byID[more.From]
		e.QueryParams = append(e.QueryParams, more.Own...)
		for _, name := range more.Query {
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
	c.addLaterParameters()
}

func find(params []parameter, name string) *parameter {
	i := slices.IndexFunc(params, func(p parameter) bool { return p.Name == name })
	if i < 0 {
		return nil
	}
	return &params[i]
}

// complete adds the interpretations of Document 2 §4.1.1 and §4.2.1 about values:
//
//   - milestone_id accepts its keywords and no other text, like the deployed server.
//   - A key of not has the tier and the exclusions of the parameter of its name. It has no
//     keywords, since its row has none: None is an ordinary text, and invalid as an id. Only
//     milestone_id, whose values are all keywords, keeps them. Two keys exclude each other exactly
//     if the rows do: not takes both assignee keys of merge requests, whose lists document no
//     assignee_username.
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
			if slices.Contains(row.ExclusiveWith, other.Name) {
				key.ExclusiveWith = append(key.ExclusiveWith, other.baseName())
			}
		}
	}
}

// baseName returns the wire name without the brackets of an array.
func (p parameter) baseName() string { return strings.TrimSuffix(p.Wire, "[]") }

// covers reports whether a wire name belongs to the parameter.
func (p parameter) covers(wire string) bool {
	if len(p.Keys) > 0 {
		return slices.ContainsFunc(p.Keys, func(key parameter) bool { return key.covers(wire) })
	}
	if hash, open := strings.CutSuffix(p.Wire, "<key>]"); open {
		return strings.HasPrefix(wire, hash)
	}
	return wire == p.Wire || wire == p.baseName()
}

// dropUnknown drops the parameters of a read that the endpoint does not document: the platform
// ignores them. Those of pagination are parameters of all calls (Document 1 §8.1).
func (c *call) dropUnknown() {
	e := c.route.endpoint
	if e.Method != http.MethodGet || e.Base != "api" {
		return
	}
	for wire := range c.params {
		switch wire {
		case "page", "per_page", "pagination", "order_by", "sort", "cursor", "page_token", "last":
			continue
		}
		if !slices.ContainsFunc(e.QueryParams, func(p parameter) bool { return c.knows(p, wire) }) {
			delete(c.params, wire)
		}
	}
}

// knows reports whether a wire name belongs to a parameter, or to a key of a hash, that the release
// still has.
func (c *call) knows(p parameter, wire string) bool {
	if len(p.Keys) > 0 {
		return slices.ContainsFunc(p.Keys, func(key parameter) bool { return c.knows(key, wire) })
	}
	return p.covers(wire) && (p.Removed == release{} || !c.server.release.has(p.Removed))
}

// isAllowedValue reports whether a value is one of those that a row lists. A row that lists two
// values joined by a comma allows each of them and both, in any order.
func (p parameter) isAllowedValue(value string) bool {
	if slices.Contains(p.Enum, value) {
		return true
	}
	joined := slices.ContainsFunc(p.Enum, func(s string) bool { return strings.Contains(s, ",") })
	return joined && !slices.ContainsFunc(strings.Split(value, ","), func(part string) bool { return !slices.Contains(p.Enum, part) })
}

// values returns the values of a parameter, one by one.
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

// keywordOf returns the keyword of a value at this release: health_status has keywords since 15.5;
// before, they are ordinary texts (Document 2 §4.1.1).
func (c *call) keywordOf(p parameter, value string) string {
	if p.Name == "health_status" && !c.server.release.has(release{15, 5}) {
		return ""
	}
	return p.keyword(value)
}

// keyword returns a value in lower case if it is a keyword of the parameter, or "". Case is
// ignored. Document 2 §4.1.1 states this for labels; for the other parameters it is an
// interpretation.
func (p parameter) keyword(value string) string {
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
