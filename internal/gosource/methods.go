package gosource

import (
	"go/ast"
	"go/token"
	"strconv"
	"strings"
)

// Service is a service of the client, with its exported methods in the order of their files.
type Service struct {
	Name    string // of the field of Client: Issues
	Doc     string // its comment
	Methods []Method
}

// Method is a method of a service.
type Method struct {
	Service, Name  string   // Issues, ListForGroup
	Verb, Template string   // of the route that it requests: GET, /groups/:id/issues; or empty
	Plain          bool     // it has at most two statements: the request and its execution
	Types          []string // types of this package that it takes: ListIssuesOptions
	Deprecated     bool
}

// Methods returns the methods of all services that request an endpoint.
func Methods(dir string) (methods []Method, err error) {
	services, err := Services(dir)
	for _, s := range services {
		for _, m := range s.Methods {
			if m.Verb != "" {
				methods = append(methods, m)
			}
		}
	}
	return methods, err
}

// Services returns the services of the package in dir, in the order of the fields of Client. A
// method requests the route of the literal in s.newGet("/route", ...) or a similar call. Waiters
// use the endpoints of other methods.
func Services(dir string) (services []Service, err error) {
	_, files, err := Parse(dir)
	if err != nil {
		return nil, err
	}
	found := map[string][]Method{}
	for _, file := range files {
		for _, decl := range file.Decls {
			switch d := decl.(type) {
			case *ast.GenDecl:
				services = append(services, clientFields(d)...)
			case *ast.FuncDecl:
				if service := receiver(d); service != "" && d.Name.IsExported() {
					found[service] = append(found[service], method(service, d))
				}
			}
		}
	}
	for i := range services {
		services[i].Methods = found[services[i].Name]
	}
	return services, nil
}

// clientFields returns the exported fields of type Client, which are the services.
func clientFields(d *ast.GenDecl) (services []Service) {
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
				services = append(services, Service{Name: f.Names[0].Name, Doc: f.Doc.Text()})
			}
		}
	}
	return services
}

// receiver returns the service that a function is a method of; "" for any other function.
func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return ""
	}
	if star, isPointer := d.Recv.List[0].Type.(*ast.StarExpr); isPointer {
		if name, isName := star.X.(*ast.Ident); isName {
			if service, ok := strings.CutSuffix(name.Name, "Service"); ok {
				return service
			}
		}
	}
	return ""
}

func method(service string, d *ast.FuncDecl) Method {
	m := Method{Service: service, Name: d.Name.Name, Plain: len(d.Body.List) <= 2, Deprecated: strings.Contains(d.Doc.Text(), "\nDeprecated: ")}
	for _, param := range d.Type.Params.List {
		kind := param.Type
		if star, isPointer := kind.(*ast.StarExpr); isPointer {
			kind = star.X
		}
		if name, isName := kind.(*ast.Ident); isName && name.IsExported() && name.Name != "Ref" {
			m.Types = append(m.Types, name.Name)
		}
	}
	if strings.HasPrefix(m.Name, "Wait") {
		return m
	}
	ast.Inspect(d.Body, func(n ast.Node) bool {
		if verb, template, isRequest := request(n); isRequest && m.Verb == "" {
			m.Verb, m.Template = verb, template
		}
		return true
	})
	return m
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
