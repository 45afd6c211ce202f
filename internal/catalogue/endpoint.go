package catalogue

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// PageParams are the parameters of pagination, which the client sends for every list.
var PageParams = []string{"page", "per_page", "pagination"}

// Param is a parameter of the query or the body.
type Param struct {
	Name, Wire, Type string
	Enum             []any
	Keys             []Param
	Required         bool
	ExclusiveWith    []string `json:"exclusive_with"`
	Encoding         []string // of a body parameter
	Const            string
	Special          []string // words instead of a value
	Default          any
	Given            any   `json:"sample"` // the value in calls of tests, which send it even if it is not required
	Allowed          []any // one of these values is required
	Format           string
	WireSpecial      string `json:"wire_special"`
}

// Sample returns a value for a call that only has to succeed: that of its row or, if it is
// required, one that follows from its type. It returns "" for a parameter that is omitted.
func (p Param) Sample() string {
	switch {
	case p.Type == "file":
		return ""
	case p.Given != nil:
		return fmt.Sprint(p.Given)
	case !p.Required:
		return ""
	case len(p.Enum) > 0:
		return fmt.Sprint(p.Enum[0])
	case p.Type == "integer":
		return "1"
	case p.Type == "boolean":
		return "true"
	}
	return "x"
}

// Endpoint is an endpoint with its complete wire form.
type Endpoint struct {
	ID, Service, Status string
	Method, Base, Path  string
	SameAs              string `json:"same_wire_as"` // the endpoint with the same request line
	Class               string // in deployed.json: the retry class, if it does not follow from the method
	Ref                 struct {
		Doc     int
		Section string
		Page    string // in deployed.json: of GitLab's documentation, see Docs
	}
	Deprecated *struct{ Since, Use string }
	PathParams []Param `json:"path_params"`
	Query      []Param `json:"query_params"`
	Body       []Param `json:"body_params"`
	Headers    []struct{ Name, Value string }
	Kinds      []Kind // of integrations
	Rules      []Rule
	Only       struct {
		Tiers, Offerings []string
		Introduced       string
	}
	Auth struct {
		Schemes   []string
		Anonymous string
		Who       string
		Scope     string `json:"token_scope"`
	}
	Response struct {
		Type, Kind string
		Status     []int
	}
	Pagination struct {
		Offset, Keyset bool
		Order          *struct {
			OrderBy []string `json:"order_by"`
			Sort    []string
		} `json:"keyset_order"`
	}
}

// Rule is a special behaviour of an endpoint.
type Rule struct {
	Kind, Text, Limit string
	Offerings         []string
}

// Docs returns the address of the page in GitLab's documentation: that of the row, or of the
// service in pages.json.
func (e Endpoint) Docs() string {
	return "https://docs.gitlab.com/" + cmp.Or(e.Ref.Page, readPages()[e.Service]) + "/"
}

var readPages = sync.OnceValue(func() (pages map[string]string) {
	Read("pages.json", &pages)
	return pages
})

// HasRule reports whether the endpoint has a rule of the kind.
func (e Endpoint) HasRule(kind string) bool {
	return slices.ContainsFunc(e.Rules, func(r Rule) bool { return r.Kind == kind })
}

// Params returns the parameters of query and body, without those of pagination. The keys of a hash
// are listed one by one.
func (e Endpoint) Params() []Param {
	var all []Param
	for _, param := range slices.Concat(e.Query, e.Body) {
		if slices.Contains(PageParams, param.Name) {
			continue
		}
		if len(param.Keys) > 0 {
			all = append(all, param.Keys...)
			continue
		}
		all = append(all, param)
	}
	return append(all, e.orderParams(all)...)
}

// orderParams returns the order parameters that keyset pagination leaves to the caller.
func (e Endpoint) orderParams(others []Param) (all []Param) {
	if e.Pagination.Order == nil {
		return nil
	}
	for name, values := range map[string][]string{"order_by": e.Pagination.Order.OrderBy, "sort": e.Pagination.Order.Sort} {
		known := slices.ContainsFunc(others, func(p Param) bool { return p.Name == name })
		if len(values) > 1 && !known {
			param := Param{Name: name, Wire: name, Type: "string"}
			for _, value := range values {
				param.Enum = append(param.Enum, value)
			}
			all = append(all, param)
		}
	}
	return all
}

// Field is a field of a response.
type Field struct {
	Name, Type, Format, Ref string
	RefAny                  []string `json:"ref_any"`
	Items                   struct {
		Type, Ref   string
		Alternative struct{ Ref string } // another form of the items
	}
	Values   struct{ Type string } // of a map
	Nullable bool
	Enum     []any `json:"enum_seen"`
	Views    []string
	Only     *struct {
		Tiers, Offerings []string
		When, Edition    string
	}
}

// Sometimes reports whether only some views, tiers, offerings, editions or requests show the field.
func (f Field) Sometimes(views []string) bool {
	o := f.Only
	return o != nil && (len(o.Tiers)+len(o.Offerings) > 0 || o.When != "" || o.Edition != "") || len(f.Views) > 0 && len(f.Views) < len(views)
}

// Endpoints returns the endpoints of the catalogue by id. The caller owns the map.
func Endpoints() map[string]Endpoint { return maps.Clone(readEndpoints()) }

var readEndpoints = sync.OnceValue(func() map[string]Endpoint {
	var deployed struct{ Samples map[string]map[string]any }
	Read("deployed.json", &deployed)
	endpoints := map[string]Endpoint{}
	for _, e := range Rows[Endpoint]() {
		if e.Status == "not shown" {
			continue
		}
		for _, params := range [][]Param{e.Query, e.Body} {
			for i := range params {
				if sample, has := deployed.Samples[e.ID][params[i].Name]; has {
					params[i].Given = sample
				}
			}
		}
		for _, kind := range e.Kinds {
			kind.showNames()
		}
		endpoints[e.ID] = e
	}
	return endpoints
})

// All returns the parameters with those of pagination. For a hash, its keys are listed.
func (e Endpoint) All() (params []Param) {
	for _, param := range slices.Concat(e.Query, e.Body) {
		if len(param.Keys) == 0 {
			params = append(params, param)
		}
		params = append(params, param.Keys...)
	}
	return params
}

// Kind is a kind of integration.
type Kind struct {
	ID     string
	Slug   string
	Params []Param
}

// Kinds returns the kinds of integrations. Their parameters have GitLab's names, also where the
// documents have placeholders.
func Kinds() []Kind {
	return Endpoints()["integrations.set"].Kinds
}

// IntegrationWords returns GitLab's words for the placeholders of each kind, and for "slug".
var IntegrationWords = sync.OnceValue(func() map[string]map[string]string {
	var words struct{ Integrations map[string]map[string]string }
	Read("words.json", &words)
	return words.Integrations
})

// showNames replaces the placeholders of the documents by GitLab's names.
func (k Kind) showNames() {
	for i, p := range k.Params {
		if word := IntegrationWords()[k.ID][p.Name]; word != "" {
			k.Params[i].Name, k.Params[i].Wire = word, word
		}
	}
}

// Arguments returns the value of each placeholder of a path; "" if it has none. The key of a value
// is the placeholder, ":issue_iid", or it and the collection that precedes it or begins the path:
// "projects :id".
func Arguments(path string, values map[string]string) (args []string) {
	segments := strings.Split(path, "/")
	for i, name := range segments {
		if strings.HasPrefix(name, ":") {
			args = append(args, cmp.Or(values[segments[i-1]+" "+name], values[segments[1]+" "+name], values[name]))
		}
	}
	return args
}

// Fill returns the path with its arguments; other replaces those without a value. Optional parts of
// the path are omitted.
func Fill(path string, values map[string]string, other string) string {
	path, _, _ = strings.Cut(path, "[")
	segments, args := strings.Split(path, "/"), Arguments(path, values)
	for i, name := range segments {
		if strings.HasPrefix(name, ":") {
			segments[i], args = cmp.Or(args[0], other), args[1:]
		}
	}
	return strings.Join(segments, "/")
}
