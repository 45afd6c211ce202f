// Gentable writes the table of services, methods and endpoints between the two markers of
// docs/endpoints.md. It reads the methods from the service files in the current directory and the
// rest from forge.Routes. It also writes zz_parameters.go, the query parameters of each endpoint,
// from the catalogue in testdata/spec. Run go generate after adding an endpoint.
package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	forge "github.com/forge-sdk/forge-go"
)

const (
	guide = "docs/endpoints.md"

	begin = "<!-- endpoints: made by go generate -->\n"
	end   = "<!-- end of endpoints -->\n"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("gentable: ")
	rows, err := read(".")
	if err != nil {
		log.Fatal(err)
	}
	endpoints, err := os.ReadFile(guide)
	if err != nil {
		log.Fatal(err)
	}
	if endpoints, err = splice(endpoints, markdown(rows)); err != nil {
		log.Fatal(err)
	}
	parameters, err := parameterTable("testdata/spec")
	if err != nil {
		log.Fatal(err)
	}
	for name, text := range map[string][]byte{guide: endpoints, "zz_parameters.go": parameters} {
		if err := os.WriteFile(name, text, 0o644); err != nil {
			log.Fatal(err)
		}
	}
}

// row is a method and the endpoint it calls.
type row struct {
	service, method string
	route           forge.Route
}

// read returns the methods in the package's files, in the order of the services in Client and of
// the methods in their files.
func read(dir string) ([]row, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	var services []string
	found := map[string][]row{}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, decl := range file.Decls {
			switch d := decl.(type) {
			case *ast.GenDecl:
				services = append(services, clientFields(d)...)
			case *ast.FuncDecl:
				if r, ok := method(d); ok {
					found[r.service] = append(found[r.service], r)
				}
			}
		}
	}
	var rows []row
	for _, service := range services {
		rows = append(rows, found[service]...)
	}
	return rows, nil
}

// clientFields returns the exported fields of type Client, which are the services.
func clientFields(d *ast.GenDecl) (names []string) {
	for _, spec := range d.Specs {
		t, ok := spec.(*ast.TypeSpec)
		if !ok || t.Name.Name != "Client" {
			continue
		}
		fields, ok := t.Type.(*ast.StructType)
		if !ok {
			continue
		}
		for _, f := range fields.Fields.List {
			for _, name := range f.Names {
				if name.IsExported() {
					names = append(names, name.Name)
				}
			}
		}
	}
	return names
}

// method returns the service and the route of a method that sends a request. Waiters use the
// endpoints of other methods.
func method(d *ast.FuncDecl) (r row, ok bool) {
	if d.Recv == nil || !d.Name.IsExported() || strings.HasPrefix(d.Name.Name, "Wait") {
		return r, false
	}
	star, isPointer := d.Recv.List[0].Type.(*ast.StarExpr)
	if !isPointer {
		return r, false
	}
	receiver, isName := star.X.(*ast.Ident)
	if !isName {
		return r, false
	}
	r.service, ok = strings.CutSuffix(receiver.Name, "Service")
	r.method = d.Name.Name
	if !ok {
		return r, false
	}
	ok = false
	ast.Inspect(d.Body, func(n ast.Node) bool {
		if verb, template, isRequest := request(n); isRequest && !ok {
			r.route, ok = find(verb, template)
		}
		return true
	})
	return r, ok
}

// request recognises s.newGet("/route", ...) and similar calls.
func request(n ast.Node) (verb, template string, ok bool) {
	call, isCall := n.(*ast.CallExpr)
	if !isCall || len(call.Args) == 0 {
		return "", "", false
	}
	selector, isSelector := call.Fun.(*ast.SelectorExpr)
	literal, isLiteral := call.Args[0].(*ast.BasicLit)
	if !isSelector || !isLiteral || literal.Kind != token.STRING {
		return "", "", false
	}
	template, err := strconv.Unquote(literal.Value)
	return strings.ToUpper(strings.TrimPrefix(selector.Sel.Name, "new")), template, err == nil && strings.HasPrefix(template, "/")
}

func find(verb, template string) (forge.Route, bool) {
	all := forge.Routes()
	i := slices.IndexFunc(all, func(r forge.Route) bool { return r.Method == verb && r.Template == template })
	if i < 0 {
		return forge.Route{}, false
	}
	return all[i], true
}

// markdown returns the table of the guide.
func markdown(rows []row) []byte {
	var b bytes.Buffer
	b.WriteString("| service | method | endpoint | contract |\n|---|---|---|---|\n")
	last := ""
	for _, r := range rows {
		service := r.service
		if service == last {
			service = ""
		}
		last = r.service
		fmt.Fprintf(&b, "| %s | `%s` | `%s %s` | %s |\n", service, r.method, r.route.Method, r.route.Template, r.route.Section)
	}
	return b.Bytes()
}

// splice replaces the text between the markers with the table.
func splice(text, table []byte) ([]byte, error) {
	before, rest, found := bytes.Cut(text, []byte(begin))
	_, after, ended := bytes.Cut(rest, []byte(end))
	if !found || !ended {
		return nil, fmt.Errorf("%s lacks the markers %q and %q", guide, begin, end)
	}
	return slices.Concat(before, []byte(begin), table, []byte(end), after), nil
}
