package forgetest

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	embedded "github.com/forge-sdk/forge-go/internal/catalogue"
)

// catalogue is the contract, parsed on first use.
var catalogue = sync.OnceValue(loadCatalogue)

type contract struct {
	shapes    map[string]*shape
	endpoints map[string]*endpoint // by route: "GET /issues"
}

// shape is the ordered field list of one type of the contract.
type shape struct {
	name   string
	fields []*field
	index  map[string]int
}

type field struct {
	Name       string        `json:"name"`
	Type       string        `json:"type"`
	Format     string        `json:"format"`
	Ref        string        `json:"ref"`
	Nullable   bool          `json:"nullable"`
	Views      []string      `json:"views"`
	Only       *availability `json:"only"`
	Deprecated *struct{}     `json:"deprecated"`
	Items      *itemType     `json:"items"`  // of an array
	Values     *itemType     `json:"values"` // of a hash

	view  string // of the document in the field
	blank bool   // a text field of requests only; it may be null
}

// itemType is the type of the items of an array or a hash.
type itemType struct {
	Type string `json:"type"`
	Ref  string `json:"ref"`
}

type endpoint struct {
	ID     string        `json:"id"`
	Status string        `json:"status"`
	Method string        `json:"method"`
	SameAs string        `json:"same_wire_as"` // id of the endpoint with the same request line
	Base   string        `json:"base"`
	Path   string        `json:"path"`
	Only   *availability `json:"only"`
	Auth   struct {
		Schemes   []string `json:"schemes"`
		Scope     string   `json:"token_scope"`
		Anonymous string   `json:"anonymous"`
		Who       string   `json:"who"`
	} `json:"auth"`
	PathParams  []parameter `json:"path_params"`
	QueryParams []parameter `json:"query_params"`
	BodyParams  []parameter `json:"body_params"`
	Response    struct {
		Kind   string   `json:"kind"`
		Type   string   `json:"type"`
		Status []int    `json:"status"`
		Views  []string `json:"views"`
	} `json:"response"`
	Pagination struct {
		Offset bool          `json:"offset"`
		Keyset bool          `json:"keyset"`
		Only   *availability `json:"keyset_only"` // the platform that has keyset pagination
		Who    string        `json:"keyset_who"`  // "authenticated" or "both"
		Order  *keysetOrder  `json:"keyset_order"`
	} `json:"pagination"`
	Kinds []*integrationKind `json:"kinds"` // of integrations.set

	needsOne bool // since newest, a call without any parameter of the body is 400
}

// keysetOrder has the values that keyset pagination accepts.
type keysetOrder struct {
	OrderBy []string `json:"order_by"`
	Sort    []string `json:"sort"`
}

type parameter struct {
	Name          string             `json:"name"`
	Wire          string             `json:"wire"`
	Type          string             `json:"type"`
	Enum          []string           `json:"enum"`
	EnumSince     map[string]release `json:"enum_notes"`         // values that were added later
	Special       []string           `json:"special"`            // values in addition to the type
	SpecialOld    []string           `json:"special_deprecated"` // as a query writes them: No+Label
	Separator     string             `json:"separator"`          // between several values in one text
	Removed       release            `json:"removed"`            // the release that removed it
	Required      bool               `json:"required"`
	RequiredWhen  string             `json:"required_when"` // a parameter that is true
	Requires      []string           `json:"requires"`
	UsedWith      []string           `json:"used_with"`
	Allowed       []bool             `json:"allowed"`
	Only          *availability      `json:"only"`
	ExclusiveWith []string           `json:"exclusive_with"`
	Default       any                `json:"default"`
	Min           *int64             `json:"min"`
	Max           *int64             `json:"max"`
	MaxLength     int                `json:"max_length"` // characters
	MaxItems      int                `json:"max_items"`
	ItemEnum      []string           `json:"item_enum"`
	Format        string             `json:"format"`
	Needs         map[string]bool    `json:"needs"` // required values of other parameters
	Deprecated    *struct {
		Use   string `json:"use"`
		Alias bool   `json:"alias"` // the old name is accepted, too
	} `json:"deprecated"`
	MinText   string      `json:"min_text"`             // the minimum age
	Overrides string      `json:"overrides_channel_of"` // the event whose webhook this channel replaces
	Keys      []parameter `json:"keys"`
}

func (e *endpoint) accepts(scheme string) bool { return slices.Contains(e.Auth.Schemes, scheme) }

// views returns the view of the endpoint's responses, if their type has views.
func (e *endpoint) views() []string { return e.Response.Views[:min(1, len(e.Response.Views))] }

func loadCatalogue() *contract {
	var endpoints []*endpoint
	var reading sync.WaitGroup // both halves take as long
	reading.Go(func() { endpoints = embedded.Rows[*endpoint]() })
	types, deployed := embedded.Types[struct{ Fields []*field }](), embedded.Fields[*field]()
	reading.Wait()

	c := &contract{shapes: make(map[string]*shape, len(types)), endpoints: make(map[string]*endpoint, len(endpoints))}
	for name, t := range types {
		s := &shape{name: name, index: map[string]int{}}
		s.add(t.Fields)
		s.add(deployed[name])
		c.shapes[name] = s
	}
	c.addLaterFields()
	c.extend("MergeRequestChanges", "MergeRequest")
	locked := c.shapes["UserSummary"]
	locked.fields[locked.index["locked"]].Views = []string{dependency} // as its "only" says
	for _, e := range endpoints {
		if e.Status != "not shown" {
			c.endpoints[e.Method+" "+e.Path] = e
		}
	}
	c.completeLists()
	c.widen("ApplicationSettings", c.endpoints["PUT /application/settings"].BodyParams)
	return c
}

// widen adds a field for each parameter of a call that the type lacks, so that reads show what was
// written. A restriction applies to the parameter and the field. No field has a stricter one than
// its parameter.
func (c *contract) widen(name string, params []parameter) {
	s := c.shapes[name]
	for n, p := range params {
		if i, known := s.index[p.Name]; known {
			params[n].Only = cmp.Or(p.Only, s.fields[i].Only)
			s.fields[i].Only = params[n].Only
			continue
		}
		kind, items, _ := strings.Cut(strings.TrimSuffix(p.Type, ">"), "<")
		f := &field{Name: p.Name, Type: kind, Only: p.Only}
		if kind == "array" {
			f.Items = &itemType{Type: items}
		}
		f.Nullable = kind == "integer" && strings.HasSuffix(p.Name, "runner_token_expiration_interval") // null means that tokens never expire
		f.blank = kind == "string" && p.Enum == nil && p.Name != "signin_enabled"
		s.index[p.Name] = len(s.fields)
		s.fields = append(s.fields, f)
	}
}

// add appends fields. A field that already exists gets the new type if the documents do not show
// its type.
func (s *shape) add(fields []*field) {
	for _, f := range fields {
		if i, found := s.index[f.Name]; found {
			s.fields[i].Type = f.Type
			continue
		}
		s.index[f.Name] = len(s.fields)
		s.fields = append(s.fields, f)
	}
}

// extend adds the fields of another type: responses of the deployed server have the fields of both
// types.
func (c *contract) extend(name, with string) {
	s, own := c.shapes[name], c.shapes[name].fields
	s.fields = append(slices.Clone(c.shapes[with].fields), own...)
	for i, f := range s.fields {
		s.index[f.Name] = i
	}
}
