package gosource

import (
	"go/ast"
	"go/token"
	"strconv"
	"strings"
)

// Method is a method of a service that requests an endpoint.
type Method struct {
	Service, Name  string // Issues, ListForGroup
	Verb, Template string // of its route: GET, /groups/:id/issues
	Plain          bool   // it has at most two statements: the request and its execution
}

// Methods returns the methods of the services of the package in dir that request an endpoint, in
// the order of the services in Client and of the methods in their files. A method requests the
// route of the literal in s.newGet("/route", ...) or a similar call. Waiters use the endpoints of
// other methods.
func Methods(dir string) ([]Method, error) {
	_, files, err := Parse(dir)
	if err != nil {
		return nil, err
	}
	var services []string
	found := map[string][]Method{}
	for _, file := range files {
		for _, decl := range file.Decls {
			switch d := decl.(type) {
			case *ast.GenDecl:
				for _, field := range clientFields(d) {
					services = append(services, field.Names[0].Name)
				}
			case *ast.FuncDecl:
				if m, ok := method(d); ok {
					found[m.Service] = append(found[m.Service], m)
				}
			}
		}
	}
	var methods []Method
	for _, service := range services {
		methods = append(methods, found[service]...)
	}
	return methods, nil
}

// clientFields returns the exported fields of type Client, which are the services.
func clientFields(d *ast.GenDecl) (services []*ast.Field) {
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
			if len(f.Names) == 1 && f.Names[0].IsExported() {
				services = append(services, f)
			}
		}
	}
	return services
}

// method returns the service and the route of a method that requests an endpoint.
func method(d *ast.FuncDecl) (m Method, ok bool) {
	if d.Recv == nil || !d.Name.IsExported() || strings.HasPrefix(d.Name.Name, "Wait") {
		return m, false
	}
	star, isPointer := d.Recv.List[0].Type.(*ast.StarExpr)
	if !isPointer {
		return m, false
	}
	receiver, isName := star.X.(*ast.Ident)
	if !isName {
		return m, false
	}
	m.Name, m.Plain = d.Name.Name, len(d.Body.List) <= 2
	if m.Service, ok = strings.CutSuffix(receiver.Name, "Service"); !ok {
		return m, false
	}
	ok = false
	ast.Inspect(d.Body, func(n ast.Node) bool {
		if verb, template, isRequest := request(n); isRequest && !ok {
			m.Verb, m.Template, ok = verb, template, true
		}
		return true
	})
	return m, ok
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
	verb, isRequest := strings.CutPrefix(selector.Sel.Name, "new")
	template, err := strconv.Unquote(literal.Value)
	return strings.ToUpper(verb), template, isRequest && err == nil && strings.HasPrefix(template, "/")
}
