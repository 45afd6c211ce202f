package forge

import (
	"cmp"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// complete are the services that have a method for every route of theirs. An engineer who finishes a service adds it.
var complete = []string{
	"approval_settings", "audit_events", "emails", "integrations", "issues", "merge_requests", "namespaces",
	"placeholder_reassignments", "registry", "registry_native", "repositories", "resource_groups", "runners", "secure_files", "settings", "users",
}

// withoutMethod are the routes of complete services that are reached by the method of another route.
var withoutMethod = []string{}

// The route literals of the services, the route table and the catalogue say the same.
func TestRoutes(t *testing.T) {
	assert.True(t, slices.IsSortedFunc(routes, func(a, b route) int {
		return cmp.Or(strings.Compare(a.template, b.template), strings.Compare(a.method, b.method))
	}), "the table is not sorted")
	want := catalogueRoutes(t)
	rows := map[string]bool{}
	for _, r := range routes {
		name := r.method + " " + r.template
		assert.False(t, rows[name], "%s is in the table twice", name)
		rows[name] = true
		if documented, ok := want[name]; assert.True(t, ok, "%s is not in the catalogue", name) {
			assert.Equal(t, documented, r)
		}
		found, ok := findRoute(r.method, r.template)
		assert.True(t, ok && found.method == r.method && found.template == r.template, "%s is not found", name)
	}
	for name := range want {
		assert.True(t, rows[name], "%s is documented and not in the table", name)
	}
	used := routeLiterals(t)
	for name, at := range used {
		assert.True(t, rows[name], "%s: %s is not in the table", at, name)
	}
	for _, r := range routes {
		name := r.method + " " + r.template
		if slices.Contains(complete, r.service) && !slices.Contains(withoutMethod, name) {
			assert.NotEmpty(t, used[name], "%s has no method", name)
		}
	}
}

// The table's conclusions that the catalogue does not spell out.
func TestRouteClasses(t *testing.T) {
	for _, r := range routes {
		last := r.template[strings.LastIndex(r.template, "/")+1:]
		want := repeatable
		switch r.method {
		case http.MethodGet:
			want = safe
		case http.MethodPost:
			if !slices.Contains([]string{"subscribe", "unsubscribe", "todo", "time_estimate", "reset_time_estimate", "reset_spent_time"}, last) {
				want = once
			}
		case http.MethodDelete:
			if r.template == "/projects/:id/registry/repositories/:repository_id/tags" {
				want = once // allowed once an hour
			}
		}
		assert.Equal(t, want, r.class, "%s %s is %s", r.method, r.template, r.class)
	}
	assert.Equal(t, []string{"safe", "repeatable", "once"}, []string{safe.String(), repeatable.String(), once.String()})
	for method, want := range map[string]class{"GET": safe, "HEAD": safe, "PUT": repeatable, "DELETE": repeatable, "POST": once, "PATCH": once} {
		assert.Equal(t, want, undocumentedRoute(method, "/x").class, method)
	}
}

// catalogueRoute is what the route table takes from the catalogue.
type catalogueRoute struct {
	Service, Status, Method, Path, Base string
	Ref                                 struct {
		Doc     int
		Section string
	}
	Deprecated *struct{ Since, Use string }
	Only       *struct {
		Tiers, Offerings []string
		Introduced       string
		FeatureFlag      string `json:"feature_flag"`
	}
	Auth struct {
		Schemes   []string
		Anonymous string
	}
	Pagination struct {
		Offset, Keyset bool
		KeysetOrder    *struct {
			OrderBy []string `json:"order_by"`
			Sort    []string
		} `json:"keyset_order"`
	}
	Rules []struct {
		Kind, Text, Limit string
		Offerings         []string
	}
	Query []struct {
		Name    string
		Default any
	} `json:"query_params"`
}

// defaultFirst lists the values of a keyset ordering, what the server takes unless told otherwise in front.
func (e *catalogueRoute) defaultFirst(param string, values []string) string {
	standard := ""
	for _, p := range e.Query {
		if text, ok := p.Default.(string); ok && p.Name == param {
			standard = text
		}
	}
	values = slices.Clone(values)
	if i := slices.Index(values, standard); i > 0 {
		values = slices.Insert(slices.Delete(values, i, i+1), 0, standard)
	}
	return strings.Join(values, ",")
}

func catalogueRoutes(t *testing.T) map[string]route {
	t.Helper()
	var endpoints []catalogueRoute
	require.NoError(t, json.Unmarshal(readFixture(t, "spec/endpoints.json"), &endpoints))
	all := map[string]route{}
	for _, e := range endpoints {
		if e.Status == "documented" {
			all[e.Method+" "+e.Path] = e.route()
		}
	}
	require.Len(t, all, 94)
	return all
}

// budget is the rate limit that the catalogue gives to the endpoint.
func (e *catalogueRoute) budget() budget {
	for _, rule := range e.Rules {
		switch {
		case rule.Limit == "": // a rule without one says that another row has it
			continue
		case e.Method == http.MethodDelete:
			return deletionBudget
		case strings.Contains(e.Path, "archive"):
			return archiveBudget
		default:
			return blobBudget
		}
	}
	return noBudget
}

func (e *catalogueRoute) hasRule(kind string) bool {
	for _, rule := range e.Rules {
		if rule.Kind == kind {
			return true
		}
	}
	return false
}

func (e *catalogueRoute) route() route {
	r := route{
		method: e.Method, template: e.Path, service: e.Service,
		section:   "Document " + strconv.Itoa(e.Ref.Doc) + " §" + e.Ref.Section,
		base:      map[string]base{"api": apiBase, "registry": registryBase, "auth": authBase}[e.Base],
		jobToken:  slices.Contains(e.Auth.Schemes, "job_token"),
		anonymous: slices.Contains([]string{"when_public", "implied_when_public", "implied"}, e.Auth.Anonymous),
		budget:    e.budget(),
		html:      strings.HasSuffix(e.Path, "/raw"), // the file's own content
		// Deployed servers send a 304 for every no-op, those that the documents give no status included.
		notModified: e.hasRule("no_op"),
	}
	if found, ok := findRoute(e.Method, e.Path); ok {
		r.class = found.class // TestRouteClasses
	}
	if e.Pagination.Offset {
		r.paging = offset
	}
	if e.Pagination.Keyset {
		r.paging = keyset
		if order := e.Pagination.KeysetOrder; order != nil {
			r.orders, r.sorts = e.defaultFirst("order_by", order.OrderBy), e.defaultFirst("sort", order.Sort)
		}
	}
	if e.Deprecated != nil {
		r.deprecated = "since " + e.Deprecated.Since + "; use " + e.Deprecated.Use
	}
	if e.Only != nil {
		if e.Only.Tiers != nil {
			r.tier = "Premium or Ultimate"
		}
		if e.Only.Offerings != nil {
			r.offering = "self-managed or dedicated"
		}
		r.release = e.Only.Introduced
	}
	return r
}

// routeLiterals finds the routes that the package's files give to get, post, put, delete and request, and where.
func routeLiterals(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	used := map[string]string{}
	set := token.NewFileSet()
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(set, name, nil, 0)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				if method, template, ok := routeOf(call); ok {
					used[method+" "+template] = set.Position(call.Pos()).String()
				}
			}
			return true
		})
	}
	return used
}

// routeOf reads s.get("/template", ...) and s.request(http.MethodPut, "/template", ...).
func routeOf(call *ast.CallExpr) (method, template string, ok bool) {
	f, isSelector := call.Fun.(*ast.SelectorExpr)
	if !isSelector || len(call.Args) == 0 {
		return "", "", false
	}
	argument := call.Args[0]
	switch f.Sel.Name {
	case "get", "post", "put", "delete":
		method = strings.ToUpper(f.Sel.Name)
	case "request":
		if len(call.Args) < 2 {
			return "", "", false
		}
		verb, isVerb := call.Args[0].(*ast.SelectorExpr)
		if !isVerb {
			return "", "", false
		}
		method, argument = strings.ToUpper(strings.TrimPrefix(verb.Sel.Name, "Method")), call.Args[1]
	default:
		return "", "", false
	}
	literal, isLiteral := argument.(*ast.BasicLit)
	if !isLiteral || literal.Kind != token.STRING {
		return "", "", false
	}
	template, err := strconv.Unquote(literal.Value)
	return method, template, err == nil && strings.HasPrefix(template, "/")
}
