package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/types"

	"github.com/getkin/kin-openapi/openapi3"
)

// givenType returns a Go type of forgegen.yaml: of the universe, of a package that generated code
// imports, or of a schema, by its name in the document or in Go, which is then generated.
func (b *builder) givenType(text string) (string, error) {
	if b.schemas[text] != "" {
		return b.entity(b.refTo(text), place{reads: true}), nil
	}
	parsed, err := parser.ParseExpr(text)
	if err != nil {
		return "", fmt.Errorf("%q is not a Go type, and not a schema of the document", text)
	}
	unknown := ""
	ast.Inspect(parsed, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if pkg, isName := n.X.(*ast.Ident); !isName || packages[pkg.Name] == "" {
				unknown = text
			}
			return false
		case *ast.Ident:
			if _, isType := types.Universe.Lookup(n.Name).(*types.TypeName); !isType && !b.generate(n.Name) {
				unknown = n.Name
			}
		}
		return true
	})
	if unknown != "" {
		return "", fmt.Errorf("%q is not a Go type: write one of the language, forge, time or json, or a schema of the document", unknown)
	}
	return text, nil
}

// replacement returns a Go type of forgegen.yaml for a schema or a field. A mistake is kept in err.
func (b *builder) replacement(of, text string) string {
	if b.replacing[of] {
		b.err = cmp.Or(b.err, fmt.Errorf("schemas: %s: its type leads back to it", of))
		return text
	}
	b.replacing[of] = true
	defer delete(b.replacing, of)
	typ, err := b.givenType(text)
	if err != nil {
		b.err = cmp.Or(b.err, fmt.Errorf("schemas: %s: %w", of, err))
	}
	return typ
}

// generate generates the schema with a Go name. It returns false if there is none.
func (b *builder) generate(name string) bool {
	ref := b.taken[name]
	if b.schemas[ref] == name {
		b.entity(b.refTo(ref), place{reads: true})
	}
	return b.structs[name] != nil
}

// refTo returns a reference to a schema of the document.
func (b *builder) refTo(schema string) *openapi3.SchemaRef {
	return &openapi3.SchemaRef{Ref: "#/components/schemas/" + schema, Value: b.document.spec.Components.Schemas[schema].Value}
}
