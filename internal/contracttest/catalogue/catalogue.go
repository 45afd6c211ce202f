// Package catalogue reads testdata/spec, the machine-readable form of the contract, for tests. It
// does not import the client, so that tests inside the client's package can use it too. Paths are
// relative to the module's root.
package catalogue

import (
	"cmp"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
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
	Allowed          []any    // one of these values is required
	Format           string
	WireSpecial      string `json:"wire_special"`
}

// Endpoint is an endpoint with its complete wire form.
type Endpoint struct {
	ID, Service, Status string
	Method, Base, Path  string
	PathParams          []Param `json:"path_params"`
	Query               []Param `json:"query_params"`
	Body                []Param `json:"body_params"`
	Headers             []struct{ Name, Value string }
	Kinds               []Kind // of integrations
	Only                struct {
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
		Keyset bool
		Order  *struct {
			OrderBy []string `json:"order_by"`
			Sort    []string
		} `json:"keyset_order"`
	}
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

// Endpoints returns the documented endpoints of the catalogue by id.
func Endpoints(t *testing.T) map[string]Endpoint {
	t.Helper()
	var list []Endpoint
	require.NoError(t, json.Unmarshal(Fixture(t, "spec/endpoints.json"), &list))
	endpoints := map[string]Endpoint{}
	for _, e := range list {
		if e.Status == "documented" {
			endpoints[e.ID] = e
		}
	}
	return endpoints
}

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

// Kinds returns the kinds of integrations.
func Kinds(t *testing.T) []Kind {
	t.Helper()
	return Endpoints(t)["integrations.set"].Kinds
}

// JSONFields returns the types of the fields of a struct by their JSON names.
func JSONFields(t reflect.Type) map[string]reflect.Type {
	fields := map[string]reflect.Type{}
	for field := range t.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if field.Anonymous && name == "" {
			maps.Copy(fields, JSONFields(field.Type))
		} else if name != "" && name != "-" {
			fields[name] = field.Type
		}
	}
	return fields
}

// UnnamedSettings returns the settings that the contract describes without a name, sorted.
func UnnamedSettings() []string {
	return []string{"diagramsnet_enabled", "diagramsnet_url", "jira_connect_additional_audience_url", "jira_connect_application_key", "jira_connect_proxy_url",
		"jira_connect_public_key_storage_enabled", "kroki_enabled", "kroki_url", "plantuml_enabled", "plantuml_url"}
}

// SettingDependencies returns the settings that a condition or a deprecation of the contract names,
// but not its list of parameters.
func SettingDependencies() []string {
	return []string{"delete_unconfirmed_users", "enforce_terms", "password_authentication_enabled_for_web", "require_two_factor_authentication"}
}

// ShownName returns the JSON name of a field that the catalogue lists under a placeholder.
func ShownName(name string) string {
	switch name {
	case "<issue_tracker_connect: application key>":
		return "jira_connect_application_key"
	case "<issue_tracker_connect: public-key-storage flag>":
		return "jira_connect_public_key_storage_enabled"
	case "<issue_tracker_connect: proxy URL>":
		return "jira_connect_proxy_url"
	case "<issue_tracker_connect: additional audience URL>":
		return "jira_connect_additional_audience_url"
	}
	return strings.NewReplacer("<diagram1>", "plantuml", "<diagram2>", "diagramsnet", "<diagram3>", "kroki").Replace(name)
}

// SettingFacts describes a setting according to one part of the contract.
type SettingFacts struct {
	Name, Type   string
	Nullable     bool
	Only         *struct{ Tiers []string }
	Requires     []string        // settings that are required if this one is true
	RequiredWhen string          `json:"required_when"` // the setting that requires this one
	Needs        map[string]bool // values of other settings without which this one has no effect
	Deprecated   struct{ Use string }
}

// Setting is a setting in responses, in the update, or in both. If both are nil, only a condition
// names it.
type Setting struct{ Field, Param *SettingFacts }

// Settings returns all settings of the contract, by the names of this package.
func Settings(t *testing.T) map[string]Setting {
	t.Helper()
	var types map[string]struct{ Fields []*SettingFacts }
	require.NoError(t, json.Unmarshal(Fixture(t, "spec/types.json"), &types))
	var endpoints []struct {
		ID   string
		Body []*SettingFacts `json:"body_params"`
	}
	require.NoError(t, json.Unmarshal(Fixture(t, "spec/endpoints.json"), &endpoints))
	entries := map[string]Setting{}
	for _, field := range types["ApplicationSettings"].Fields {
		entries[ShownName(field.Name)] = Setting{Field: field}
	}
	for _, e := range endpoints {
		if e.ID == "settings.update" {
			for _, param := range e.Body {
				entries[param.Name] = Setting{entries[param.Name].Field, param}
			}
		}
	}
	for _, name := range SettingDependencies() {
		entries[name] = Setting{entries[name].Field, entries[name].Param}
	}
	return entries
}

// Fixture returns the content of a file below testdata.
func Fixture(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	return data
}

// WithoutZeros removes values that decode to zero, and normalizes the two forms of labels and the
// line breaks of Base64.
func WithoutZeros(key string, value any) any {
	switch v := value.(type) {
	case map[string]any:
		members := map[string]any{}
		for name, member := range v {
			if member = WithoutZeros(name, member); member != nil {
				members[name] = member
			}
		}
		if len(members) > 0 {
			return members
		}
		return nil
	case []any:
		var items []any
		for _, item := range v {
			if name, isName := item.(string); isName && key == "labels" {
				item = map[string]any{"name": name}
			}
			items = append(items, WithoutZeros("", item))
		}
		if len(items) > 0 {
			return items
		}
		return nil
	case string:
		if key == "content" {
			v = strings.ReplaceAll(v, "\n", "")
		}
		if v == "" || v == "0001-01-01T00:00:00Z" {
			return nil
		}
		return v
	case nil:
		return nil
	}
	if reflect.ValueOf(value).IsZero() {
		return nil
	}
	return value
}

// GoName returns the path of the Go fields for a wire name such as not[milestone] or iids[];
// without such a field, it returns the wire name.
func GoName(t reflect.Type, wire string) string {
	first, inner, nested := strings.Cut(strings.TrimSuffix(wire, "[]"), "[")
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return wire
	}
	for field := range t.Fields() {
		name, _, _ := strings.Cut(cmp.Or(field.Tag.Get("url"), field.Tag.Get("json")), ",")
		switch {
		case name != first:
		case nested:
			return field.Name + "." + GoName(field.Type, strings.Replace(inner, "]", "", 1))
		default:
			return field.Name
		}
	}
	return wire
}

// Service returns the field of a client that has the type of a service; nil if there is none.
func Service(client any, service reflect.Type) any {
	for field, value := range reflect.ValueOf(client).Elem().Fields() {
		if field.Type == service {
			return value.Interface()
		}
	}
	return nil
}

// BadSegments are arguments that a server, or a proxy in front of it, would read as another address
// than the caller intended.
var BadSegments = []string{
	"", " ", "\t", "\u00a0 ", ".", "..", "../b", "a/..", "a/../b", "a/./b", "./a", "%2e%2e", "%2E%2E", "%2e", ".%2e", "%2E.", "%2E/",
	"a/%2e%2e/b", "a%2F..%2Fb", "a%2f%2e%2e%2fb", "%2f", "a%2F", "%2Fa", "a%2f%2fb", "a\x00b", "a%00b", "a\nb", "a\rb", "a%0d%0ab", "a\x7fb",
	"a%7fb", "a\u0085b", "\xff", "a\xc3", "a//b", "/a", "a/", "/", "//", "a/b/", strings.Repeat("a", 2<<10+1),
}
