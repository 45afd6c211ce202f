package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

const extraType = "map[string]json.RawMessage"

// packageInfo has the facts that the generator needs about the package. Types are in source form.
type packageInfo struct {
	name    string
	types   map[string]ast.Expr
	methods map[string]map[string]bool // by type; only those that matter here
}

// field is a field of a response type.
type field struct {
	key  string // on the wire
	path string // from the receiver: v.Author
	typ  string
}

// load parses the package's files, without tests and the output of earlier runs.
func load(dir string) (*packageInfo, error) {
	p := &packageInfo{types: map[string]ast.Expr{}, methods: map[string]map[string]bool{}}
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") || slices.Contains([]string{decoders, marshalers}, filepath.Base(name)) {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		p.name = file.Name.Name
		for _, decl := range file.Decls {
			p.declare(decl)
		}
	}
	return p, nil
}

func (p *packageInfo) declare(decl ast.Decl) {
	switch d := decl.(type) {
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			if t, ok := spec.(*ast.TypeSpec); ok && t.TypeParams == nil {
				p.types[t.Name.Name] = t.Type
			}
		}
	case *ast.FuncDecl:
		if d.Recv == nil || !slices.Contains([]string{"decodeFrom", "decodeOther", "MarshalJSON", "UnmarshalJSON"}, d.Name.Name) {
			return
		}
		receiver := strings.TrimPrefix(source(d.Recv.List[0].Type), "*")
		if p.methods[receiver] == nil {
			p.methods[receiver] = map[string]bool{}
		}
		p.methods[receiver][d.Name.Name] = true
	}
}

// isDecoded reports whether the type has a decodeFrom method.
func (p *packageInfo) isDecoded(typ string) bool {
	return p.methods[typ]["decodeFrom"] || p.isResponse(typ)
}

// isResponse reports whether a decoder is generated for the type: it has an Extra, or embeds a type
// that has one.
func (p *packageInfo) isResponse(typ string) bool {
	return slices.ContainsFunc(p.fields(typ), func(f *ast.Field) bool {
		if len(f.Names) == 0 {
			return p.isResponse(source(f.Type))
		}
		return isExtra(f)
	})
}

func isExtra(f *ast.Field) bool {
	return len(f.Names) == 1 && f.Names[0].Name == "Extra" && source(f.Type) == extraType
}

func (p *packageInfo) fields(typ string) []*ast.Field {
	if t, ok := p.types[typ].(*ast.StructType); ok {
		return t.Fields.List
	}
	return nil
}

// collect appends the type's fields and those of the structs that it embeds.
func (p *packageInfo) collect(typ, path string, fields *[]field) error {
	for _, f := range p.fields(typ) {
		if len(f.Names) == 0 {
			embedded := source(f.Type)
			if !p.isResponse(embedded) || f.Tag != nil {
				return fmt.Errorf("%s embeds %s: only response types without a tag can be embedded", typ, embedded)
			}
			if err := p.collect(embedded, path+"."+embedded, fields); err != nil {
				return err
			}
		}
		for _, name := range f.Names {
			if err := p.add(f, path+"."+name.Name, fields); err != nil {
				return fmt.Errorf("%s.%s: %w", typ, name.Name, err)
			}
		}
	}
	return nil
}

// add appends one field.
func (p *packageInfo) add(f *ast.Field, path string, fields *[]field) error {
	key, err := jsonKey(f)
	switch {
	case err != nil:
		return err
	case key == "-":
		return nil
	case slices.ContainsFunc(*fields, func(other field) bool { return other.key == key }):
		return fmt.Errorf("two fields have the name %q", key)
	}
	typ := source(f.Type)
	if !p.readable(typ) {
		return p.unreadable(f.Type)
	}
	*fields = append(*fields, field{key: key, path: path, typ: typ})
	return nil
}

// unreadable returns the reason why a field of the type cannot be read without loss.
func (p *packageInfo) unreadable(t ast.Expr) error {
	lossy := ""
	ast.Inspect(t, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.StructType:
			lossy = "the struct"
		case *ast.Ident:
			if _, isStruct := p.types[n.Name].(*ast.StructType); isStruct {
				lossy = n.Name
			}
		}
		return true
	})
	if lossy != "" {
		return fmt.Errorf("%s needs a field Extra %s, and to be used plainly, as a pointer, or in slices or a map", lossy, extraType)
	}
	return fmt.Errorf("no function reads the type %s: give it a kind, or a method decodeFrom", source(t))
}

func jsonKey(f *ast.Field) (string, error) {
	if f.Tag == nil {
		return "", fmt.Errorf("the field has no json tag")
	}
	tag, err := strconv.Unquote(f.Tag.Value)
	if err != nil {
		return "", err
	}
	key, _, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
	if key == "" {
		return "", fmt.Errorf("the json tag has no name")
	}
	return key, nil
}

// underlying resolves the package's own type names to another type. It does not resolve types that
// have UnmarshalJSON.
func (p *packageInfo) underlying(typ string) string {
	for range len(p.types) {
		t, known := p.types[typ]
		if !known || p.methods[typ]["UnmarshalJSON"] {
			break
		}
		typ = source(t)
	}
	return typ
}

// source returns a type in source form.
func source(t ast.Expr) string {
	var out bytes.Buffer
	if err := format.Node(&out, token.NewFileSet(), t); err != nil {
		return ""
	}
	return out.String()
}
